#include "radir/data/row_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "radir/data/table_encoder.h"
#include "radir/files/byte_source.h"
#include "support/expect_error.h"

namespace radir::data {
namespace {

using ::radir::testing::expect_error;
using Lines = std::vector<std::string>;

const Lines kLines = {"1.5,red,3\n", "-2,blue,4\n", "0,,5\n",
                      ",red,6\n",    "1.5,red,3\n", "7,green,8\n",
                      "1.5,red,3\n", "9,blue,1\n",  "-2,green,0.5\n"};

Table table_of(const Lines& lines) {
  std::string text = "size,kind,price\n";
  for (const std::string& line : lines) text += line;
  return read_table(files::memory_byte_source("made.csv", text));
}

/// The lines of a table in the order of their contents.
Lines ordered(const Lines& lines) {
  Lines result;
  for (const std::int64_t row : content_order(table_of(lines))) {
    result.push_back(lines[static_cast<std::size_t>(row)]);
  }
  return result;
}

TEST(RowOrder, FollowsFromWhatTheRowsSay) {
  const Lines expected = ordered(kLines);
  Lines sorted = expected, lines = kLines;
  std::sort(sorted.begin(), sorted.end());
  std::sort(lines.begin(), lines.end());
  ASSERT_EQ(sorted, lines);  // each row once
  EXPECT_EQ(ordered(lines), expected);
  EXPECT_EQ(ordered({kLines.rbegin(), kLines.rend()}), expected);
  EXPECT_NE(expected, lines);
}

TEST(RowOrder, CopiesComeTogether) {
  const Lines lines = ordered(kLines);
  const auto first = std::find(lines.begin(), lines.end(), kLines[0]);
  ASSERT_LE(first + 3, lines.end());
  EXPECT_EQ(std::count(first, first + 3, kLines[0]), 3);
}

TEST(RowOrder, AnEncoderLearnsTheSameFromAnyOrder) {
  const auto learnt = [](const Lines& lines) {
    const Table table = table_of(lines);
    const auto order = content_order(table);
    const TableEncoder encoder =
        TableEncoder::fit(table, "price", MissingValues::Indicator, order);
    return std::pair(encoder.to_json(),
                     encoder.encode(table, true, order).inputs);
  };
  EXPECT_EQ(learnt(kLines), learnt({kLines.rbegin(), kLines.rend()}));
}

/// Messages are about the table as it stands.
TEST(RowOrder, TheFirstRowOfTheTableIsNamedInAnyOrder) {
  const Table table = table_of(kLines);
  std::vector<std::int64_t> rows(kLines.size());
  std::iota(rows.rbegin(), rows.rend(), 0);
  expect_error<IoError>(
      [&] { TableEncoder::fit(table, "price", MissingValues::Refuse, rows); },
      "made.csv: row 3, column \"kind\": the value is missing");
}

/// So is the judgement that a column numbers the rows.
TEST(RowOrder, RowNumbersAreFoundInAnyOrder) {
  std::string text = ",x,y\n";
  for (int i = 0; i < 20; ++i) {
    text += std::to_string(i) + "," + std::to_string(i * i % 7) + "," +
            std::to_string(i % 5) + ".5\n";
  }
  TableOptions options;
  options.header = true;
  const Table table =
      read_table(files::memory_byte_source("made.csv", text), options);
  const TableEncoder encoder = TableEncoder::fit(
      table, "y", MissingValues::Refuse, content_order(table));
  ASSERT_EQ(encoder.inputs().size(), 1u);
  EXPECT_EQ(encoder.inputs()[0].name, "x");
}

}  // namespace
}  // namespace radir::data
