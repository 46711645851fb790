#include "radir/workflows/predict_table.h"

#include <deque>
#include <limits>

#include "radir/core/error.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"

namespace radir::workflows {
namespace {

/// Of a row without a prediction.
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

void check_quantiles(const std::vector<double>& quantiles) {
  for (double probability : quantiles) {
    RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                "quantiles must be above 0 and below 1, but got ", probability);
  }
}

TablePrediction predict_numbers(TablePredictor& predictor,
                                const data::EncodedRows& rows,
                                std::size_t count,
                                const std::vector<double>& quantiles) {
  const std::vector<double> missing(count, kMissing);
  TablePrediction result;
  result.mean = result.sd = missing;
  result.epistemic_sd = result.aleatoric_sd = missing;
  result.quantiles.assign(quantiles.size(), missing);
  result.overflowed = predictor.regression(
      rows, [&](std::int64_t i, const likelihood::PredictiveMixture& p) {
        const auto row = static_cast<std::size_t>(
            rows.table_rows[static_cast<std::size_t>(i)]);
        result.mean[row] = p.mean();
        result.sd[row] = p.standard_deviation();
        result.epistemic_sd[row] = p.epistemic_deviation();
        result.aleatoric_sd[row] = p.aleatoric_deviation();
        for (std::size_t q = 0; q < quantiles.size(); ++q) {
          result.quantiles[q][row] =
              p.quantile(predictor.correction()(quantiles[q]));
        }
      });
  return result;
}

TablePrediction predict_classes(TablePredictor& predictor,
                                const data::EncodedRows& rows,
                                std::size_t count) {
  const std::vector<std::string>& classes =
      predictor.encoder().target().categories;
  const std::vector<double> missing(count, kMissing);
  TablePrediction result;
  result.label.resize(count);
  result.probabilities.assign(classes.size(), missing);
  result.entropy = result.mutual_information = missing;
  result.overflowed = predictor.classification(
      rows, [&](std::int64_t i, const likelihood::ClassPrediction& p) {
        const auto row = static_cast<std::size_t>(
            rows.table_rows[static_cast<std::size_t>(i)]);
        result.label[row] = classes[static_cast<std::size_t>(p.most_likely())];
        for (std::size_t c = 0; c < classes.size(); ++c) {
          result.probabilities[c][row] = p.probabilities[c];
        }
        result.entropy[row] = p.entropy;
        result.mutual_information[row] = p.mutual_information;
      });
  return result;
}

/// The texts of the id of each row; none where the table has no such column.
std::vector<std::string> ids_of(const data::Table& table,
                                const std::string& id) {
  std::vector<std::string> ids;
  for (const data::Column& column : table.columns()) {
    if (id.empty() || column.name() != id ||
        column.type() != data::ColumnType::Categorical) {
      continue;
    }
    for (std::int64_t row = 0; row < column.size(); ++row) {
      const std::int32_t code = column.code(row);
      ids.push_back(code < 0 ? "" : column.categories().text(code));
    }
  }
  return ids;
}

}  // namespace

std::int64_t TablePrediction::rows() const {
  return static_cast<std::int64_t>(label.empty() ? mean.size() : label.size());
}

TablePrediction predict_rows(TablePredictor& predictor,
                             const data::Table& table,
                             const std::vector<double>& quantiles,
                             std::int64_t first_row) {
  check_quantiles(quantiles);
  const data::TableEncoder& encoder = predictor.encoder();
  const data::EncodedRows rows = encoder.encode(table, false, first_row);
  const auto count = static_cast<std::size_t>(table.rows());
  TablePrediction result =
      encoder.is_classification()
          ? predict_classes(predictor, rows, count)
          : predict_numbers(predictor, rows, count, quantiles);
  result.ids = ids_of(table, encoder.id());
  result.unseen = rows.unseen;
  return result;
}

PredictTableResult predict_table(
    const TableModel& model, const data::TableSource& source,
    const TablePredictionOptions& options,
    const std::function<void(std::int64_t, const TablePrediction&)>& sink,
    ThreadPool* pool) {
  return predict_table(
             std::vector{&model}, source, options,
             [&](std::int64_t before, const std::vector<TablePrediction>& all) {
               sink(before, all.front());
             },
             pool)
      .front();
}

std::vector<PredictTableResult> predict_table(
    const std::vector<const TableModel*>& models,
    const data::TableSource& source, const TablePredictionOptions& options,
    const std::function<void(std::int64_t,
                             const std::vector<TablePrediction>&)>& sink,
    ThreadPool* pool) {
  check_quantiles(options.quantiles);
  std::vector<const data::TableEncoder*> encoders;
  std::deque<TablePredictor> predictors;
  for (const TableModel* model : models) {
    encoders.push_back(&model->encoder);
    predictors.emplace_back(*model, options.samples, options.seed, pool);
  }
  std::vector<PredictTableResult> results(models.size());
  std::vector<TablePrediction> predictions(models.size());
  const std::vector<std::string> unused = data::for_each_chunk(
      source, options.seed, encoders, false,
      [&](const data::TableChunk& chunk) {
        const std::int64_t before = chunk.rows_before;
        for (std::size_t i = 0; i < models.size(); ++i) {
          predictions[i] =
              predict_rows(predictors[i], chunk.table, options.quantiles,
                           chunk.file_rows_before);
          results[i].overflowed.add(predictions[i].overflowed, before);
          add_unseen(predictions[i].unseen, before, results[i].unseen);
          results[i].rows = before + chunk.table.rows();
        }
        sink(before, predictions);
      });
  for (PredictTableResult& result : results) result.unused_columns = unused;
  return results;
}

}  // namespace radir::workflows
