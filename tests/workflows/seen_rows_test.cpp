#include "radir/workflows/seen_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;

/// Rows of two inputs, the first `from`, `from` + 1, ...
data::EncodedRows numbered(std::int64_t from, std::int64_t count) {
  data::EncodedRows rows;
  rows.count = count;
  for (std::int64_t i = from; i < from + count; ++i) {
    rows.inputs.push_back(static_cast<float>(i));
    rows.inputs.push_back(0.5f);
  }
  return rows;
}

TEST(SeenRows, CountsRowsWithTheInputsOfTrainingRows) {
  const SeenRows rows(numbered(-100, 200), 2);
  SeenCount count;
  rows.count(numbered(0, 150), 2, count);
  EXPECT_EQ(count.checked, 150);
  EXPECT_EQ(count.seen, 100);
  EXPECT_EQ(count.share(), 100.0 / 150);
  rows.count(numbered(1000, 50), 2, count);  // another chunk
  EXPECT_EQ(count.checked, 200);
  EXPECT_EQ(count.seen, 100);
  data::EncodedRows zero = numbered(0, 1);
  zero.inputs[0] = -0.0f;
  SeenCount of_zero;
  rows.count(zero, 2, of_zero);
  EXPECT_EQ(of_zero.seen, 1);
}

TEST(SeenRows, OfALongTableASampleIsChecked) {
  const SeenRows rows(numbered(0, 100000), 2);
  SeenCount count;
  rows.count(numbered(50000, 100000), 2, count);
  EXPECT_NEAR(static_cast<double>(count.checked), 10000, 500);
  EXPECT_NEAR(count.share(), 0.5, 0.03);
}

TEST(SeenRows, NothingIsCheckedWithoutTrainingRows) {
  SeenCount count;
  SeenRows().count(numbered(0, 10), 2, count);
  EXPECT_EQ(count.checked, 0);
  EXPECT_TRUE(std::isnan(count.share()));
}

TEST(SeenRows, ComeBackFromJson) {
  EXPECT_EQ(SeenRows().to_json(), "{}");
  EXPECT_TRUE(SeenRows::from_json("rows", "{}").is_empty());
  for (const std::int64_t count : {3, 20000}) {
    const std::string text = SeenRows(numbered(0, count), 2).to_json();
    EXPECT_EQ(SeenRows::from_json("rows", text).to_json(), text);
  }
  for (const char* digits :
       {"", "12", "00000000000g", "000000000002000000000001",
        "000000000001000000000001"}) {
    expect_error<IoError>(
        [&] {
          SeenRows::from_json(
              "rows", std::string(R"({"complete":true,"input_hashes":")") +
                          digits + "\"}");
        },
        "12 hexadecimal digits in increasing order");
  }
}

}  // namespace
}  // namespace radir::workflows
