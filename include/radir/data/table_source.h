#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/uci.h"

namespace radir::data {

/// A benchmark set as a table: feature_1, feature_2, ... and target.
Table to_table(const UciSet& set);

/// Where the rows of a table are: a file of text, plain or gzip, or several,
/// whose rows follow each other; "-" for standard input; a folder in the UCI
/// layout; or "builtin:robot-arm".
struct TableSource {
  std::vector<std::string> parts;
  /// Whether the files begin with the names of their columns; without, the
  /// reader finds out.
  std::optional<bool> header;

  // A path is a source, so not explicit.
  TableSource(std::string path) : parts{std::move(path)} {}
  TableSource(const char* path) : parts{path} {}
  explicit TableSource(std::vector<std::string> paths)
      : parts(std::move(paths)) {}

  /// What messages call it: the first part, and how many others there are.
  std::string name() const;
};

/// The complete table; the built-in one is generated from `seed`. Further files
/// must have the columns of the first, in its order. Throws IoError as
/// data::TableReader does.
Table read_source(const TableSource& source, const TableOptions& options = {},
                  std::uint64_t seed = 0);

/// The names of its columns, from the first part. Throws IoError as
/// data::TableReader does.
std::vector<std::string> column_names(const TableSource& source);

/// Some rows of a table.
struct TableChunk {
  const Table& table;
  std::int64_t rows_before = 0;       ///< of all files
  std::int64_t file_rows_before = 0;  ///< of its file, for messages
};

/// Reads the columns an encoder needs, a chunk of rows at a time. Files of any
/// length are read in memory bounded by the chunk. Returns the names of unused
/// columns. Throws IoError for columns that are missing, and as
/// data::TableReader does.
std::vector<std::string> for_each_chunk(
    const TableSource& source, std::uint64_t seed, const TableEncoder& encoder,
    bool with_target, const std::function<void(const TableChunk&)>& visit);

/// The same for several encoders at once; the source is read once. Returns the
/// columns that none of them uses. Throws IoError too where two encoders read
/// a column in different ways.
std::vector<std::string> for_each_chunk(
    const TableSource& source, std::uint64_t seed,
    const std::vector<const TableEncoder*>& encoders, bool with_target,
    const std::function<void(const TableChunk&)>& visit);

}  // namespace radir::data
