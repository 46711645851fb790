#include "radir/likelihood/stacking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;
using Densities = std::vector<std::vector<double>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The objective that the weights maximise.
double objective(const Densities& densities, const std::vector<double>& w) {
  double sum = 0;
  for (std::size_t i = 0; i < densities[0].size(); ++i) {
    double mixture = 0;
    for (std::size_t k = 0; k < w.size(); ++k) {
      mixture += w[k] * std::exp(densities[k][i]);
    }
    sum += std::log(mixture);
  }
  for (const double weight : w) sum += std::log(weight);
  return sum;
}

TEST(StackingWeights, RowsThatOneComponentExplainsAreItsShare) {
  // Three rows that only the first explains, one that only the second does:
  // with a row of their own each, 4 and 2 of 6.
  const Densities densities = {{0, 0, 0, -kInfinity},
                               {-kInfinity, -kInfinity, -kInfinity, 0}};
  const auto weights = stacking_weights(densities);
  EXPECT_NEAR(weights[0], 4.0 / 6, 1e-6);
  EXPECT_NEAR(weights[1], 2.0 / 6, 1e-6);
}

TEST(StackingWeights, AreEqualWhereNothingTellsTheComponentsApart) {
  for (const Densities& densities :
       {Densities(3), Densities(3, {-1, 2, -800})}) {
    for (const double weight : stacking_weights(densities)) {
      EXPECT_NEAR(weight, 1.0 / 3, 1e-12);
    }
  }
}

TEST(StackingWeights, NoOtherWeightsAreBetter) {
  Densities densities(3);
  for (int i = 0; i < 50; ++i) {
    densities[0].push_back(-1 + std::sin(i));
    densities[1].push_back(-1.2 + std::cos(2 * i));
    densities[2].push_back(-2 + std::sin(3 * i));
  }
  const auto best = stacking_weights(densities);
  EXPECT_NEAR(best[0] + best[1] + best[2], 1, 1e-12);
  const double reached = objective(densities, best);
  for (double a = 0.01; a < 1; a += 0.01) {
    for (double b = 0.01; a + b < 0.995; b += 0.01) {
      // To the accuracy that the header gives, for 53 rows.
      EXPECT_LE(objective(densities, {a, b, 1 - a - b}), reached + 53e-8);
    }
  }
}

TEST(StackingWeights, DoNotDependOnTheUnitsOfARow) {
  const Densities densities = {{-1, -2, -0.5}, {-2, -1, -0.7}};
  const Densities shifted = {{-1 + 700, -2 - 800, -0.5},
                             {-2 + 700, -1 - 800, -0.7}};
  const auto a = stacking_weights(densities), b = stacking_weights(shifted);
  EXPECT_NEAR(a[0], b[0], 1e-9);
}

TEST(StackingWeights, RefuseWhatIsNoDensity) {
  expect_error<ArgumentError>([] { stacking_weights({}); },
                              "at least one component");
  expect_error<ArgumentError>(
      [] {
        stacking_weights({{1}, {1, 2}});
      },
      "one component has 1 rows, another 2");
  expect_error<ArgumentError>(
      [] {
        stacking_weights({{0, NAN}});
      },
      "log density of row 2 must be a number");
  expect_error<ArgumentError>([] { stacking_weights({{kInfinity}}); },
                              "log density of row 1 must be a number");
  expect_error<ArgumentError>(
      [] {
        stacking_weights({{-kInfinity}, {-kInfinity}});
      },
      "row 1 is impossible under every component");
}

}  // namespace
}  // namespace radir::likelihood
