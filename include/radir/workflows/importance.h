#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table_encoder.h"
#include "radir/report/table.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// How strongly each input column of the encoder enters the network: the root
/// mean square, over the networks, of the length of all mean weights that the
/// first layer has for it. Inputs are standardised, so that columns compare;
/// 0 for one that was pruned.
std::vector<double> column_importance(const TableModel& model);

/// How strongly a column enters the networks, over draws of their weights.
struct ColumnStrength {
  std::string column;
  double mean = 0;  ///< 0 for a column that was pruned
  double sd = 0;
  double lower = 0;  ///< 5 % quantile over the draws
  double upper = 0;  ///< 95 % quantile
};

/// One entry per input column of the encoder, in its order. The strength is the
/// length (the radius) of the mean weights that the first layer has for the
/// column, each unit of that layer weighted by the length of what leads from it
/// to the outputs: a unit that nothing reads does not count. The spread is that
/// of draws of the weights along their mean, `samples` for each network; an
/// interval that reaches 0 means that the weights may be noise. Each draw of a
/// chain has its own length.
std::vector<ColumnStrength> column_strengths(const TableModel& model,
                                             std::int64_t samples = 100,
                                             std::uint64_t seed = 0);

/// The order of the columns by mean strength, strongest first.
std::vector<std::size_t> strength_order(
    const std::vector<ColumnStrength>& strengths);

nlohmann::ordered_json to_json(const ColumnStrength& strength);
/// The columns, strongest first, a row each.
report::Table strength_table(const std::vector<ColumnStrength>& strengths);

/// What shuffling one column does to the error of predictions.
struct ColumnEffect {
  std::string column;
  /// Rise of the root mean square error in units of the target, or of the
  /// negative log-likelihood of classes in nats.
  double rise = 0;
  double error = 0;  ///< its standard error, from the rows
};

/// Permutation importance, gathered over parts of a table.
class ShuffledColumns {
 public:
  explicit ShuffledColumns(const data::TableEncoder& encoder);

  /// Adds at most `most_rows` of the rows, each column shuffled among them.
  void add(const TableModel& model, const data::EncodedRows& rows,
           std::int64_t most_rows, std::int64_t samples, std::uint64_t seed,
           ThreadPool* pool = nullptr);
  /// One entry per input column of the encoder, in its order; empty where
  /// nothing was added.
  std::vector<ColumnEffect> effects() const;

 private:
  data::TableEncoder encoder_;
  std::vector<double> losses_;              // of each row as it is
  std::vector<std::vector<double>> rises_;  // of each column, row by row
};

}  // namespace radir::workflows
