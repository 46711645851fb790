#include "radir/data/csv_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/temporary_folder.h"

namespace radir::data {
namespace {

TEST(CsvWriter, QuotesWhatNeedsIt) {
  std::string text;
  CsvWriter writer([&](std::string_view block) { text += block; });
  writer.cell("plain").cell("a,b").cell("say \"hi\"").cell("").end_row();
  writer.cell(0.1).cell(0.1f).cell(-3).cell(1e300).cell(NAN).end_row();
  writer.cell(" x").cell("two\nlines").end_row();
  EXPECT_EQ(text, "");
  writer.flush();
  EXPECT_EQ(text,
            "plain,\"a,b\",\"say \"\"hi\"\"\",\"\"\n"
            "0.1,0.1,-3,1e+300,\n"
            "\" x\",\"two\nlines\"\n");
}

TEST(CsvWriter, HandsOverLongTextInBlocks) {
  std::size_t blocks = 0;
  CsvWriter writer([&](std::string_view) { ++blocks; });
  for (int i = 0; i < 100'000; ++i) writer.cell(i).end_row();
  EXPECT_GT(blocks, 5u);
}

TEST(CsvWriter, WhatItWritesReadsBackTheSame) {
  const testing::TemporaryFolder folder;
  Column numbers("x, with comma", ColumnType::Numeric);
  Column texts("text", ColumnType::Categorical);
  const double values[] = {1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308,
                           123456789012345680.0};
  const char* const words[] = {"a;b", "\"", " pad ", "tab\there", "new\nline"};
  for (int i = 0; i < 5; ++i) {
    numbers.append_number(values[i]);
    texts.append_category(words[i]);
  }
  numbers.append_missing();
  texts.append_missing();
  write_csv(folder / "t.csv", Table("made", {numbers, texts}));

  const Table back = read_table(folder / "t.csv");
  ASSERT_EQ(back.rows(), 6);
  EXPECT_EQ(back.columns()[0].name(), "x, with comma");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(back.columns()[0].number(i), values[i]);
    EXPECT_EQ(std::signbit(back.columns()[0].number(i)),
              std::signbit(values[i]));
    EXPECT_EQ(back.columns()[1].categories().text(back.columns()[1].code(i)),
              words[i]);
  }
  EXPECT_TRUE(back.columns()[0].is_missing(5));
  EXPECT_TRUE(back.columns()[1].is_missing(5));
}

}  // namespace
}  // namespace radir::data
