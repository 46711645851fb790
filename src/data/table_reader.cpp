#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "data/date.h"
#include "data/number.h"
#include "data/row_reader.h"
#include "data/table_format.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/data/table.h"
#include "radir/files/byte_source.h"
#include "radir/files/utf8.h"

namespace radir::data {
namespace {

std::unique_ptr<files::ByteSource> open_table(const std::string& path) {
  return path == "-" ? files::standard_input_source()
                     : files::open_byte_source(path);
}

}  // namespace

struct TableReader::State {
  TableOptions options;
  RowReader rows;
  TableLayout layout;
  // For each column of the file, its index in the table; kSkipped if none.
  std::vector<std::size_t> place;
  std::size_t bytes_per_row = 0;
  double largest_number = std::numeric_limits<double>::max();

  static constexpr std::size_t kSkipped = static_cast<std::size_t>(-1);

  State(std::unique_ptr<files::ByteSource> source, TableOptions given)
      : options(std::move(given)),
        rows(std::move(source),
             {options.limits.cell_bytes, options.limits.row_bytes,
              options.limits.columns}) {
    check_separator();
    layout = find_layout(rows.name(), rows.head(), rows.head_is_all(), options);
    rows.set_format(layout.format.separator, layout.format.header);
    if (layout.names.empty()) explain_no_row();
    if (layout.format.header) rows.next();
    check_names();
    place_columns();
    if (options.storage == NumericStorage::Float) {
      largest_number = static_cast<double>(std::numeric_limits<float>::max());
    }
  }

  // Either the first row cannot be read, which `next` explains, or there are
  // only blank lines.
  [[noreturn]] void explain_no_row() {
    rows.next();
    detail::throw_error<IoError>(
        rows.name(), ": no row within the first ", options.limits.row_bytes,
        " bytes, only blank lines; a table with at least one row is needed");
  }

  void check_separator() const {
    if (!options.separator) return;
    const char separator = *options.separator;
    RADIR_CHECK(separator == ',' || separator == ';' || separator == '\t' ||
                    separator == kWhiteSpace || separator == '|' ||
                    separator == ':',
                ArgumentError, "TableOptions: the separator must be one of ",
                "comma, semicolon, tab, space, '|' and ':', but is byte ",
                static_cast<int>(separator));
  }

  void check_names() const {
    std::unordered_map<std::string_view, std::size_t> seen;
    for (std::size_t i = 0; i < layout.names.size(); ++i) {
      RADIR_CHECK(files::is_utf8(layout.names[i]), IoError, rows.where(i),
                  ": the name is not UTF-8; save the file as UTF-8 (iconv -f "
                  "latin1 -t utf-8)");
      const auto [other, is_new] = seen.emplace(layout.names[i], i);
      RADIR_CHECK(is_new, IoError, rows.name(), ": columns ", other->second + 1,
                  " and ", i + 1, " are both named ",
                  files::excerpt(layout.names[i]), "; rename one");
    }
  }

  void place_columns() {
    std::size_t next = 0;
    for (const ColumnType type : layout.types) {
      place.push_back(type == ColumnType::Skipped ? kSkipped : next++);
      if (type == ColumnType::Categorical) {
        bytes_per_row += sizeof(std::int32_t);
      } else if (type != ColumnType::Skipped) {
        const bool is_float = type == ColumnType::Numeric &&
                              options.storage == NumericStorage::Float;
        bytes_per_row += is_float ? 4 : 8;
      }
    }
  }

  void append_row(Table& table) const {
    const std::vector<std::string_view>& cells = rows.cells();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (place[i] == kSkipped) continue;
      Column& column = table.columns()[place[i]];
      if (layout.types[i] == ColumnType::Numeric) {
        append_number(column, cells[i], i);
      } else if (layout.types[i] == ColumnType::Date) {
        append_date(column, cells[i], i);
      } else {
        append_category(column, cells[i], i);
      }
    }
  }

  void append_number(Column& column, std::string_view cell,
                     std::size_t index) const {
    double value = 0;
    const char mark = layout.format.decimal_mark;
    CellKind kind = options.as_is ? parse_plain_cell(cell, mark, value)
                                  : parse_cell(cell, mark, value);
    if (std::fabs(value) > largest_number) kind = CellKind::TooLarge;
    switch (kind) {
      case CellKind::Number:
        column.append_number(value);
        return;
      case CellKind::Missing:
        column.append_missing();
        return;
      case CellKind::Text:
        RADIR_CHECK(false, IoError, describe(index), " is numeric, but holds ",
                    files::excerpt(cell), "; correct it", or_else(index),
                    column.size() == 0 && !layout.format.header
                        ? "; if this row holds names, say that there is a "
                          "header (--header yes)"
                        : "");
      case CellKind::TooLarge:
        RADIR_CHECK(false, IoError, describe(index), ": ", files::excerpt(cell),
                    " is not a finite number of at most ", largest_number,
                    "; correct it or leave it empty if it is missing");
    }
  }

