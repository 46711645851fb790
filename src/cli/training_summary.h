#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/data/column_reading.h"
#include "radir/workflows/train_table.h"

// What `radir train` says about one target.

namespace radir::cli {

/// How the columns were read, on standard error before the training starts.
void print_columns(const std::vector<data::ColumnReading>& columns);

/// A finished run, for programs and for people.
nlohmann::ordered_json to_json(const workflows::TrainTableResult& result);
std::string summary(const workflows::TrainTableResult& result);

}  // namespace radir::cli
