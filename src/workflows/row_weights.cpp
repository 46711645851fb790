#include "radir/workflows/row_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/core/settings_text.h"

namespace radir::workflows {
namespace {

using Weights = std::vector<std::int64_t>;

constexpr std::int64_t kMostWeight = 1000000;
/// Rows that weights may come to: their numbers alone take 8 bytes each.
constexpr std::int64_t kMostRepeatedRows = 100000000;

[[noreturn]] void refuse_weight(const data::Table& table,
                                const data::Column& column, std::int64_t row,
                                const std::string& found) {
  detail::throw_error<ArgumentError>(
      table.source(), ": row ", row + 1, ": the weight ", found,
      " in the column \"", column.name(), "\" is not a whole number from 0 to ",
      kMostWeight, "; weights say how often a row counts");
}

Weights weights_of(const data::Table& table, const data::Column& column) {
  Weights weights;
  weights.reserve(static_cast<std::size_t>(column.size()));
  for (std::int64_t row = 0; row < column.size(); ++row) {
    RADIR_CHECK(!column.is_missing(row), ArgumentError, table.source(),
                ": row ", row + 1, ": the weight in the column \"",
                column.name(), "\" is missing; give it, or 0");
    double weight = NAN;
    std::string text;
    if (column.type() == data::ColumnType::Categorical) {
      text = column.categories().text(column.code(row));
      const char* const end = text.data() + text.size();
      if (std::from_chars(text.data(), end, weight).ptr != end) weight = NAN;
    } else {
      weight = column.number(row);
      text = fmt::format("{}", weight);
    }
    if (!(weight >= 0 && weight <= static_cast<double>(kMostWeight)) ||
        std::trunc(weight) != weight) {
      refuse_weight(table, column, row, "\"" + text + "\"");
    }
    weights.push_back(static_cast<std::int64_t>(weight));
  }
  return weights;
}

/// Of each class, by its code.
Weights balanced(const data::Column& target, const Weights& rows) {
  Weights counts(static_cast<std::size_t>(target.categories().size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = target.code(static_cast<std::int64_t>(i));
    if (code >= 0) counts[static_cast<std::size_t>(code)] += rows[i];
  }
  if (counts.empty()) return counts;
  const std::int64_t most = *std::max_element(counts.begin(), counts.end());
  for (std::int64_t& count : counts) {
    count = count == 0 ? 1 : (2 * most + count) / (2 * count);  // rounded
  }
  return counts;
}

Weights named(const data::Table& table, const data::Column& target,
              const std::string& text) {
  const data::Dictionary& classes = target.categories();
  Weights weights(static_cast<std::size_t>(classes.size()), 1);
  for (const auto& [name, value] : parse_assignments("class-weights", text)) {
    const std::int32_t code = classes.find(name);
    if (code < 0) {
      std::vector<std::string> names;
      for (std::int32_t i = 0; i < classes.size(); ++i) {
        names.push_back(classes.text(i));
      }
      detail::throw_error<ArgumentError>(
          table.source(), ": class-weights: the target \"", target.name(),
          "\" has no class \"", name, "\"", known_names(name, names));
    }
    std::int64_t weight = 0;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, weight);
    RADIR_CHECK(read.ptr == end && read.ec == std::errc() && weight >= 1 &&
                    weight <= kMostWeight,
                ArgumentError, "class-weights: the weight \"", value,
                "\" of the class \"", name,
                "\" is not a whole number from 1 to ", kMostWeight,
                "; weights say how often a row counts");
    weights[static_cast<std::size_t>(code)] = weight;
  }
  return weights;
}

}  // namespace

Weights take_row_weights(data::Table& table, const std::string& name) {
  std::vector<data::Column>& columns = table.columns();
  const auto column =
      std::find_if(columns.begin(), columns.end(),
                   [&](const auto& one) { return one.name() == name; });
  RADIR_CHECK(column != columns.end(), ArgumentError, table.source(),
              ": the column \"", name,
              "\" is left out, so it cannot hold weights");
  Weights weights = weights_of(table, *column);
  RADIR_CHECK(std::any_of(weights.begin(), weights.end(),
                          [](std::int64_t weight) { return weight > 0; }),
              ArgumentError, table.source(), ": all weights in the column \"",
              name, "\" are 0; there is no row to fit to");
  columns.erase(column);
  return weights;
}

Weights times_class_weights(const data::Table& table, const std::string& target,
                            const std::string& class_weights, Weights rows) {
  const data::Column& column = table.column(target);
  RADIR_CHECK(column.type() == data::ColumnType::Categorical, ArgumentError,
              table.source(), ": class-weights: the target \"", target,
              "\" is a number and has no classes; --categorical makes it one");
  if (rows.empty()) rows.assign(static_cast<std::size_t>(table.rows()), 1);
  const Weights of_classes = class_weights == "balanced"
                                 ? balanced(column, rows)
                                 : named(table, column, class_weights);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t code = column.code(static_cast<std::int64_t>(i));
    if (code >= 0) rows[i] *= of_classes[static_cast<std::size_t>(code)];
  }
  return rows;
}

std::vector<std::int64_t> repeated_rows(const std::vector<std::int64_t>& order,
                                        const Weights& weights) {
  double sum = 0;
  for (const std::int64_t weight : weights) sum += static_cast<double>(weight);
  RADIR_CHECK(sum <= static_cast<double>(kMostRepeatedRows), ArgumentError,
              "the weights come to ", sum, " rows, more than ",
              kMostRepeatedRows, "; divide them by a common factor");
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(sum));
  for (const std::int64_t row : order) {
    const std::int64_t copies = weights[static_cast<std::size_t>(row)];
    rows.insert(rows.end(), static_cast<std::size_t>(copies), row);
  }
  return rows;
}

}  // namespace radir::workflows
