#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/block_random.h"
#include "radir/kernels/random.h"

namespace radir::kernels {
namespace {

/// Not a multiple of anything.
constexpr int kCount = 1000 + 13;
const RandomStream kStream = {0x123456789abcdefu, 7, 123456789};

template <typename T>
class CudaRandom : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaRandom, Types);

template <typename T, typename Write>
std::vector<T> written(const Write& write) {
  std::vector<T> out(kCount, T(-99));
  for (int block = 0; block < exact::block_count<T>(kCount); ++block) {
    write(block, out.data());
  }
  return out;
}

TYPED_TEST(CudaRandom, NormalsAreTheBitsOfTheCpu) {
  std::vector<TypeParam> expected(kCount);
  fill_normal(kStream, 0, kCount, expected.data());
  const auto found = written<TypeParam>([](int block, TypeParam* out) {
    exact::write_normals(kStream, block, kCount, out);
  });
  EXPECT_EQ(found, expected);
}

TYPED_TEST(CudaRandom, ExponentialsAreTheBitsOfTheCpu) {
  std::vector<TypeParam> expected(kCount);
  fill_exponential(kStream, 0, kCount, expected.data());
  const auto found = written<TypeParam>([](int block, TypeParam* out) {
    exact::write_exponentials(kStream, block, kCount, out);
  });
  EXPECT_EQ(found, expected);
}

TEST(CudaRandom, UniformsAreTheBitsOfTheCpu) {
  std::vector<double> expected(kCount);
  fill_uniform(kStream, 0, kCount, expected.data());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(exact::uniform_element(kStream, static_cast<std::uint32_t>(i)),
              expected[static_cast<std::size_t>(i)])
        << i;
  }
}

}  // namespace
}  // namespace radir::kernels
