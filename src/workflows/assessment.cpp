#include "radir/workflows/assessment.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"

namespace radir::workflows {
namespace {

constexpr double kLowerQuantile = 0.05;
constexpr double kUpperQuantile = 0.95;

/// 0.05, 0.1, ... 0.95.
double curve_quantile(std::size_t i) {
  return 0.05 * static_cast<double>(i + 1);
}

}  // namespace

double AssessedRow::uncertainty(bool classes) const {
  return classes ? epistemic + aleatoric : std::hypot(epistemic, aleatoric);
}

ClassTables class_tables(const std::vector<std::string>& classes,
                         const likelihood::ClassScores& scores) {
  return {classes, scores.confusion(), scores.calibration()};
}

std::optional<report::Table> confusion_table(const ClassTables& tables) {
  constexpr std::size_t kMostClasses = 20;
  if (tables.confusion.empty() || tables.classes.size() > kMostClasses) {
    return std::nullopt;
  }
  report::Table table;
  table.columns = {{"actual", "actual \\ predicted"}};
  for (const std::string& name : tables.classes) {
    table.columns.push_back({name, name});
  }
  for (std::size_t c = 0; c < tables.classes.size(); ++c) {
    std::vector<report::Cell> row = {tables.classes[c]};
    row.insert(row.end(), tables.confusion[c].begin(),
               tables.confusion[c].end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

bool resolution_matters(const TableMetrics& metrics) {
  constexpr double kMatters = 0.005;
  const std::string key = "coverage_";
  for (const auto& [name, value] : metrics) {
    if (name.rfind(key, 0) != 0) continue;
    for (const auto& [other, at_resolution] : metrics) {
      if (other != "interval_" + name) continue;
      if (std::abs(at_resolution - value) >= kMatters) return true;
    }
  }
  return false;
}

NumberScores::NumberScores(const likelihood::QuantileCorrection& correction)
    : scores_(correction) {
  for (std::size_t i = 0; i < quantiles_.size(); ++i) {
    quantiles_[i] = correction(curve_quantile(i));
  }
}

void NumberScores::add(const likelihood::RegressionScore& score) {
  scores_.add(score);
  for (std::size_t i = 0; i < below_.size(); ++i) {
    if (score.probability <= quantiles_[i]) ++below_[i];
  }
}

TableMetrics NumberScores::metrics() const { return scores_.metrics(); }

std::vector<double> NumberScores::below() const {
  std::vector<double> shares;
  for (const std::int64_t count : below_) {
    shares.push_back(static_cast<double>(count) /
                     static_cast<double>(scores_.count()));
  }
  return shares;
}

std::optional<double> Assessment::metric(const std::string& name) const {
  for (const auto& [key, value] : metrics) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Assessor::Assessor(data::TableEncoder encoder, std::int64_t expected_rows,
                   likelihood::QuantileCorrection correction)
    : encoder_(std::move(encoder)),
      stride_(1 + std::max<std::int64_t>(0, expected_rows - 1) / kMostDrawn),
      correction_(std::move(correction)),
      numbers_(correction_) {}

void Assessor::add(TablePredictor& predictor, const data::EncodedRows& rows,
                   std::int64_t first_row) {
  if (encoder_.is_classification()) {
    add_classes(predictor, rows, first_row);
  } else {
    add_numbers(predictor, rows, first_row);
  }
}

void Assessor::add_numbers(TablePredictor& predictor,
                           const data::EncodedRows& rows,
                           std::int64_t first_row) {
  struct Found {
    likelihood::RegressionScore score;
    AssessedRow row;
    bool is_scored = false;
  };
  std::vector<Found> found(static_cast<std::size_t>(rows.count));
  const data::ColumnCode& code = encoder_.target();
  predictor.regression(rows, [&](std::int64_t i,
                                 const likelihood::PredictiveMixture& p) {
    const auto at = static_cast<std::size_t>(i);
    if (!std::isfinite(rows.targets[at])) return;
    Found& here = found[at];
    AssessedRow& row = here.row;
    row.row = rows.table_rows[at] + first_row;
    row.actual =
        data::target_value(code, static_cast<double>(rows.targets[at]));
    row.predicted = p.mean();
    row.epistemic = p.epistemic_deviation();
    row.aleatoric = p.aleatoric_deviation();
    here.score = likelihood::score(p, row.actual, correction_, code.resolution);
    here.is_scored = here.score.is_finite();
    if ((seen_ + i) % stride_ != 0) return;
    row.lower = p.quantile(correction_(kLowerQuantile));
    row.upper = p.quantile(correction_(kUpperQuantile));
  });
  for (const Found& here : found) {
    if (here.is_scored) {
      numbers_.add(here.score);
      keep(here.row);
    } else {
      ++result_.left_out;
    }
    ++seen_;
  }
}

void Assessor::add_classes(TablePredictor& predictor,
                           const data::EncodedRows& rows,
                           std::int64_t first_row) {
  std::vector<likelihood::ClassPrediction> found(
      static_cast<std::size_t>(rows.count));
  predictor.classification(
      rows, [&](std::int64_t i, const likelihood::ClassPrediction& p) {
        found[static_cast<std::size_t>(i)] = p;
      });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const likelihood::ClassPrediction& p = found[i];
    if (p.probabilities.empty() || !p.is_defined()) {
      ++result_.left_out;
    } else {
      classes_.add(p, rows.labels[i]);
      const std::int64_t likely = p.most_likely();
      const double probability =
          p.probabilities[static_cast<std::size_t>(likely)];
      keep({rows.table_rows[i] + first_row, static_cast<double>(rows.labels[i]),
            static_cast<double>(likely), probability, probability,
            p.mutual_information, p.entropy - p.mutual_information});
    }
    ++seen_;
  }
}

void Assessor::keep(const AssessedRow& row) {
  const bool classes = encoder_.is_classification();
  ++result_.rows;
  if (seen_ % stride_ == 0) result_.sample.push_back(row);
  std::vector<AssessedRow>& worst = result_.uncertain;
  const auto place =
      std::find_if(worst.begin(), worst.end(), [&](const AssessedRow& other) {
        return other.uncertainty(classes) < row.uncertainty(classes);
      });
  worst.insert(place, row);
  if (worst.size() > kMostUncertain) worst.pop_back();
}

Assessment Assessor::finish() const {
  Assessment result = result_;
  if (encoder_.is_classification()) {
    result.metrics = classes_.metrics();
    result.classes = class_tables(encoder_.target().categories, classes_);
  } else {
    result.metrics = numbers_.metrics();
    result.below = numbers_.below();
  }
  return result;
}

Assessment assess_table(const TableModel& model, const std::string& source,
                        const TablePredictionOptions& options,
                        ThreadPool* pool) {
  // Read twice: the number of rows decides which are drawn, and a long table
  // need not fit in memory.
  TablePredictor predictor(model, options.samples, options.seed, pool);
  std::int64_t count = 0;
  data::for_each_chunk(
      source, options.seed, model.encoder, true,
      [&](const data::TableChunk& chunk) { count += chunk.table.rows(); });
  Assessor assessor(model.encoder, count, model.correction);
  data::for_each_chunk(
      source, options.seed, model.encoder, true,
      [&](const data::TableChunk& chunk) {
        assessor.add(
            predictor,
            model.encoder.encode(chunk.table, true, chunk.file_rows_before),
            chunk.rows_before);
      });
  return assessor.finish();
}

}  // namespace radir::workflows
