#include "radir/data/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <type_traits>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/files/utf8.h"

namespace radir::data {
namespace {

template <typename T>
std::int64_t count_missing(const NumberView<T>& numbers) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isnan(numbers[i])) ++count;
  }
  return count;
}

}  // namespace

const char* to_string(ColumnType type) {
  switch (type) {
    case ColumnType::Numeric:
      return "numeric";
    case ColumnType::Categorical:
      return "categorical";
    case ColumnType::Date:
      return "date";
    case ColumnType::Skipped:
      break;
  }
  return "skipped";
}

const Choices<DateOrder>& date_order_choices() {
  static const Choices<DateOrder> choices = {
      {DateOrder::YearMonthDay, "year-month-day"},
      {DateOrder::DayMonthYear, "day-month-year"},
      {DateOrder::MonthDayYear, "month-day-year"},
      {DateOrder::TimeOfDay, "time-of-day"}};
  return choices;
}

std::size_t Dictionary::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] >= 0 &&
         texts_[static_cast<std::size_t>(slots_[slot])] != text) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::int32_t Dictionary::find(std::string_view text) const {
  return slots_.empty() ? -1 : slots_[slot_of(text)];
}

std::int32_t Dictionary::add(std::string_view text) {
  if (slots_.size() < 2 * (texts_.size() + 1)) grow();
  const std::size_t slot = slot_of(text);
  if (slots_[slot] < 0) {
    slots_[slot] = size();
    texts_.emplace_back(text);
  }
  return slots_[slot];
}

void Dictionary::grow() {
  slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), -1);
  for (std::int32_t code = 0; code < size(); ++code) {
    slots_[slot_of(text(code))] = code;
  }
}

Column::Column(std::string name, ColumnType type, NumericStorage storage)
    : name_(std::move(name)), type_(type) {
  RADIR_CHECK(type != ColumnType::Skipped, ArgumentError, "Column ", name_,
              ": a skipped column has no values to store");
  if (storage == NumericStorage::Float) numbers_ = std::vector<float>();
}

Column::Column(std::string name, DateOrder order)
    : name_(std::move(name)), type_(ColumnType::Date), date_order_(order) {}

template <typename T>
T NumberView<T>::at(std::size_t i) const {
  if (i >= size()) throw std::out_of_range("NumberView::at");
  return (*this)[i];
}

template class NumberView<float>;
template class NumberView<double>;

Column::Column(std::string name, NumberView<float> numbers)
    : name_(std::move(name)),
      type_(ColumnType::Numeric),
      missing_(count_missing(numbers)),
      numbers_(numbers) {}

Column::Column(std::string name, NumberView<double> numbers)
    : name_(std::move(name)),
      type_(ColumnType::Numeric),
      missing_(count_missing(numbers)),
      numbers_(numbers) {}

std::int64_t Column::size() const {
  if (type_ == ColumnType::Categorical) {
    return static_cast<std::int64_t>(codes_.size());
  }
  return std::visit(
      [](const auto& values) {
        return static_cast<std::int64_t>(values.size());
      },
      numbers_);
}

bool Column::is_missing(std::int64_t row) const {
  return type_ == ColumnType::Categorical ? code(row) < 0
                                          : std::isnan(number(row));
}

double Column::number(std::int64_t row) const {
  return std::visit(
      [row](const auto& values) {
        return static_cast<double>(values.at(static_cast<std::size_t>(row)));
      },
      numbers_);
}

template <typename T>
void Column::copy_numbers(std::int64_t first, std::int64_t count, T* out,
                          std::int64_t stride) const {
  RADIR_CHECK(type_ != ColumnType::Categorical && first >= 0 && count >= 0 &&
                  count <= size() - first,
              ArgumentError, "Column::copy_numbers: rows ", first, " to ",
              first + count, " of the ", to_string(type_), " column ", name_,
              " were asked for, but it has ", size(), " rows");
  std::visit(
      [&](const auto& values) {
        for (std::int64_t i = 0; i < count; ++i) {
          out[i * stride] =
              static_cast<T>(values[static_cast<std::size_t>(first + i)]);
        }
      },
      numbers_);
}

