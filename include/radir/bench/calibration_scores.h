#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/regression_scores.h"

namespace radir::bench {

/// How well the predictions of some rows agree with their true distributions.
struct CalibrationScores {
  /// Share of the targets in each central interval of
  /// likelihood::kIntervalLevels: 50, 80, 90, 95 %.
  std::array<double, likelihood::kIntervalLevels.size()> coverage = {};
  /// Of the 90 % interval [l, u]: u - l, and for a target outside 20 times its
  /// distance to the interval; lower is better (T. Gneiting, A. Raftery,
  /// "Strictly proper scoring rules, prediction, and estimation", JASA 102,
  /// 2007).
  double interval_score = 0;
  double log_likelihood = 0;  ///< nats per row
  /// Log density of the truth less that of the prediction, nats per row: an
  /// estimate of the Kullback-Leibler divergence, 0 for a perfect prediction.
  double divergence = 0;
  double rmse = 0;  ///< of the predictive mean against the targets
  /// Error of the predictive mean against the true mean, and the standard
  /// deviation that the prediction claims for it; root mean squares.
  double mean_error = 0;
  double epistemic_sd = 0;
  /// Share of the rows whose true mean is within 1.645 of these deviations, the
  /// 90 % interval of a normal distribution, of the predicted one.
  double mean_coverage = 0;

  /// Names and values of all scores: coverage_50, ..., interval_score, ...
  std::vector<std::pair<std::string, double>> metrics() const;
};

/// Gathers the scores of rows, one by one.
class CalibrationSums {
 public:
  /// Of a target that was drawn from `truth`.
  void add(const likelihood::PredictiveMixture& prediction, double target,
           const likelihood::MixtureComponent& truth);

  /// Throws ArgumentError without rows.
  CalibrationScores scores() const;

 private:
  std::int64_t count_ = 0;
  CalibrationScores sums_;  // of squares, where the score is a root
};

}  // namespace radir::bench
