#include "radir/workflows/evaluate_table.h"

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/train/model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::workflows {
namespace {

TableMetrics scores(const TableModel& model, const std::string& source,
                    const TablePredictionOptions& options, ThreadPool* pool,
                    RowList& left_out) {
  TablePredictor predictor(model, options.samples, options.seed, pool);
  TableScores result(model.encoder);
  data::for_each_chunk(
      source, options.seed, model.encoder, true,
      [&](const data::Table& chunk, std::int64_t first_row) {
        left_out.add(
            result.add(predictor, model.encoder.encode(chunk, true, first_row)),
            first_row);
      });
  RADIR_CHECK(result.count() > 0 || left_out.count == 0, NumericalError, source,
              ": no row can be scored: in all ", left_out.count,
              " values are too large for a float");
  return result.metrics();
}

}  // namespace

EvaluateTableResult evaluate_table(const TableModel& model,
                                   const std::string& source,
                                   const TablePredictionOptions& options,
                                   ThreadPool* pool) {
  EvaluateTableResult result;
  result.metrics = scores(model, source, options, pool, result.left_out);
  // A single draw of a chain says little, other than one network of several.
  if (model.networks.size() > 1 && train::Model(model.spec).has_noise()) {
    TableModel first = model;
    first.networks.resize(1);
    RowList of_first;
    result.first_network = scores(first, source, options, pool, of_first);
  }
  return result;
}

}  // namespace radir::workflows
