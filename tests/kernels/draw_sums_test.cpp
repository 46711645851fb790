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

double normal_cdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }
double normal_density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
}
double mean_distance(double mean, double deviation) {
  const double z = mean / deviation;
  return mean * (2 * normal_cdf(z) - 1) + 2 * deviation * normal_density(z);
}

struct Normals {
  explicit Normals(std::int64_t count, double factor)
      : locations(draws(count, factor)), scales(locations), weights(locations) {
    for (double& location : locations) location *= 20;
    for (double& scale : scales) scale = std::exp(3 * scale);
    for (double& weight : weights) weight = 0.5 + weight * weight;
  }
  NormalColumns columns() const {
    return {locations.data(), scales.data(), weights.data()};
  }

  std::vector<double> locations, scales, weights;
};

TEST(DrawSums, OfStudentsAreThoseOfWallacesTransform) {
  testing::for_each_isa([](Isa isa) {
    for (std::int64_t count : {1, 3, 8, 21, 200}) {
      const Normals of(count, 5);
      for (double n : {2.5, 30.0, 4000.0}) {
        for (double at : {-1e300, -300.0, -3.0, 0.0, 0.4, 60.0, 1e300}) {
          double expected = 0;
          for (std::size_t i = 0; i < of.scales.size(); ++i) {
            const double t = (at - of.locations[i]) / of.scales[i];
            const double score =
                std::abs(t) > 1e150
                    ? std::copysign(40, t)
                    : std::copysign((8 * n + 1) / (8 * n + 3) *
                                        std::sqrt(n * std::log1p(t * t / n)),
                                    t);
            expected += of.weights[i] * normal_cdf(score);
          }
          const StudentSums sums =
              draw_sums_table_of(isa).students(of.columns(), n, count, at);
          EXPECT_NEAR(sums.probability, expected, 2e-14 * (expected + 1e-3))
              << count << " " << n << " " << at;
          EXPECT_GE(sums.density, 0);
        }
      }
      // Many degrees of freedom are normal distributions.
      const auto sums =
          draw_sums_table_of(isa).students(of.columns(), 1e12, count, 0.4);
      const auto normal =
          draw_sums_table_of(isa).normals(of.columns(), count, 0.4);
      EXPECT_NEAR(sums.probability, normal.probability,
                  1e-10 * normal.probability);
      EXPECT_NEAR(sums.density, normal.density, 1e-9 * normal.density);
    }
  });
}

TEST(DrawSums, OfNormalsAreThoseOfTheirFunctions) {
  testing::for_each_isa([](Isa isa) {
    for (std::int64_t count : {1, 3, 8, 21, 200}) {
      const Normals of(count, 5);
      for (double at : {-300.0, -25.0, -3.0, 0.0, 0.4, 7.0, 60.0, 1e30}) {
        NormalSums expected;
        for (std::size_t i = 0; i < of.scales.size(); ++i) {
          const double z = (at - of.locations[i]) / of.scales[i];
          expected.probability += of.weights[i] * normal_cdf(z);
          expected.density += of.weights[i] * normal_density(z) / of.scales[i];
          expected.distance +=
              of.weights[i] * mean_distance(at - of.locations[i], of.scales[i]);
        }
        const NormalSums sums =
            draw_sums_table_of(isa).normals(of.columns(), count, at);
        // The reference's own errors grow in the tails.
        EXPECT_NEAR(sums.probability, expected.probability,
                    1e-12 * expected.probability + 1e-300);
        EXPECT_NEAR(sums.density, expected.density,
                    1e-12 * expected.density + 1e-300);
        EXPECT_NEAR(sums.distance, expected.distance,
                    1e-13 * expected.distance);
      }
    }
  });
}

TEST(DrawSums, OfPairsOfNormalsAreThoseOfTheirDifferences) {
  testing::for_each_isa([](Isa isa) {
    for (std::int64_t count : {1, 3, 8, 21, 200}) {
      const Normals a(count, 5), b(count, 3);
      NormalPairSums expected;
      for (std::size_t i = 0; i < a.scales.size(); ++i) {
        const double weight = a.weights[i] * b.weights[i];
        expected.weights += weight;
        expected.distance +=
            weight * mean_distance(a.locations[i] - b.locations[i],
                                   std::hypot(a.scales[i], b.scales[i]));
      }
      const NormalPairSums sums =
          draw_sums_table_of(isa).normal_pairs(a.columns(), b.columns(), count);
      EXPECT_NEAR(sums.weights, expected.weights, 1e-13 * expected.weights);
      EXPECT_NEAR(sums.distance, expected.distance, 1e-13 * expected.distance);
    }
  });
}

TEST(DrawSums, OfNormalsAreNumbersFarAway) {
  const double largest = std::numeric_limits<double>::max();
  const double scale = 1e-300, one = 1;
  for (double location : {-largest, 0.0, largest}) {
    testing::for_each_isa([&](Isa isa) {
      const auto sums = [&](double at) {
        return draw_sums_table_of(isa).normals({&location, &scale, &one}, 1,
                                               at);
      };
      EXPECT_NEAR(sums(-largest).probability, location == -largest ? 0.5 : 0,
                  1e-15);
      EXPECT_NEAR(sums(largest).probability, location == largest ? 0.5 : 1,
                  1e-15);
      EXPECT_EQ(sums(location / 2 + 1).density, 0);
    });
  }
}

}  // namespace
}  // namespace radir::kernels
