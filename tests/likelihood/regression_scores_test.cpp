#include "radir/likelihood/regression_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

std::map<std::string, double> metrics_of(const RegressionScores& scores) {
  const auto list = scores.metrics();
  return {list.begin(), list.end()};
}

TEST(RegressionScores, AreMeansOverPredictions) {
  const PredictiveMixture normal({{1, 2}});
  RegressionScores scores;
  scores.add(score(normal, 1));
  scores.add(score(normal, 4));
  const auto metrics = metrics_of(scores);
  EXPECT_EQ(scores.count(), 2);
  EXPECT_NEAR(metrics.at("log_likelihood"),
              (normal.log_density(1) + normal.log_density(4)) / 2, 1e-15);
  EXPECT_NEAR(metrics.at("rmse"), std::sqrt(9.0 / 2), 1e-12);
  EXPECT_NEAR(metrics.at("mae"), 1.5, 1e-12);
  EXPECT_NEAR(metrics.at("median_absolute_error"), 1.5, 1e-12);
  EXPECT_EQ(metrics.count("interval_log_likelihood"), 0u);
  EXPECT_NEAR(metrics.at("crps"), (normal.crps(1) + normal.crps(4)) / 2, 1e-15);
  // 4 is 1.5 deviations off: its central interval has a probability of 87%.
  EXPECT_EQ(metrics.at("coverage_50"), 0.5);
  EXPECT_EQ(metrics.at("coverage_80"), 0.5);
  EXPECT_EQ(metrics.at("coverage_90"), 1);
  EXPECT_EQ(metrics.at("coverage_95"), 1);
  EXPECT_NEAR(metrics.at("width_95"), 4 * 1.959963984540054, 1e-6);
}

TEST(RegressionScores, AreCalibratedWhereTargetsAreQuantiles) {
  const PredictiveMixture p({{0, 1}, {2, 0.5}});
  RegressionScores scores, low;
  constexpr int kTargets = 200;
  for (int i = 0; i < kTargets; ++i) {
    const double target = p.quantile((i + 0.5) / kTargets);
    scores.add(score(p, target));
    low.add(score(p, target - 100));
  }
  EXPECT_NEAR(metrics_of(scores).at("calibration_error"), 0, 1e-12);
  EXPECT_NEAR(metrics_of(scores).at("coverage_90"), 0.9, 1e-12);
  EXPECT_NEAR(metrics_of(low).at("calibration_error"), 0.5, 1e-12);
}

/// A network that is sure of one value of a target given in steps of 1: its
/// density there grows without end, its probability does not.
TEST(RegressionScores, TheResolutionBoundsWhatOneRowCanGive) {
  RegressionScores scores;
  for (const double scale : {1e-30, 1.0}) {
    scores.add(score(PredictiveMixture({{3, scale}}), 3, {}, 1));
  }
  const auto metrics = metrics_of(scores);
  EXPECT_GT(metrics.at("log_likelihood"), 30);
  const double half = std::log(std::erf(0.5 / std::sqrt(2.0)));
  EXPECT_NEAR(metrics.at("interval_log_likelihood"), half / 2, 1e-9);
}

TEST(RegressionScores, NeedPredictions) {
  testing::expect_error<ArgumentError>([] { RegressionScores().metrics(); },
                                       "no predictions");
}

}  // namespace
}  // namespace radir::likelihood
