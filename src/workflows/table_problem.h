#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/workflows/train_table.h"

namespace radir::workflows {

/// A table made ready for training.
struct TableProblem {
  std::optional<data::Table> table;
  data::TableEncoder encoder;
  data::EncodedRows rows;  ///< to fit
  /// Those that correct the quantiles (TrainTableOptions::conformal).
  std::optional<data::EncodedRows> aside;
  /// Its description in config.json and in the model.
  nlohmann::ordered_json data;

  /// See workflows::encode_for().
  void encode_for(const TableSettings& settings);
};

data::TableSource source_of(const TrainTableOptions& options);

/// Reads the table, and gives the columns of the options their names.
TableProblem load_problem(TrainTableOptions& options,
                          const std::function<void(const std::string&)>& note);

}  // namespace radir::workflows
