#pragma once

#include <cstdint>
#include <string>

#include "radir/core/thread_pool.h"
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
};

/// Scores the predictions of a source (as data::read_source takes it), read a
/// chunk of rows at a time. Quantiles of the options are not used. Throws as
/// data::for_each_chunk and TableScores::metrics do, and NumericalError where
/// every row is left out.
EvaluateTableResult evaluate_table(const TableModel& model,
                                   const std::string& source,
                                   const TablePredictionOptions& options = {},
                                   ThreadPool* pool = nullptr);

}  // namespace radir::workflows
