#include "radir/likelihood/target_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/table.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::Table;

const TargetTransform& logarithm() {
  static const TargetTransform transform =
      TargetTransform::logarithm(0.25, 120);
  return transform;
}

TEST(TargetTransform, NoneChangesNothing) {
  const TargetTransform none;
  EXPECT_TRUE(none.is_none());
  EXPECT_EQ(none.apply(-3.5), -3.5);
  EXPECT_EQ(none.invert(1e300), 1e300);
  EXPECT_EQ(none.log_slope(7), 0);
  EXPECT_EQ(none.moments(2, 3).mean, 2);
  EXPECT_EQ(none.moments(2, 3).variance, 9);
}

TEST(TargetTransform, InvertsItselfAndKnowsItsSlope) {
  const TargetTransform& g = logarithm();
  EXPECT_DOUBLE_EQ(g.apply(0.75), std::log(4));
  double before = -std::numeric_limits<double>::infinity();
  for (double y :
       {-50.0, -1e-9, 0.0, 1e-9, 0.1, 3.0, 119.0, 120.0, 121.0, 5000.0}) {
    const double z = g.apply(y);
    EXPECT_GT(z, before) << y;
    before = z;
    EXPECT_NEAR(g.invert(z), y, 1e-13 * std::abs(y)) << y;
    if (std::abs(y) < 1e-6) continue;  // a bend
    const double step = 1e-4 * std::abs(y);
    if (y - step < 120 && y + step > 120) continue;
    const double slope = (g.apply(y + step) - g.apply(y - step)) / (2 * step);
    EXPECT_NEAR(g.log_slope(y), std::log(slope), 1e-7) << y;
  }
  // No jump of the slope at the bends.
  EXPECT_NEAR(g.log_slope(-1e-9), g.log_slope(1e-9), 1e-8);
  EXPECT_NEAR(g.log_slope(119.9999999), g.log_slope(120.0000001), 1e-8);
}

TEST(TargetTransform, MomentsMatchTheTable) {
  const Table table("target_transform");
  ASSERT_GT(table.size(), 50u);
  double worst_mean = 0, worst_variance = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const auto g = TargetTransform::logarithm(table.number(i, "offset"),
                                              table.number(i, "end"));
    const auto found =
        g.moments(table.number(i, "location"), table.number(i, "deviation"));
    const double variance = table.number(i, "variance");
    const double mean_error =
        std::abs(found.mean - table.number(i, "mean")) / std::sqrt(variance);
    const double variance_error = std::abs(found.variance / variance - 1);
    EXPECT_LT(mean_error, 1e-8);
    EXPECT_LT(variance_error, 1e-7);
    worst_mean = std::max(worst_mean, mean_error);
    worst_variance = std::max(worst_variance, variance_error);
  }
  std::printf("largest errors: mean %.2g deviations, variance %.2g of itself\n",
              worst_mean, worst_variance);
}

TEST(TargetTransform, MomentsMeetWhereTheMethodChanges) {
  // A line takes over below this deviation.
  const auto below = logarithm().moments(1, 2.99e-4);
  const auto above = logarithm().moments(1, 3.01e-4);
  EXPECT_NEAR(std::sqrt(above.variance / below.variance), 3.01 / 2.99, 1e-6);
  EXPECT_NEAR(above.mean, below.mean, 1e-9);
}

TEST(TargetTransform, MomentsAreFiniteForAnyFiniteInput) {
  for (double location : {-1e6, -40.0, 0.0, 40.0, 1e6}) {
    for (double deviation : {1e-12, 1.0, 30.0, 1e6}) {
      const auto found = logarithm().moments(location, deviation);
      EXPECT_TRUE(std::isfinite(found.mean)) << location << " " << deviation;
      EXPECT_TRUE(std::isfinite(found.variance)) << location;
      EXPECT_GE(found.variance, 0);
    }
  }
}

TEST(TargetTransform, RefusesWhatIsNoLogarithm) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_error<ArgumentError>([] { TargetTransform::logarithm(0, 1); },
                              "above 0, but are 0 and 1");
  expect_error<ArgumentError>([] { TargetTransform::logarithm(1, -1); },
                              "above 0");
  expect_error<ArgumentError>([&] { TargetTransform::logarithm(1, infinity); },
                              "finite");
  expect_error<ArgumentError>([] { TargetTransform::logarithm(1e-300, 1e300); },
                              "finite");
}

}  // namespace
}  // namespace radir::likelihood
