#include "radir/core/shell_text.h"

#include <gtest/gtest.h>

namespace radir {
namespace {

TEST(ShellText, WordsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(shell_word("a/b.csv"), "a/b.csv");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("-x"), "'./-x'");
}

TEST(ShellText, OptionsOfACommandStayAsTheyAre) {
  EXPECT_EQ(shell_command({"compress", "--data", "my digits", "--out", "-x"}),
            "radir compress --data 'my digits' --out './-x'");
}

}  // namespace
}  // namespace radir
