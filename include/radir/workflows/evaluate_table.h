#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/workflows/assessment.h"
#include "radir/workflows/seen_rows.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// Scores of a model's predictions.
struct EvaluateTableResult {
  TableMetrics metrics;
  /// Those of the first network alone, on the rows that it predicts; empty
  /// where it is the only one.
  TableMetrics first_network;
  /// Rows that do not count in `metrics`, because values there are too large
  /// for a float (TableScores::add).
  RowList left_out;
  /// Rows that are dropped for a missing target, or another missing value.
  std::int64_t dropped = 0;
  /// Values that the training did not see, of each column that has some.
  std::vector<data::UnseenLevels> unseen;
  /// Rows whose inputs were those of a training row.
  SeenCount seen;
  /// Confusion matrix and calibration of a categorical target.
  std::optional<ClassTables> classes;
};

/// Scores the predictions of a source, read once, a chunk of rows at a time.
/// Quantiles of the options are not used. Throws as data::for_each_chunk and
/// TableScores::metrics do, and NumericalError where every row is left out.
EvaluateTableResult evaluate_table(const TableModel& model,
                                   const data::TableSource& source,
                                   const TablePredictionOptions& options = {},
                                   ThreadPool* pool = nullptr);

/// The same for several models at once; the source is read once. It needs the
/// targets of all of them; a row without one of them counts for the others.
std::vector<EvaluateTableResult> evaluate_table(
    const std::vector<const TableModel*>& models,
    const data::TableSource& source, const TablePredictionOptions& options = {},
    ThreadPool* pool = nullptr);

}  // namespace radir::workflows
