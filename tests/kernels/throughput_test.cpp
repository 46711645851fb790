#include "radir/kernels/throughput.h"

#include <gtest/gtest.h>

#include <vector>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::kernels {
namespace {

TEST(Throughput, CountsTheOperations) {
  const double once = run_multiply_adds(1);
  EXPECT_GE(once, 2 * 4 * 12);  // the narrowest vectors have four lanes
  EXPECT_EQ(run_multiply_adds(1000), 1000 * once);
}

TEST(Throughput, MultipliesMatrices) {
  constexpr std::int64_t kSize = 48;
  std::vector<float> a(kSize * kSize);
  std::vector<float> b(kSize * kSize);
  std::vector<float> c(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 13);
    b[i] = static_cast<float>(i % 7) - 3;
  }
  multiply_matrices(kSize, a.data(), b.data(), c.data());
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      float sum = 0;  // integers: exact in any order
      for (std::size_t k = 0; k < kSize; ++k) {
        sum += a[i * kSize + k] * b[k * kSize + j];
      }
      ASSERT_EQ(c[i * kSize + j], sum) << i << ", " << j;
    }
  }
}

TEST(Throughput, RefusesSizesThatAreNoWholeVectors) {
  for (std::int64_t size : {-16, 0, 20}) {
    testing::expect_error<ArgumentError>(
        [&] { multiply_matrices(size, nullptr, nullptr, nullptr); },
        "must be a positive multiple of 16");
  }
}

}  // namespace
}  // namespace radir::kernels