  void append_date(Column& column, std::string_view cell,
                   std::size_t index) const {
    if (is_missing_text(cell)) {
      column.append_missing();
      return;
    }
    const auto days = parse_date(cell, column.date_order());
    RADIR_CHECK(days, IoError, describe(index), " holds dates (",
                choice_name(date_order_choices(), column.date_order()),
                "), but here ", files::excerpt(cell), "; correct it",
                or_else(index));
    column.append_number(*days);
  }

  /// What else to do about a text than to correct it. A model needs columns of
  /// the types that it was trained on.
  std::string or_else(std::size_t index) const {
    const std::string& name = layout.names[index];
    if (options.types.count(name) > 0) {
      return " or leave it empty if it is missing";
    }
    return ", leave it empty if it is missing, or declare the column "
           "categorical (--categorical " +
           shell_word(name) + ")";
  }

  void append_category(Column& column, std::string_view cell,
                       std::size_t index) const {
    if (is_missing_text(cell)) {
      column.append_missing();
      return;
    }
    const std::int32_t known = column.categories().size();
    column.append_category(cell);
    if (column.categories().size() == known) return;
    RADIR_CHECK(known < options.limits.categories, IoError, describe(index),
                " has more different values than the limit of ",
                options.limits.categories, "; leave the column out");
    RADIR_CHECK(files::is_utf8(cell), IoError, describe(index),
                ": the text is not UTF-8; save the file as UTF-8 (iconv -f "
                "latin1 -t utf-8)");
  }

  std::string describe(std::size_t index) const {
    return rows.where(index) + " " + files::excerpt(layout.names[index]);
  }

  void check_size(const Table& table) const {
    const auto bytes = static_cast<std::size_t>(table.rows()) * bytes_per_row;
    RADIR_CHECK(bytes <= options.limits.table_bytes, IoError, rows.where(),
                ": the table takes more memory than the limit of ",
                options.limits.table_bytes,
                " bytes; use fewer rows or columns");
  }
};

TableReader::TableReader(const std::string& path, TableOptions options)
    : TableReader(open_table(path), std::move(options)) {}

TableReader::TableReader(std::unique_ptr<files::ByteSource> source,
                         TableOptions options)
    : state_(std::make_unique<State>(std::move(source), std::move(options))) {}

TableReader::~TableReader() = default;
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;

const TableFormat& TableReader::format() const { return state_->layout.format; }

const std::vector<std::string>& TableReader::column_names() const {
  return state_->layout.names;
}

const std::vector<ColumnType>& TableReader::column_types() const {
  return state_->layout.types;
}

Table TableReader::empty_table() const {
  const TableLayout& layout = state_->layout;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.types[i] == ColumnType::Skipped) continue;
    if (layout.types[i] == ColumnType::Date) {
      columns.emplace_back(layout.names[i], layout.date_orders[i]);
    } else {
      columns.emplace_back(layout.names[i], layout.types[i],
                           state_->options.storage);
    }
    columns.back().set_use(layout.uses[i]);
  }
  return Table(state_->rows.name(), std::move(columns), layout.names);
}

std::int64_t TableReader::read(Table& table, std::int64_t max_rows) {
  std::int64_t count = 0;
  while (count < max_rows && state_->rows.next()) {
    state_->append_row(table);
    ++count;
    if (count % 1024 == 0) state_->check_size(table);
  }
  return count;
}

Table read_table(std::unique_ptr<files::ByteSource> source,
                 const TableOptions& options) {
  TableReader reader(std::move(source), options);
  Table table = reader.empty_table();
  const std::int64_t rows =
      reader.read(table, std::numeric_limits<std::int64_t>::max());
  RADIR_CHECK(rows > 0, IoError, table.source(),
              ": there is a header but no row below it; if the first line is "
              "data, say that there is no header (--header no)");
  return table;
}

Table read_table(const std::string& path, const TableOptions& options) {
  return read_table(open_table(path), options);
}

}  // namespace radir::data
