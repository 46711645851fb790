#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/class_scores.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/likelihood/regression_scores.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {

/// Predictions of a fitted table in original units: the mixture over draws of
/// the weights of every network.
class TablePredictor {
 public:
  /// `samples` draws per network. Throws ArgumentError unless samples > 0.
  TablePredictor(const TableModel& model, std::int64_t samples,
                 std::uint64_t seed, ThreadPool* pool = nullptr);
  ~TablePredictor();
  TablePredictor(TablePredictor&&) noexcept;
  TablePredictor& operator=(TablePredictor&&) noexcept;

  const data::TableEncoder& encoder() const;
  /// Where quantiles of the distributions are to be read (TableModel).
  const likelihood::QuantileCorrection& correction() const;

  /// Calls visit(i, distribution) for each row, from any thread; rows are cut
  /// into chunks, so that memory does not grow with their number. For a
  /// numeric target.
  ///
  /// A row with inputs or outputs that are too large for a float has no
  /// distribution: visit is not called for it, and its place in the table
  /// (EncodedRows::table_rows) is in the result, in order.
  std::vector<std::int64_t> regression(
      const data::EncodedRows& rows,
      const std::function<void(std::int64_t,
                               const likelihood::PredictiveMixture&)>& visit);
  /// Calls visit(i, score) with the score of each row's target instead, in
  /// original units; much faster than to score each distribution. Rows whose
  /// target or score is too large are among the others.
  std::vector<std::int64_t> scores(
      const data::EncodedRows& rows,
      const likelihood::QuantileCorrection& correction,
      const std::function<void(std::int64_t,
                               const likelihood::RegressionScore&)>& visit);
  /// As regression, for a categorical target.
  std::vector<std::int64_t> classification(
      const data::EncodedRows& rows,
      const std::function<void(std::int64_t,
                               const likelihood::ClassPrediction&)>& visit);

  /// The figure the article's Table 1 prints, for the first network. It is not
  /// a log-likelihood: it sums over test points where it should over draws of
  /// the weights, and measures residuals in original units by a precision of
  /// standardised ones,
  ///   mean_s [log sum_n exp(-E[tau] (Y_n - F_sn)^2 / 2)]
  ///     - log S - log(2 pi)/2 + log(E[tau])/2.
  /// Only with a Gaussian likelihood; throws ArgumentError otherwise.
  double published_estimator(const data::EncodedRows& rows);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Scores of predictions, gathered chunk by chunk.
class TableScores {
 public:
  explicit TableScores(const data::TableEncoder& encoder,
                       const likelihood::QuantileCorrection& correction = {});

  /// Predicts the rows and adds what they show. The sums run in the order of
  /// the rows whatever the threads. Returns the places in the table of the rows
  /// that are left out, in order: those without a prediction
  /// (TablePredictor::regression) or with a target too large for a float.
  std::vector<std::int64_t> add(TablePredictor& predictor,
                                const data::EncodedRows& rows);

  /// Those of a categorical target.
  const likelihood::ClassScores& classes() const { return classes_; }

  /// Rows that count.
  std::int64_t count() const { return count_; }

  /// Means over all rows that count: those of RegressionScores for a numeric
  /// target, in original units, and those of ClassScores for a categorical one.
  /// Throws ArgumentError without rows.
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  std::vector<std::int64_t> add_regression(TablePredictor& predictor,
                                           const data::EncodedRows& rows);
  std::vector<std::int64_t> add_classes(TablePredictor& predictor,
                                        const data::EncodedRows& rows);

  const data::TableEncoder& encoder_;
  likelihood::QuantileCorrection correction_;
  std::int64_t count_ = 0;
  likelihood::RegressionScores numbers_;
  likelihood::ClassScores classes_;
};

}  // namespace radir::workflows
