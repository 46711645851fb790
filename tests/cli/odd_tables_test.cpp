#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "support/temporary_folder.h"

// What the program says about tables that cannot be used, or only in part.

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::small_table;
using ::radir::testing::TemporaryFolder;

class OddTables : public ::testing::Test {
 protected:
  std::string run() const { return "'" + (folder_ / "run") + "' "; }
  std::string quoted(const std::string& text) const {
    return "'" + folder_.write("t.csv", text) + "' ";
  }
  std::string train(const std::string& text,
                    const std::string& words = "") const {
    return "train " + quoted(text) +
           "--target y --method rdp --hidden 3 --steps 20 --no-holdout --out " +
           run() + words;
  }
  void expect_refused(const std::string& text, const std::string& part,
                      const std::string& words = "", int code = 4) const {
    expect_failure(train(text, words), code, part);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run")) << part;
  }

  TemporaryFolder folder_;
};

TEST_F(OddTables, AMissingTargetIsCalledSo) {
  expect_refused("a,b,y\n1,2,\n3,4,\n5,7,\n",
                 "t.csv: the target \"y\" has no value in any row");
  expect_refused("a,b,y\n1,,1\n3,,2\n5,7,\n",
                 "every row has a missing value (2 of 3 in column \"b\"); "
                 "exclude columns that are mostly empty",
                 "--missing drop");
  ASSERT_EQ(run_program(train(small_table())).exit_code, 0);
  expect_failure("evaluate " + run() + quoted("a,b,y\n1,2,\n3,4,\n"), 4,
                 "t.csv: no row can be scored: in all 2 the target \"y\" is "
                 "missing");
  expect_failure("evaluate " + run() + quoted("a,b\n1,2\n3,4\n"), 4,
                 "t.csv: the target \"y\" is missing, so predictions cannot be "
                 "compared with it; its columns are \"a\", \"b\"");
  EXPECT_EQ(run_program("predict " + run() + quoted("a,b\n1,2\n")).exit_code,
            0);
}

TEST_F(OddTables, ATableWithoutInputsIsCalledSo) {
  expect_refused("y\n1\n2\n3\n", "the target \"y\" is the only column");
  expect_refused(small_table(), "no column is left as an input; exclude fewer",
                 "--exclude a,b");
  expect_refused("a,b,y\n1,2,1\n1,2,2\n1,2,4\n",
                 "all columns except the target are constant");
}

TEST_F(OddTables, ATextAmongNumbersSaysWhatCanBeDone) {
  expect_refused("a,b,y\n", "say that there is no header (--header no)");
  std::string typed = small_table();
  typed += "1,1O,3\n";
  expect_refused(typed,
                 "column 2 \"b\" is numeric, but holds \"1O\"; correct it, "
                 "leave it empty if it is missing, or declare the column "
                 "categorical (--categorical b)");
  ASSERT_EQ(run_program(train(small_table())).exit_code, 0);
  // A model cannot read its columns in another way.
  const ProgramResult predicted =
      run_program("predict " + run() + quoted("a,b\n1,1O\n"));
  EXPECT_EQ(predicted.exit_code, 4);
  EXPECT_TRUE(contains(predicted.err,
                       "holds \"1O\"; correct it or leave it empty if it is "
                       "missing\n"))
      << predicted.err;
}

TEST_F(OddTables, NumbersThatAreTooLargeAreFoundInTheirTable) {
  expect_refused("a,b,y\n1e300,2,3\n-1e300,3,5\n1,5,7\n",
                 "t.csv: column \"a\" has numbers too large");
}

TEST_F(OddTables, LinesAboveTheTableAreFound) {
  expect_failure("train " + quoted("# made by a device\n" + small_table()) +
                     "--target last",
                 4,
                 "the rows before it have 1; give every row the same number of "
                 "cells (an empty cell is a missing value), and quote cells "
                 "that hold the separator; remove lines above the table");
}

TEST_F(OddTables, AClassInEachRowIsNoticed) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 30; ++i) {
    const std::string number = std::to_string(i * 7 % 30);
    text += number + "," + std::to_string(i % 4) + "," + number + " kg\n";
  }
  const ProgramResult trained = run_program(train(text));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.err,
                       "the target \"y\" has 30 classes in 30 rows, too few of "
                       "each to learn from; if it holds numbers, remove units"))
      << trained.err;
}

TEST_F(OddTables, AClassOfOneRowCanBeTuned) {
  // For some of these tables it is among those that candidates are compared on.
  for (int rare = 0; rare < 12; ++rare) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 12; ++i) {
      text += std::to_string(i * 7 % 12) + "," + std::to_string(i % 4) +
              (i == rare    ? ",rare\n"
               : i % 2 == 0 ? ",even\n"
                            : ",odd\n");
    }
    std::filesystem::remove_all(folder_ / "run");
    const ProgramResult tuned = run_program(train(text, "--tune"));
    EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  }
}

TEST_F(OddTables, FewRowsAreNotTuned) {
  const ProgramResult tuned =
      run_program(train("a,b,y\n1,2,3\n2,5,1\n3,4,9\n", "--tune"));
  EXPECT_EQ(tuned.exit_code, 2);
  EXPECT_TRUE(contains(tuned.err,
                       "tuning needs at least 5 rows, but there are 3; train "
                       "without --tune"))
      << tuned.err;
}

TEST_F(OddTables, RowsThatAreTooAlikeAreNotTuned) {
  int refused = 0;
  for (int other = 0; other < 10; ++other) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 5; ++i) {
      text += std::to_string(10 * other + i) + "," + std::to_string(i * i) +
              (i == 3 ? ",1\n" : ",0\n");
    }
    std::filesystem::remove_all(folder_ / "run");
    const ProgramResult tuned = run_program(train(text, "--tune"));
    if (tuned.exit_code == 0) continue;
    ++refused;
    EXPECT_EQ(tuned.exit_code, 2);
    EXPECT_TRUE(contains(tuned.err,
                         "tuning fits four fifths of the rows, and these are "
                         "not enough: "))
        << tuned.err;
    EXPECT_TRUE(contains(tuned.err, "train without --tune")) << tuned.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  }
  EXPECT_GT(refused, 0);  // where the only other value is set aside
}

TEST_F(OddTables, ANameOfTwoLinesTakesOneInTheSummary) {
  std::string text = "\"net\nweight\",b,y\n";
  for (int i = 0; i < 30; ++i) {
    text += std::to_string(i * 7 % 30) + "," + std::to_string(i % 4) + "," +
            std::to_string(i * 7 % 30 + i % 3) + "\n";
  }
  const ProgramResult trained = run_program(train(text));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.err, "\nnet weight  number\n")) << trained.err;
}

}  // namespace
}  // namespace radir
