#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "radir/core/settings.h"
#include "radir/files/byte_source.h"

namespace radir::data {

/// What a column holds. A `Date` is stored as a number of days since
/// 1970-01-01. `Skipped` columns are not stored.
enum class ColumnType { Numeric, Categorical, Date, Skipped };

const char* to_string(ColumnType type);

/// How the text of a date is laid out: 2024-01-31, 31.12.2023, 12/31/2023, each
/// with or without a time behind it, or 17:30 alone.
enum class DateOrder { YearMonthDay, DayMonthYear, MonthDayYear, TimeOfDay };

/// Their names in files.
const Choices<DateOrder>& date_order_choices();

/// What an encoder may do with a column.
enum class ColumnUse {
  Judged,    ///< leave it out where it can teach nothing, as an id
  Required,  ///< use it whatever it holds: it was asked for by name
  AsIs,      ///< the same, with one input per category, as version 0.1 did
};

/// How numbers are stored: 4 bytes (7 digits) or 8 (16 digits).
enum class NumericStorage { Float, Double };

/// The distinct values of a categorical column, numbered from 0 in the order in
/// which they were first seen.
class Dictionary {
 public:
  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }
  const std::string& text(std::int32_t code) const {
    return texts_.at(static_cast<std::size_t>(code));
  }
  /// The number of `text`, or -1 when it has none.
  std::int32_t find(std::string_view text) const;
  /// The number of `text`, a new one when it had none.
  std::int32_t add(std::string_view text);

 private:
  std::size_t slot_of(std::string_view text) const;
  void grow();

  std::vector<std::string> texts_;
  // Open addressing: codes by hash, -1 where free; a power of two long.
  std::vector<std::int32_t> slots_;
};

/// Numbers that somebody else owns, each `stride` behind the one before: a
/// column of a matrix, say.
template <typename T>
class NumberView {
 public:
  using value_type = T;

  NumberView(const T* first, std::int64_t count, std::int64_t stride)
      : first_(first), count_(count), stride_(stride) {}

  std::size_t size() const { return static_cast<std::size_t>(count_); }
  T operator[](std::size_t i) const {
    return first_[static_cast<std::int64_t>(i) * stride_];
  }
  /// Throws std::out_of_range as std::vector does.
  T at(std::size_t i) const;

 private:
  const T* first_;
  std::int64_t count_;
  std::int64_t stride_;
};

/// One column of a table: numbers, or codes of categories. Missing values are
/// NaN and -1.
class Column {
 public:
  /// Numbers that are not copied; they must outlive the column, to which
  /// nothing can be appended.
  Column(std::string name, NumberView<float> numbers);
  Column(std::string name, NumberView<double> numbers);
  /// Throws ArgumentError for ColumnType::Skipped.
  Column(std::string name, ColumnType type,
         NumericStorage storage = NumericStorage::Double);
  /// Dates, whose text has this order.
  Column(std::string name, DateOrder order);

  const std::string& name() const { return name_; }
  ColumnType type() const { return type_; }
  /// Of a column of dates.
  DateOrder date_order() const { return date_order_; }
  ColumnUse use() const { return use_; }
  void set_use(ColumnUse use) { use_ = use; }
  std::int64_t size() const;
  /// How many values are missing.
  std::int64_t missing() const { return missing_; }
  bool is_missing(std::int64_t row) const;

  /// The number in `row`, NaN when missing; of columns of numbers or dates.
  double number(std::int64_t row) const;
  /// Numbers `first` ... `first + count - 1` to out[0], out[stride], ...
  template <typename T>
  void copy_numbers(std::int64_t first, std::int64_t count, T* out,
                    std::int64_t stride = 1) const;
  /// The category's code in `row`, -1 when missing; of categorical columns.
  std::int32_t code(std::int64_t row) const;
  const Dictionary& categories() const { return categories_; }

  // They throw ArgumentError for a column of numbers that are not copied.
  void append_number(double value);
  void append_category(std::string_view text);
  void append_missing();

 private:
  std::string name_;
  ColumnType type_;
  DateOrder date_order_ = DateOrder::YearMonthDay;
  ColumnUse use_ = ColumnUse::Judged;
  std::int64_t missing_ = 0;
  std::variant<std::vector<double>, std::vector<float>, NumberView<double>,
               NumberView<float>>
      numbers_;
  std::vector<std::int32_t> codes_;
  Dictionary categories_;
};

/// A cell by its row and column, both from 0.
struct CellPosition {
  std::int64_t row;
  std::size_t column;
};

/// The index of the column that `reference` means: one of `names`, "last", or
/// a number from 1. Throws ArgumentError, which begins with `source`, names the
/// nearest and lists the first few.
std::size_t find_column(const std::string& source,
                        const std::vector<std::string>& names,
                        std::string_view reference);

/// `; did you mean "NAME"?` where a name is near, and the first few names.
std::string column_hint(std::string_view name,
                        const std::vector<std::string>& names);

