#include "radir/workflows/row_weights.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/table_search.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using Numbers = std::vector<std::int64_t>;

data::Table table_of(const std::string& text) {
  data::TableOptions options;
  options.header = true;
  return data::read_table(files::memory_byte_source("made.csv", text), options);
}

Numbers rows_of(std::size_t count) {
  Numbers rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

TEST(RowWeights, AColumnLeavesTheTableAndCounts) {
  data::Table table = table_of("x,w,y\n1,2,0.5\n2,0,1.5\n3,1,2.5\n");
  const Numbers weights = take_row_weights(table, "w");
  EXPECT_EQ(weights, (Numbers{2, 0, 1}));
  EXPECT_EQ(table.column_names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(repeated_rows({2, 1, 0}, weights), (Numbers{2, 0, 0}));
}

TEST(RowWeights, OthersAreRefusedWithTheirRow) {
  const auto expect_refused = [](const std::string& column,
                                 const std::string& part) {
    data::Table table = table_of("x,w\n" + column);
    expect_error<ArgumentError>([&] { take_row_weights(table, "w"); }, part);
  };
  expect_refused("1,1\n2,-1\n3,1\n",
                 "made.csv: row 2: the weight \"-1\" in the column \"w\" is "
                 "not a whole number from 0 to 1000000; weights say how often "
                 "a row counts");
  expect_refused("1,1\n2,1\n3,0.5\n", "row 3: the weight \"0.5\"");
  expect_refused("1,1\n2,1e9\n3,1\n", "row 2: the weight \"1000000000");
  expect_refused("1,1\n2,\n3,1\n",
                 "row 2: the weight in the column \"w\" is missing");
  expect_refused("1,3\n2,many\n3,few\n", "row 2: the weight \"many\"");
  expect_refused("1,0\n2,0\n3,0\n",
                 "all weights in the column \"w\" are 0; there is no row");
  data::Table table = table_of("x,w\n1,1\n2,1\n");
  expect_error<ArgumentError>([&] { take_row_weights(table, "v"); },
                              "the column \"v\" is left out");
  expect_error<ArgumentError>(
      [] { repeated_rows(rows_of(200), Numbers(200, 1000000)); },
      "come to 200000000 rows");
}

/// Four rows of a, two of b and one of c.
data::Table classes() {
  return table_of("x,k\n1,a\n2,a\n3,b\n4,c\n5,a\n6,b\n7,a\n");
}

TEST(RowWeights, BalancedClassesCountAboutTheSame) {
  const data::Table table = classes();
  EXPECT_EQ(times_class_weights(table, "k", "balanced", {}),
            (Numbers{1, 1, 2, 4, 1, 2, 1}));
  // Rows count with their own weights: 2 of a, 3 of b, 1 of c.
  EXPECT_EQ(times_class_weights(table, "k", "balanced", {1, 0, 2, 1, 1, 1, 0}),
            (Numbers{2, 0, 2, 3, 2, 1, 0}));
}

TEST(RowWeights, ClassesCountAsOftenAsIsSaid) {
  const data::Table table = classes();
  EXPECT_EQ(times_class_weights(table, "k", "c=5,b=2", {}),
            (Numbers{1, 1, 2, 5, 1, 2, 1}));
  const auto expect_refused = [&](const std::string& text, const char* part) {
    expect_error<ArgumentError>(
        [&] { times_class_weights(table, "k", text, {}); }, part);
  };
  expect_refused("d=2", "the target \"k\" has no class \"d\"; those known are");
  expect_refused("a=0", "the weight \"0\" of the class \"a\" is not a whole");
  expect_refused("a=1.5", "the weight \"1.5\" of the class \"a\"");
  expect_refused("even", "class-weights");
  expect_error<ArgumentError>(
      [&] { times_class_weights(table, "x", "balanced", {}); },
      "the target \"x\" is a number and has no classes");
}

/// A copy on the other side would tell the answer.
TEST(RowWeights, CopiesOfARowAreHeldOutTogether) {
  Numbers weights(40, 1);
  for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = 4;
  const Numbers rows = repeated_rows(rows_of(40), weights);
  for (const bool tuned : {false, true}) {
    const auto parts = holdout_parts(rows, TableSettings(), tuned);
    ASSERT_FALSE(parts.empty());
    for (const HoldoutPart& part : parts) {
      EXPECT_EQ(part.fitted.size() + part.held_out.size(), rows.size());
      std::vector<bool> held(weights.size(), false);
      for (const auto i : part.held_out) {
        held[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])] =
            true;
      }
      for (const auto i : part.fitted) {
        EXPECT_FALSE(
            held[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
      }
    }
  }
  // Rows that count once are divided as ever.
  const Numbers once = repeated_rows(rows_of(40), Numbers(40, 1));
  const auto parts = holdout_parts(once, TableSettings(), true);
  const auto known = holdout_parts(std::int64_t{40}, TableSettings(), true);
  EXPECT_EQ(parts[0].held_out, known[0].held_out);
}

}  // namespace
}  // namespace radir::workflows
