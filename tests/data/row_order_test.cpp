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

/// As weights of equal rows do, which are no part of them.
TEST(RowOrder, NumbersDecideBetweenCopies) {
  const Table table = table_of(kLines);
  std::vector<std::int64_t> ties(kLines.size(), 0);
  ties[0] = 3;  // three copies: rows 0, 4 and 6
  ties[4] = 1;
  ties[6] = 2;
  const auto order = content_order(table, ties);
  const auto first = std::find(order.begin(), order.end(), 4);
  ASSERT_LE(first + 3, order.end());
  EXPECT_EQ(*(first + 1), 6);
  EXPECT_EQ(*(first + 2), 0);
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

/// Also where the table itself is shuffled, and where rows count several times.
TEST(RowOrder, RowNumbersAreFoundInAnyOrder) {
  std::string text = ",x,y\n";
  for (int k = 0; k < 20; ++k) {
    const int i = k * 7 % 20;
    text += std::to_string(i) + "," + std::to_string(i * i % 7) + "," +
            std::to_string(i % 5) + ".5\n";
  }
  TableOptions options;
  options.header = true;
  const Table table =
      read_table(files::memory_byte_source("made.csv", text), options);
  std::vector<std::int64_t> rows = content_order(table);
  rows.push_back(rows.back());
  const TableEncoder encoder =
      TableEncoder::fit(table, "y", MissingValues::Refuse, rows);
  ASSERT_EQ(encoder.inputs().size(), 1u);
  EXPECT_EQ(encoder.inputs()[0].name, "x");
}

}  // namespace
}  // namespace radir::data
