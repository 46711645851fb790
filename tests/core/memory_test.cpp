#include "radir/core/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "support/expect_error.h"

namespace radir {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Memory, ProductsDoNotWrapAround) {
  EXPECT_EQ(bounded_product({}), 1);
  EXPECT_EQ(bounded_product({3, 5, 7}), 105);
  EXPECT_EQ(bounded_product({std::int64_t{1} << 62, 4}), kLargest);
  EXPECT_EQ(bounded_product({std::int64_t{1} << 62, 4, 3}), kLargest);
  EXPECT_EQ(bounded_product({kLargest, 1, 1}), kLargest);
  EXPECT_EQ(bounded_product({kLargest, kLargest, 0}), 0);
}

TEST(Memory, MoreThanIsFreeIsRefusedWithTheEstimate) {
  check_memory({1, 2, 3}, "a small array", "it is small");
  expect_error<MemoryError>(
      [] {
        check_memory({std::int64_t{1} << 50, 1024}, "the array", "use less");
      },
      "the array would take 1073741824.0 GiB of memory, but only ");
  // As many bytes as wrap around to none.
  expect_error<MemoryError>(
      [] {
        check_memory({std::int64_t{1} << 62, 4}, "the array", "use less");
      },
      "use less");
}

}  // namespace
}  // namespace radir
