#include "radir/workflows/evaluate_table.h"

#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/workflows/table_predictor.h"

namespace radir::workflows {
namespace {

TableMetrics scores(const TableModel& model, const std::string& source,
                    const TablePredictionOptions& options, ThreadPool* pool) {
  TablePredictor predictor(model, options.samples, options.seed, pool);
  TableScores result(model.encoder);
  data::for_each_chunk(
      source, options.seed, model.encoder, true,
      [&](const data::Table& chunk, std::int64_t first_row) {
        result.add(predictor, model.encoder.encode(chunk, true, first_row));
      });
  return result.metrics();
}

}  // namespace

EvaluateTableResult evaluate_table(const TableModel& model,
                                   const std::string& source,
                                   const TablePredictionOptions& options,
                                   ThreadPool* pool) {
  EvaluateTableResult result;
  result.metrics = scores(model, source, options, pool);
  if (model.networks.size() > 1) {
    TableModel first = model;
    first.networks.resize(1);
    result.first_network = scores(first, source, options, pool);
  }
  return result;
}

}  // namespace radir::workflows
