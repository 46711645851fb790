#pragma once

#include <string>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// Fits networks to all rows of a table: what `radir train` does, without a
/// run folder. `target` is the column to predict; a text column means classes.
/// Without a pool all processors work.
/// Throws ArgumentError for invalid settings or a target that is not a column,
/// IoError for a table that cannot be used, NumericalError when the training
/// fails.
TableModel fit_table(const data::Table& table, const std::string& target,
                     const TableSettings& settings = {},
                     ThreadPool* pool = nullptr);

}  // namespace radir::workflows
