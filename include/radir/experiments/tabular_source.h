#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/experiments/tabular_encoder.h"
#include "radir/io/table.h"
#include "radir/io/uci.h"

namespace radir::experiments {

/// A benchmark set as a table: feature_1, feature_2, ... and target.
io::Table to_table(const io::UciSet& set);

/// The table that `source` names: a file of text, plain or gzip; a folder in
/// the UCI layout; or "builtin:robot-arm", made on the spot from `seed`.
/// Throws IoError as io::TableReader does.
io::Table read_source(const std::string& source,
                      const io::TableOptions& options, std::uint64_t seed);

/// Reads the columns an encoder needs, a piece of rows at a time, and calls
/// visit(piece, number of rows before it). Files of any length are read in
/// memory bounded by the piece. Returns the names of columns that nobody needs.
/// Throws IoError for columns that are missing, and as io::TableReader does.
std::vector<std::string> for_each_piece(
    const std::string& source, std::uint64_t seed, const TableEncoder& encoder,
    bool with_target,
    const std::function<void(const io::Table&, std::int64_t)>& visit);

}  // namespace radir::experiments
