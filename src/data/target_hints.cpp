#include "data/target_hints.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "radir/core/shell_text.h"

namespace radir::data {
namespace {

/// A target of so few values may be meant as classes.
constexpr std::size_t kFewValues = 5;
constexpr std::size_t kLeastRowsOfHint = 20;

}  // namespace

std::string classes_hint(const Column& target, const RowNumbers& rows) {
  std::set<double> values;
  for (std::int64_t row : rows) {
    const double value = target.number(row);
    if (std::trunc(value) != value) return "";
    values.insert(value);
    if (values.size() > kFewValues) return "";
  }
  if (rows.size() < kLeastRowsOfHint) return "";
  const bool two = values.size() == 2;
  return "the target \"" + target.name() + "\" has only " +
         std::to_string(values.size()) + " different values" +
         (two && *values.begin() == 0 && *values.rbegin() == 1 ? " (0 and 1)"
                                                               : "") +
         " and is predicted as a number; for classes with probabilities, add "
         "--categorical " +
         shell_word(target.name());
}

std::string rare_classes_hint(const FittedColumn& target,
                              const RowNumbers& rows) {
  const auto count = static_cast<std::int64_t>(rows.size());
  if (rows.size() < kLeastRowsOfHint || 2 * target.levels <= count) return "";
  return "the target \"" + target.code.name + "\" has " +
         std::to_string(target.levels) + " classes in " +
         std::to_string(count) +
         " rows, too few of each to learn from; if it holds numbers, remove "
         "units and other text from them";
}

double share_of_most_frequent(const Column& column, const RowNumbers& rows) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::int64_t row : rows) values.push_back(column.number(row));
  std::sort(values.begin(), values.end());
  std::ptrdiff_t most = 0;
  for (auto first = values.begin(); first != values.end();) {
    const auto end = std::upper_bound(first, values.end(), *first);
    most = std::max(most, end - first);
    first = end;
  }
  return static_cast<double>(most) / static_cast<double>(values.size());
}

}  // namespace radir::data