template void Column::copy_numbers(std::int64_t, std::int64_t, float*,
                                   std::int64_t) const;
template void Column::copy_numbers(std::int64_t, std::int64_t, double*,
                                   std::int64_t) const;

std::int32_t Column::code(std::int64_t row) const {
  return codes_.at(static_cast<std::size_t>(row));
}

void Column::append_number(double value) {
  std::visit(
      [&](auto& values) {
        using Values = std::decay_t<decltype(values)>;
        using T = typename Values::value_type;
        if constexpr (std::is_same_v<Values, std::vector<T>>) {
          values.push_back(static_cast<T>(value));
        } else {
          RADIR_CHECK(false, ArgumentError, "column ", name_,
                      ": its numbers are not its own, so none can be appended");
        }
      },
      numbers_);
}

void Column::append_category(std::string_view text) {
  codes_.push_back(categories_.add(text));
}

void Column::append_missing() {
  if (type_ == ColumnType::Categorical) {
    codes_.push_back(-1);
  } else {
    append_number(std::numeric_limits<double>::quiet_NaN());
  }
  ++missing_;
}

std::size_t find_column(const std::string& source,
                        const std::vector<std::string>& names,
                        std::string_view reference) {
  const auto found = std::find(names.begin(), names.end(), reference);
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  if (reference == "last" && !names.empty()) return names.size() - 1;
  std::size_t number = 0;
  const char* const end = reference.data() + reference.size();
  const auto [rest, error] = std::from_chars(reference.data(), end, number);
  const bool is_number = rest == end && error == std::errc();
  if (is_number && number >= 1 && number <= names.size()) return number - 1;
  detail::throw_error<ArgumentError>(
      source, " has no column named \"", reference, "\"",
      is_number ? ", and " + std::to_string(names.size()) + " by number" : "",
      column_hint(reference, names));
}

std::string column_hint(std::string_view name,
                        const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  if (names.empty()) return "";
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    list += (i > 0 ? ", " : "") + files::excerpt(names[i]);
  }
  if (names.size() > kShown) {
    list += " and " + std::to_string(names.size() - kShown) + " more";
  }
  const std::string nearest = did_you_mean(name, names);
  return nearest.empty() ? "; its columns are " + list
                         : nearest + " (its columns are " + list + ")";
}

Table::Table(std::string source, std::vector<Column> columns,
             std::vector<std::string> file_columns)
    : source_(std::move(source)),
      columns_(std::move(columns)),
      file_columns_(std::move(file_columns)) {
  if (file_columns_.empty()) file_columns_ = column_names();
  std::set<std::string_view> names;
  for (const Column& column : columns_) {
    RADIR_CHECK(names.insert(column.name()).second, ArgumentError, source_,
                ": two columns are named \"", column.name(), "\"; rename one");
    RADIR_CHECK(column.size() == rows(), ArgumentError, source_, ": column \"",
                column.name(), "\" has ", column.size(), " rows, but \"",
                columns_.front().name(), "\" has ", rows());
  }
}

std::int64_t Table::rows() const {
  return columns_.empty() ? 0 : columns_.front().size();
}

std::vector<std::string> Table::column_names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name());
  return names;
}

std::size_t Table::column_index(std::string_view name) const {
  const auto found =
      std::find_if(columns_.begin(), columns_.end(),
                   [&](const Column& column) { return column.name() == name; });
  RADIR_CHECK(found != columns_.end(), ArgumentError, source_,
              " has no column named \"", name, "\"",
              column_hint(name, column_names()));
  return static_cast<std::size_t>(found - columns_.begin());
}

const Column& Table::column(std::string_view name) const {
  return columns_[column_index(name)];
}

std::optional<CellPosition> Table::first_missing() const {
  std::optional<CellPosition> first;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].missing() == 0) continue;
    const std::int64_t end = first ? first->row : rows();
    for (std::int64_t i = 0; i < end; ++i) {
      if (!columns_[j].is_missing(i)) continue;
      first = CellPosition{i, j};
      break;
    }
  }
  return first;
}

}  // namespace radir::data
