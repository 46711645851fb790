#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "radir/data/table.h"

namespace radir::data {

/// What the first rows of a file tell about it.
struct TableLayout {
  TableFormat format;
  std::vector<std::string> names;  ///< generated where the file gives none
  std::vector<ColumnType> types;   ///< as the values suggest
  std::vector<DateOrder> date_orders;
  std::vector<ColumnUse> uses;
};

/// Finds the layout from the first bytes of a file; `complete` when they are
/// all of it. `options` overrule what is found. Needs at least one row. Throws
/// ArgumentError, which begins with `source`, for options that name columns the
/// file has not.
TableLayout find_layout(const std::string& source, std::string_view text,
                        bool complete, const TableOptions& options);

}  // namespace radir::data
