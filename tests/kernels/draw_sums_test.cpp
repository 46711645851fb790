#include "radir/kernels/draw_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/draw_sums_isa.h"
#include "kernels/each_isa.h"

namespace radir::kernels {
namespace {

/// Between -1 and 1, in no order.
std::vector<double> draws(std::int64_t count, double factor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(std::sin(factor * static_cast<double>(i * i + 3 * i + 1)));
  }
  return result;
}

// T_k(x) = cos(k arccos x).
double chebyshev(std::int64_t k, double x) {
  return std::cos(static_cast<double>(k) * std::acos(x));
}

TEST(DrawSums, RangeIsThatOfTheNumbers) {
  testing::for_each_isa([](Isa isa) {
    for (std::int64_t count : {1, 2, 3, 8, 13, 200}) {
      const auto x = draws(count, 7);
      const DrawRange range = draw_sums_table_of(isa).range(x.data(), count);
      const auto [least, most] = std::minmax_element(x.begin(), x.end());
      EXPECT_EQ(range.least, *least) << count;
      EXPECT_EQ(range.most, *most) << count;
      EXPECT_NEAR(
          range.mean,
          std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(count),
          1e-15);
    }
  });
}

TEST(DrawSums, RangeOfTheLargestNumbersIsFinite) {
  const double largest = std::numeric_limits<double>::max();
  const std::vector<double> x = {largest, -largest, largest / 2, largest,
                                 largest};
  testing::for_each_isa([&](Isa isa) {
    const DrawRange range = draw_sums_table_of(isa).range(x.data(), 5);
    EXPECT_EQ(range.least, -largest);
    EXPECT_EQ(range.most, largest);
    EXPECT_NEAR(range.mean / largest, 0.5, 1e-15);
  });
}

TEST(DrawSums, AreThoseOfTheCosines) {
  testing::for_each_isa([](Isa isa) {
    for (std::int64_t count : {1, 5, 64, 201}) {
      const auto x = draws(count, 5), y = draws(count, 3);
      for (std::int64_t orders = 1; orders <= kMostChebyshev; ++orders) {
        for (std::int64_t along_y :
             {std::int64_t{1}, std::int64_t{4}, kMostChebyshev}) {
          std::vector<double> sums(static_cast<std::size_t>(orders * along_y),
                                   -7);
          // (10 x + 3 - 3) / 10
          auto moved = x;
          for (double& value : moved) value = 10 * value + 3;
          draw_sums_table_of(isa).chebyshev(
              {moved.data(), 3, 0.1, orders},
              {along_y > 1 ? y.data() : nullptr, 0, 1, along_y}, count,
              sums.data());
          for (std::int64_t l = 0; l < along_y; ++l) {
            for (std::int64_t k = 0; k < orders; ++k) {
              double expected = 0;
              for (std::size_t i = 0; i < x.size(); ++i) {
                expected += chebyshev(l, y[i]) * chebyshev(k, x[i]);
              }
              EXPECT_NEAR(sums[static_cast<std::size_t>(l * orders + k)],
                          expected, 1e-11)
                  << count << " " << l << " " << k;
            }
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace radir::kernels
