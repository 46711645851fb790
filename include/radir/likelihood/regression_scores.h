#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/likelihood/draw_columns.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/quantile_correction.h"

namespace radir::likelihood {

/// Central intervals that are scored, in per cent of the probability.
constexpr std::array<int, 4> kIntervalLevels = {50, 80, 90, 95};

/// What one prediction is worth, given the number that came true.
struct RegressionScore {
  double log_density = 0;
  /// PredictiveMixture::log_interval_density of a number with a resolution.
  std::optional<double> log_interval_density;
  double residual = 0;  ///< the number less the predictive mean
  double crps = 0;
  double probability = 0;  ///< predicted for at most the number
  /// Predicted for the interval that the number stands for at its resolution,
  /// and for less than that; with log_interval_density.
  double interval_probability = 0;
  double probability_below = 0;
  std::array<double, kIntervalLevels.size()> widths = {};  ///< of intervals

  /// Whether the number lies between the quantiles of two probabilities.
  bool is_inside(double lower, double upper) const;
  /// The share of interval_probability between these quantiles: what
  /// is_inside() is on average where the number is anywhere in its interval. A
  /// quantile inside such an interval cuts it, so only the share is
  /// upper - lower on average for true predictions of a number in steps. Where
  /// the interval has no probability to speak of, is_inside().
  double share_inside(double lower, double upper) const;

  /// Whether means over it are numbers.
  bool is_finite() const;
  /// That of the number and the prediction times `factor` > 0.
  RegressionScore scaled(double factor) const;
};

/// Scores many predictions: what does not depend on them is computed once.
class RegressionScorer {
 public:
  /// Widths are those of the corrected intervals; all else is of the prediction
  /// as it is. `resolution` is the step in which targets are given; 0: unknown.
  explicit RegressionScorer(const QuantileCorrection& correction = {},
                            double resolution = 0);
  ~RegressionScorer();
  RegressionScorer(RegressionScorer&&) noexcept;
  RegressionScorer& operator=(RegressionScorer&&) noexcept;

  RegressionScore operator()(const PredictiveMixture& prediction,
                             double target) const;
  /// As that of draws.mixture(), to 1e-6 (CRPS: 1e-4 of the deviation), but
  /// much faster where the draws are close to each other.
  RegressionScore operator()(const DrawColumns& draws, double target) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

/// RegressionScorer(correction, resolution)(prediction, target).
RegressionScore score(const PredictiveMixture& prediction, double target,
                      const QuantileCorrection& correction = {},
                      double resolution = 0);

/// Scores of predicted numbers, gathered one by one. Memory: 8 bytes each, for
/// the median.
class RegressionScores {
 public:
  /// Coverage and calibration are those of corrected quantiles.
  explicit RegressionScores(const QuantileCorrection& correction = {});

  void add(const RegressionScore& score);

  std::int64_t count() const { return count_; }

  /// Means so far: log_likelihood, interval_log_likelihood (if all have one),
  /// rmse, mae, median_absolute_error (of the predictive mean), crps,
  /// coverage_50, _80, _90, _95, interval_coverage_50 ... (if all have one) and
  /// width_50 ... (central intervals: share of targets inside, the same at the
  /// resolution of the target, which is RegressionScore::share_inside, and mean
  /// width) and calibration_error (mean over p = 0.05 ... 0.95 of | share of
  /// targets below the p-quantile - p |).
  /// Throws ArgumentError without a prediction, NumericalError when one of them
  /// is not finite.
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  struct Interval {
    double lower = 0;  // probability of its ends
    double upper = 0;
    double inside = 0;
    double share_inside = 0;
    double width = 0;
  };

  std::int64_t count_ = 0;
  double log_likelihood_ = 0;
  double interval_log_likelihood_ = 0;
  std::int64_t intervals_known_ = 0;
  double squares_ = 0;
  std::vector<double> absolutes_;
  double crps_ = 0;
  std::array<Interval, kIntervalLevels.size()> intervals_;
  // Of each calibration quantile: its probability, and targets below it.
  std::array<double, 19> quantiles_ = {};
  std::array<std::int64_t, 19> below_ = {};
};

}  // namespace radir::likelihood
