#include "data/named_columns.h"

#include <sstream>

#include "radir/core/error.h"
#include "radir/core/text_stream.h"

namespace radir::data {
namespace {

/// The numbers as categories.
Column as_categories(const Column& column) {
  Column result(column.name(), ColumnType::Categorical);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.is_missing(row)) {
      result.append_missing();
      continue;
    }
    std::ostringstream text = text_stream();
    text << column.number(row);
    result.append_category(text.str());
  }
  return result;
}

}  // namespace

NamedColumns::NamedColumns(const std::string& source,
                           const std::vector<std::string>& names,
                           const TableOptions& options) {
  const auto find = [&](const std::string& reference) {
    return find_column(source, names, reference);
  };
  for (const auto& name : options.categorical) categorical.insert(find(name));
  for (const auto& name : options.skip) skip.insert(find(name));
  for (const auto& name : options.only) only.insert(find(name));
  if (!options.target.empty()) target = find(options.target);
  RADIR_CHECK(!target || skip.count(*target) == 0, ArgumentError, source,
              ": the column \"", names[target.value_or(0)],
              "\" is the target; it can be neither excluded nor an id");
}

bool NamedColumns::is_skipped(std::size_t column) const {
  if (column == target) return false;
  return skip.count(column) == 1 || (!only.empty() && only.count(column) == 0);
}

Table selected(const Table& table, const TableOptions& options) {
  const NamedColumns named(table.source(), table.column_names(), options);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (named.is_skipped(i)) continue;
    const bool turned =
        named.categorical.count(i) == 1 && column.type() == ColumnType::Numeric;
    columns.push_back(turned ? as_categories(column) : column);
    if (options.as_is) {
      columns.back().set_use(ColumnUse::AsIs);
    } else if (named.categorical.count(i) == 1 || named.only.count(i) == 1) {
      columns.back().set_use(ColumnUse::Required);
    }
  }
  return Table(table.source(), std::move(columns), table.file_columns());
}

}  // namespace radir::data
