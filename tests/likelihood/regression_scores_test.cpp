#include "radir/likelihood/regression_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_EQ(metrics.count("interval_coverage_50"), 0u);
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

/// A number in steps of 1 that is predicted with its own distribution: rounded
/// draws of the mixture, as often as they are likely.
TEST(RegressionScores, CoverageAtTheResolutionOfCalibratedPredictionsIsExact) {
  const PredictiveMixture p({{0.2, 0.3}, {0.9, 0.6}, {3, 0.2}});
  for (const int level : {50, 80, 90, 95}) {
    const double tail = (1 - level / 100.0) / 2;
    double share = 0;
    double plain = 0;
    for (int target = -6; target <= 9; ++target) {
      const double likely = p.cdf(target + 0.5) - p.cdf(target - 0.5);
      const RegressionScore one = score(p, target, {}, 1);
      EXPECT_NEAR(one.interval_probability, likely, 1e-12);
      share += likely * one.share_inside(tail, 1 - tail);
      plain += likely * (one.is_inside(tail, 1 - tail) ? 1 : 0);
    }
    EXPECT_NEAR(share, level / 100.0, 1e-12) << level;
    EXPECT_GT(std::abs(plain - level / 100.0), 0.01) << level;
  }
}

/// The interval of 3 has the probabilities from 0.16 to 0.84, that of 4 those
/// from there to 0.9987.
TEST(RegressionScores, CoverageAtTheResolutionIsAShareOfEachInterval) {
  const PredictiveMixture normal({{3, 0.5}});
  RegressionScores scores;
  scores.add(score(normal, 3, {}, 1));
  scores.add(score(normal, 4, {}, 1));
  const auto metrics = metrics_of(scores);
  const double first = std::erf(1 / std::sqrt(2.0));
  const double second = normal.cdf(4.5) - normal.cdf(3.5);
  EXPECT_NEAR(metrics.at("interval_coverage_50"), 0.5 / first / 2, 1e-9);
  EXPECT_NEAR(metrics.at("interval_coverage_80"),
              (1 + (0.9 - normal.cdf(3.5)) / second) / 2, 1e-9);
  EXPECT_EQ(metrics.at("coverage_50"), 0.5);
  EXPECT_EQ(metrics.at("coverage_80"), 0.5);
}

TEST(RegressionScores, CoverageAtAFineResolutionIsThatOfValues) {
  const PredictiveMixture p({{0, 1}, {2, 0.5}});
  for (const double resolution : {1e-3, 1e-6, 1e-12, 1e-15}) {
    RegressionScores scores;
    for (int i = 0; i < 500; ++i) {
      scores.add(score(p, p.quantile((i + 0.3) / 500), {}, resolution));
    }
    const auto metrics = metrics_of(scores);
    for (const char* level : {"50", "80", "90", "95"}) {
      EXPECT_NEAR(metrics.at(std::string("interval_coverage_") + level),
                  metrics.at(std::string("coverage_") + level), resolution)
          << level << ", " << resolution;
    }
  }
}

TEST(RegressionScores, AnIntervalWithoutProbabilityIsInsideOrOutside) {
  const PredictiveMixture normal({{0, 1}});
  for (const double target : {-60.0, -9.0, 9.0, 60.0}) {
    const RegressionScore far = score(normal, target, {}, 1e-3);
    EXPECT_EQ(far.share_inside(0.025, 0.975), 0) << target;
    EXPECT_EQ(far.share_inside(0, 1), 1) << target;
  }
}

TEST(RegressionScores, CoverageAtTheResolutionIsOfCorrectedIntervals) {
  const QuantileCorrection correction({0.1, 0.3, 0.5, 0.7, 0.9});
  const PredictiveMixture p({{0, 1}});
  const double lower = correction(0.25);
  const double upper = correction(0.75);
  ASSERT_LT(lower, 0.25);
  RegressionScores scores(correction);
  double share = 0;
  for (const double target : {-1.0, 0.0, 1.0}) {
    const RegressionScore one = score(p, target, correction, 1);
    scores.add(one);
    const double from = p.cdf(target - 0.5);
    const double to = p.cdf(target + 0.5);
    share += std::max(0.0, std::min(to, upper) - std::max(from, lower)) /
             (to - from) / 3;
  }
  EXPECT_NEAR(metrics_of(scores).at("interval_coverage_50"), share, 1e-9);
  EXPECT_GT(std::abs(share - metrics_of(scores).at("coverage_50")), 0.01);
}

