#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/class_scores.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/likelihood/regression_scores.h"
#include "radir/report/table.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"

// What predictions of rows with known targets show: scores, and what a report
// draws of them.

namespace radir::workflows {

/// A row and what was predicted for it.
struct AssessedRow {
  std::int64_t row = 0;  ///< in the table, from 0
  /// The target and its predicted mean; of classes the indices of the true and
  /// of the most probable one.
  double actual = 0;
  double predicted = 0;
  /// Central 90 % interval; of classes both are the probability of `predicted`.
  double lower = 0;
  double upper = 0;
  /// Standard deviations; of classes parts of the entropy, in nats.
  double epistemic = 0;
  double aleatoric = 0;

  /// Both parts together.
  double uncertainty(bool classes) const;
};

/// Confusion matrix and calibration of predicted classes.
struct ClassTables {
  std::vector<std::string> classes;
  /// [actual][predicted]; empty where there are too many classes.
  std::vector<std::vector<std::int64_t>> confusion;
  std::vector<likelihood::ConfidenceBin> calibration;
};

ClassTables class_tables(const std::vector<std::string>& classes,
                         const likelihood::ClassScores& scores);

/// The confusion matrix for people; none beyond twenty classes.
std::optional<report::Table> confusion_table(const ClassTables& tables);

/// Whether coverage at the resolution of the target (interval_coverage_50 ...)
/// differs from coverage by half a point at some level.
bool resolution_matters(const TableMetrics& metrics);

/// Scores of predicted numbers with the calibration curve.
class NumberScores {
 public:
  explicit NumberScores(const likelihood::QuantileCorrection& correction = {});

  void add(const likelihood::RegressionScore& score);
  std::int64_t count() const { return scores_.count(); }
  /// Those of RegressionScores.
  TableMetrics metrics() const;
  /// Share of targets below the quantiles 0.05, 0.1, ... 0.95.
  std::vector<double> below() const;

 private:
  likelihood::RegressionScores scores_;
  // Of the quantiles of the calibration curve: where they are read, and
  // targets below them.
  std::array<double, 19> quantiles_ = {};
  std::array<std::int64_t, 19> below_ = {};
};

/// What the predictions of a table's rows show.
struct Assessment {
  std::int64_t rows = 0;      ///< that were scored
  std::int64_t left_out = 0;  ///< those without a prediction
  TableMetrics metrics;
  std::vector<double> below;  ///< NumberScores::below
  std::optional<ClassTables> classes;
  std::vector<AssessedRow> sample;     ///< some rows to draw
  std::vector<AssessedRow> uncertain;  ///< the most uncertain ones, worst first

  /// A metric by its name; none where it was not computed.
  std::optional<double> metric(const std::string& name) const;
};

/// Gathers an assessment, some rows at a time.
class Assessor {
 public:
  static constexpr std::int64_t kMostDrawn = 400;
  static constexpr std::size_t kMostUncertain = 8;

  /// `expected_rows` decides which rows are in the sample. Intervals and
  /// their coverage are corrected.
  Assessor(data::TableEncoder encoder, std::int64_t expected_rows,
           likelihood::QuantileCorrection correction = {});

  /// Predicts rows of which so many come before in the table.
  void add(TablePredictor& predictor, const data::EncodedRows& rows,
           std::int64_t first_row = 0);
  /// Throws ArgumentError without a row that was predicted.
  Assessment finish() const;

 private:
  void add_numbers(TablePredictor& predictor, const data::EncodedRows& rows,
                   std::int64_t first_row);
  void add_classes(TablePredictor& predictor, const data::EncodedRows& rows,
                   std::int64_t first_row);
  void keep(const AssessedRow& row);

  data::TableEncoder encoder_;
  std::int64_t stride_;
  likelihood::QuantileCorrection correction_;
  std::int64_t seen_ = 0;
  NumberScores numbers_;
  likelihood::ClassScores classes_;
  Assessment result_;
};

/// Assesses the predictions of a source (as data::read_source takes it).
Assessment assess_table(const TableModel& model, const std::string& source,
                        const TablePredictionOptions& options = {},
                        ThreadPool* pool = nullptr);

/// {"rmse": 2.1, ...}
nlohmann::ordered_json metrics_json(const TableMetrics& metrics);
/// Throws IoError, which begins with `where`, unless it is an object of
/// numbers.
TableMetrics metrics_from_json(const nlohmann::ordered_json& json,
                               const std::string& where);

nlohmann::ordered_json to_json(const ClassTables& tables);
nlohmann::ordered_json to_json(const Assessment& assessment);
/// Throws IoError when the object is invalid.
Assessment assessment_from_json(files::JsonObject json);

}  // namespace radir::workflows