/// Columns of equal length with different names.
class Table {
 public:
  /// `source` is the name messages use. `file_columns` are the names of all
  /// columns of the file, those that are not stored included; without them the
  /// table has no others. Throws ArgumentError when two columns share a name or
  /// differ in length.
  Table(std::string source, std::vector<Column> columns,
        std::vector<std::string> file_columns = {});

  const std::string& source() const { return source_; }
  /// Names of all columns of the file, in its order.
  const std::vector<std::string>& file_columns() const { return file_columns_; }
  std::int64_t rows() const;
  const std::vector<Column>& columns() const { return columns_; }
  std::vector<Column>& columns() { return columns_; }
  std::vector<std::string> column_names() const;
  /// Index of the column called `name`; throws ArgumentError that suggests the
  /// nearest name and lists the first few.
  std::size_t column_index(std::string_view name) const;
  const Column& column(std::string_view name) const;
  /// The first missing value, row by row, or nothing.
  std::optional<CellPosition> first_missing() const;

 private:
  std::string source_;
  std::vector<Column> columns_;
  std::vector<std::string> file_columns_;
};

/// How the text of a table is laid out.
struct TableFormat {
  char separator = ',';     ///< ',', ';', tab, or ' ' for any white space
  bool header = false;      ///< the first row holds names
  char decimal_mark = '.';  ///< ',' in files of some countries
};

/// Sizes beyond which a file is rejected.
struct TableLimits {
  std::size_t cell_bytes = std::size_t{1} << 20;
  std::size_t row_bytes = std::size_t{1} << 22;
  std::size_t columns = 100'000;
  std::int32_t categories = 1'000'000;  ///< different values per column
  std::size_t table_bytes = std::size_t{1} << 36;  ///< numbers and codes
};

/// What the reader is told; it finds the rest itself.
struct TableOptions {
  std::optional<char> separator;  ///< as in TableFormat
  std::optional<bool> header;
  /// Types of columns by name; names that are not in the table are ignored.
  std::map<std::string, ColumnType, std::less<>> types;
  /// Layout of dates by name, where `types` says Date.
  std::map<std::string, DateOrder, std::less<>> date_orders;
  // References as find_column takes them; one that means no column throws
  // ArgumentError.
  std::vector<std::string> categorical;  ///< read as categories
  std::vector<std::string> skip;         ///< not stored
  /// If there are any, all others are not stored; these are always used.
  std::vector<std::string> only;
  /// Stored even if it is not among `only`; empty for none.
  std::string target;
  /// As version 0.1: numbers are plain, dates are text and every column is used
  /// (ColumnUse::AsIs).
  bool as_is = false;
  /// Type of all columns not in `types`.
  std::optional<ColumnType> other_types;
  NumericStorage storage = NumericStorage::Double;
  TableLimits limits;
};

/// Reads a table from text, plain or gzip, a batch of rows at a time, in memory
/// bounded by the batch.
///
/// The format is found in the first rows. The separator is the one of tab,
/// semicolon and comma that cuts most of them, and more than half, into the
/// same number of cells, at least two; failing these, white space. The first
/// row is a header when it has no number and either text over a column of
/// numbers or only text that its columns never repeat. A column is numeric
/// when more than half of its values there are numbers and the others look like
/// slips (each different, or fewer than a tenth). It holds dates when all of
/// its values there are dates of one DateOrder, and only one; else categories.
/// Numbers may have separators of thousands, a percent sign and a currency sign
/// (1,234 is 1234, "5 %" is 5, "$3.20" is 3.2). Missing
/// values are empty cells, "?", "NA", "N/A", "#N/A", "NaN", "null" and "none",
/// in any case. Blank lines are skipped. Columns without a name are called
/// column_1, column_2, ...
///
/// Every fault throws IoError with file, row, line and column: text or an
/// infinity in a numeric column, rows of different lengths, quotes that do not
/// close, text that is not UTF-8, zero bytes, no rows, equal names, and
/// anything beyond the limits.
class TableReader {
 public:
  /// "-" is standard input.
  explicit TableReader(const std::string& path, TableOptions options = {});
  explicit TableReader(std::unique_ptr<files::ByteSource> source,
                       TableOptions options = {});
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  const TableFormat& format() const;
  /// Names of all columns of the file, skipped ones included.
  const std::vector<std::string>& column_names() const;
  /// Types of all columns of the file.
  const std::vector<ColumnType>& column_types() const;

  /// A table with the columns that are not skipped and no rows.
  Table empty_table() const;
  /// Appends up to `max_rows` rows to a table made by `empty_table` and returns
  /// how many; 0 at the end of the file.
  std::int64_t read(Table& table, std::int64_t max_rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The complete table; throws IoError when it has no rows.
Table read_table(const std::string& path, const TableOptions& options = {});
Table read_table(std::unique_ptr<files::ByteSource> source,
                 const TableOptions& options = {});

}  // namespace radir::data
