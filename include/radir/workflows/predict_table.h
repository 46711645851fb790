#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::workflows {

/// Predictions of the rows of a table that has the columns of the model.
/// Messages count rows from `first_row` + 1. Throws ArgumentError for quantiles
/// that are not above 0 and below 1.
TablePrediction predict_rows(TablePredictor& predictor,
                             const data::Table& table,
                             const std::vector<double>& quantiles,
                             std::int64_t first_row = 0);

/// What predict_table read.
struct PredictTableResult {
  std::int64_t rows = 0;
  /// Those without a prediction (TablePrediction::overflowed).
  RowList overflowed;
  /// Columns of the table that the model does not use.
  std::vector<std::string> unused_columns;
  /// Values that the training did not see, of each column that has some.
  std::vector<data::UnseenLevels> unseen;
};

/// Predicts the rows of a source and calls
/// sink(number of rows before, predictions) for a chunk of rows at a time, in
/// order. Memory does not grow with the number of rows. Throws as
/// data::for_each_chunk and predict_rows do.
PredictTableResult predict_table(
    const TableModel& model, const data::TableSource& source,
    const TablePredictionOptions& options,
    const std::function<void(std::int64_t, const TablePrediction&)>& sink,
    ThreadPool* pool = nullptr);

/// The same for several models at once; the source is read once. The sink gets
/// the predictions of each model, and there is a result for each. Unused are
/// the columns that no model uses.
std::vector<PredictTableResult> predict_table(
    const std::vector<const TableModel*>& models,
    const data::TableSource& source, const TablePredictionOptions& options,
    const std::function<void(std::int64_t,
                             const std::vector<TablePrediction>&)>& sink,
    ThreadPool* pool = nullptr);

}  // namespace radir::workflows
