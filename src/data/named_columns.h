#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "radir/data/table.h"

namespace radir::data {

/// The columns that options speak of, by their index.
struct NamedColumns {
  std::set<std::size_t> categorical;
  std::set<std::size_t> skip;
  std::set<std::size_t> only;
  std::optional<std::size_t> target;

  /// Throws ArgumentError as find_column does, and for a target that is to be
  /// skipped.
  NamedColumns(const std::string& source, const std::vector<std::string>& names,
               const TableOptions& options);

  bool is_skipped(std::size_t column) const;
};

/// A table in memory as options ask for it: without columns that are skipped,
/// with numbers as text where they are categories.
Table selected(const Table& table, const TableOptions& options);

}  // namespace radir::data