/// Draws whose locations reach `spread` scales from their middle.
DrawColumns draw_columns(double spread, double of_scale) {
  DrawColumns columns;
  columns.degrees_of_freedom = 1e4;
  for (int i = 0; i < 200; ++i) {
    const double t = std::sin(7.0 * i * i + i);
    columns.locations.push_back(2 * spread * t * t * t);
    columns.log_scales.push_back(std::log(2.0) +
                                 of_scale * std::sin(3.0 * i * i + 2 * i));
  }
  return columns;
}

// The exact score is of two mixtures in one, with weights that the columns
// cannot hold.
TEST(RegressionScorer, ScoresDrawsAsTheirMixture) {
  const QuantileCorrection correction({0.0001, 0.2, 0.4, 0.7, 0.95});
  for (double spread : {0.0, 0.001, 0.3, 1.0, 5.0}) {
    for (double of_scale : {0.0, 0.05}) {
      const DrawColumns draws = draw_columns(spread, of_scale);
      const PredictiveMixture whole = draws.mixture();
      std::vector<MixtureComponent> parts = whole.components();
      parts.push_back(parts.front());
      parts.front().weight = parts.back().weight = 0.5;
      const PredictiveMixture split(parts);
      const RegressionScorer plain({}, 0.5), corrected(correction);
      for (double target : {-30.0, -4.9, -3.0, 0.0, 1.0, 4.5, 6.0}) {
        SCOPED_TRACE(spread);
        const RegressionScore few = plain(draws, target);
        const RegressionScore all = plain(split, target);
        EXPECT_NEAR(few.residual, all.residual, 1e-12);
        EXPECT_NEAR(few.log_density, all.log_density, 1e-6);
        EXPECT_NEAR(*few.log_interval_density, *all.log_interval_density, 1e-6);
        EXPECT_NEAR(few.probability, all.probability, 1e-7);
        EXPECT_NEAR(few.interval_probability, all.interval_probability, 1e-6);
        EXPECT_NEAR(few.probability_below, whole.cdf(target - 0.25), 2e-5);
        EXPECT_NEAR(few.crps, whole.crps(target), spread < 1 ? 1e-3 : 0.05);
        const RegressionScore moved = corrected(draws, target);
        const RegressionScore moved_all = corrected(split, target);
        for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
          EXPECT_NEAR(few.widths[l], all.widths[l], 1e-6);
          EXPECT_NEAR(moved.widths[l], moved_all.widths[l], 1e-6);
        }
      }
    }
  }
}

TEST(RegressionScorer, ScoresScaleWithTheNumbers) {
  const RegressionScorer scorer({}, 0.5), large({}, 500);
  const RegressionScore score = scorer(PredictiveMixture({{1, 2}}), 4);
  const RegressionScore other = large(PredictiveMixture({{1000, 2000}}), 4000);
  const RegressionScore scaled = score.scaled(1000);
  EXPECT_NEAR(scaled.log_density, other.log_density, 1e-12);
  EXPECT_NEAR(*scaled.log_interval_density, *other.log_interval_density, 1e-12);
  EXPECT_NEAR(scaled.residual, other.residual, 1e-9);
  EXPECT_NEAR(scaled.crps, other.crps, 1e-9);
  EXPECT_EQ(scaled.probability, other.probability);
  EXPECT_NEAR(scaled.interval_probability, other.interval_probability, 1e-12);
  EXPECT_NEAR(scaled.probability_below, other.probability_below, 1e-12);
  EXPECT_NEAR(scaled.widths[0], other.widths[0], 1e-5);
}

TEST(RegressionScores, NeedPredictions) {
  testing::expect_error<ArgumentError>([] { RegressionScores().metrics(); },
                                       "no predictions");
}

}  // namespace
}  // namespace radir::likelihood
