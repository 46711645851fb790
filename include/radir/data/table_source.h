#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/uci.h"

namespace radir::data {

/// A benchmark set as a table: feature_1, feature_2, ... and target.
Table to_table(const UciSet& set);

/// The table that `source` names: a file of text, plain or gzip; a folder in
/// the UCI layout; or "builtin:robot-arm", generated from `seed`.
/// Throws IoError as data::TableReader does.
Table read_source(const std::string& source, const TableOptions& options = {},
                  std::uint64_t seed = 0);

/// Reads the columns an encoder needs, a chunk of rows at a time, and calls
/// visit(chunk, number of rows before it). Files of any length are read in
/// memory bounded by the chunk. Returns the names of unused columns.
/// Throws IoError for columns that are missing, and as data::TableReader does.
std::vector<std::string> for_each_chunk(
    const std::string& source, std::uint64_t seed, const TableEncoder& encoder,
    bool with_target,
    const std::function<void(const Table&, std::int64_t)>& visit);

}  // namespace radir::data
