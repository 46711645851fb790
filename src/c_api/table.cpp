#include "c_api/table.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "c_api/guard.h"
#include "c_api/handles.h"
#include "radir/core/error.h"
#include "radir/data/table_source.h"

namespace radir::c_api {
namespace {

Handles<radir_table, TableObject>& tables() {
  static Handles<radir_table, TableObject> handles("table");
  return handles;
}

// 0001-01-01 and 10000-01-01.
constexpr double kFirstDay = -719162;
constexpr double kEndOfDays = 2932897;

/// A column of numbers that are not copied.
data::Column number_column(std::string name, radir_type type,
                           const void* values, std::int64_t offset,
                           std::int64_t count, std::int64_t stride) {
  switch (type) {
    case RADIR_FLOAT32:
      return {std::move(name),
              data::NumberView<float>(
                  static_cast<const float*>(values) + offset, count, stride)};
    case RADIR_FLOAT64:
      return {std::move(name),
              data::NumberView<double>(
                  static_cast<const double*>(values) + offset, count, stride)};
  }
  detail::throw_error<ArgumentError>(
      "numbers must be RADIR_FLOAT32 or RADIR_FLOAT64, not type ", type);
}

void check_numbers(const void* values, std::int64_t rows,
                   std::int64_t columns) {
  RADIR_CHECK(rows >= 0 && columns >= 0, ArgumentError, "a table cannot have ",
              rows, " rows and ", columns, " columns");
  if (rows > 0 && columns > 0) check_pointer(values, "values");
}

std::vector<std::string> texts_of(const char* const* texts, std::int64_t count,
                                  const char* name) {
  RADIR_CHECK(count >= 0, ArgumentError, "the number of ", name, " is ", count);
  if (count > 0) check_pointer(texts, name);
  std::vector<std::string> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(required_text(texts[i], name));
  }
  return result;
}

data::Column category_column(std::string name,
                             const std::vector<std::string>& categories,
                             const std::int32_t* codes, std::int64_t count) {
  RADIR_CHECK(count >= 0, ArgumentError, "the column ", name, " has ", count,
              " rows");
  if (count > 0) check_pointer(codes, "codes");
  data::Column column(std::move(name), data::ColumnType::Categorical);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t code = codes[i];
    RADIR_CHECK(
        code >= -1 && code < static_cast<std::int64_t>(categories.size()),
        ArgumentError, "the column ", column.name(), " has the code ", code,
        " in row ", i + 1, ", but ", categories.size(), " categories");
    if (code < 0) {
      column.append_missing();
    } else {
      column.append_category(categories[static_cast<std::size_t>(code)]);
    }
  }
  return column;
}

data::Column date_column(std::string name, const double* days,
                         std::int64_t count) {
  RADIR_CHECK(count >= 0, ArgumentError, "the column ", name, " has ", count,
              " rows");
  if (count > 0) check_pointer(days, "days");
  data::Column column(std::move(name), data::DateOrder::YearMonthDay);
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isnan(days[i])) {
      column.append_missing();
      continue;
    }
    RADIR_CHECK(days[i] >= kFirstDay && days[i] < kEndOfDays, ArgumentError,
                "the column ", column.name(), " has the date ", days[i],
                " in row ", i + 1, ": dates are days since 1970-01-01, from ",
                kFirstDay, " (the year 1) to ", kEndOfDays,
                " (the year 10000)");
    column.append_number(days[i]);
  }
  return column;
}

}  // namespace

void TableObject::add(std::vector<data::Column> columns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RADIR_CHECK(table_ == nullptr, ArgumentError, name_,
              ": the table has been used and takes no more columns");
  for (const data::Column& column : columns) {
    RADIR_CHECK(columns_.empty() || column.size() == columns_.front().size(),
                ArgumentError, name_, ": the column ", column.name(), " has ",
                column.size(), " rows, but those before it have ",
                columns_.front().size());
  }
  columns_.insert(columns_.end(), std::make_move_iterator(columns.begin()),
                  std::make_move_iterator(columns.end()));
}

std::shared_ptr<const data::Table> TableObject::table() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (table_ == nullptr) {
    RADIR_CHECK(!columns_.empty(), ArgumentError, name_,
                ": the table has no columns");
    // A copy first: columns that do not fit leave the table as it is.
    std::vector<data::Column> columns = columns_;
    table_ = std::make_shared<const data::Table>(name_, std::move(columns));
    columns_.clear();
  }
  return table_;
}

std::vector<data::Column> matrix_columns(radir_type type, const void* values,
                                         std::int64_t rows,
                                         std::int64_t columns,
                                         std::int64_t row_stride,
                                         std::int64_t column_stride,
                                         const char* const* names) {
  check_numbers(values, rows, columns);
  const auto texts = names == nullptr ? std::vector<std::string>()
                                      : texts_of(names, columns, "names");
  std::vector<data::Column> result;
  for (std::int64_t c = 0; c < columns; ++c) {
    result.push_back(
        number_column(names == nullptr ? "column_" + std::to_string(c + 1)
                                       : texts[static_cast<std::size_t>(c)],
                      type, values, c * column_stride, rows, row_stride));
  }
  return result;
}

std::shared_ptr<const data::Table> table_of(radir_table handle) {
  return tables().get(handle)->table();
}

// The functions of the interface.
extern "C" {

radir_status radir_table_create(const char* name, radir_table* table) {
  return guarded([&] {
    check_pointer(table, "table");
    *table = tables().add(
        std::make_shared<TableObject>(required_text(name, "name")));
  });
}

radir_status radir_table_read(const char* source, radir_table* table) {
  return guarded([&] {
    check_pointer(table, "table");
    *table = tables().add(std::make_shared<TableObject>(
        data::read_source(required_text(source, "source"))));
  });
}

radir_status radir_table_free(radir_table table) {
  return guarded([&] { tables().remove(table); });
}

radir_status radir_table_rows(radir_table table, int64_t* rows) {
  return guarded([&] {
    check_pointer(rows, "rows");
    *rows = table_of(table)->rows();
  });
}

radir_status radir_table_add_numbers(radir_table table, const char* name,
                                     radir_type type, const void* values,
                                     int64_t count, int64_t stride) {
  return guarded([&] {
    const auto object = tables().get(table);
    check_numbers(values, count, 1);
    object->add({number_column(required_text(name, "name"), type, values, 0,
                               count, stride)});
  });
}

radir_status radir_table_add_matrix(radir_table table, radir_type type,
                                    const void* values, int64_t rows,
                                    int64_t columns, int64_t row_stride,
                                    int64_t column_stride,
                                    const char* const* names) {
  return guarded([&] {
    tables().get(table)->add(matrix_columns(type, values, rows, columns,
                                            row_stride, column_stride, names));
  });
}

radir_status radir_table_add_categories(radir_table table, const char* name,
                                        const char* const* categories,
                                        int64_t category_count,
                                        const int32_t* codes, int64_t count) {
  return guarded([&] {
    const auto object = tables().get(table);
    object->add({category_column(
        required_text(name, "name"),
        texts_of(categories, category_count, "categories"), codes, count)});
  });
}

radir_status radir_table_add_dates(radir_table table, const char* name,
                                   const double* days, int64_t count) {
  return guarded([&] {
    const auto object = tables().get(table);
    object->add({date_column(required_text(name, "name"), days, count)});
  });
}

}  // extern "C"
}  // namespace radir::c_api
