#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/data/table.h"
#include "radir/train/trainer.h"

namespace radir::data {

/// What to do with missing values.
enum class MissingValues {
  Refuse,  ///< an error that names the first one
  Mean,    ///< an input takes the training mean; a row without target is
           ///< dropped
  Drop,    ///< drop the row
};

/// Their names in files and on the command line.
const Choices<MissingValues>& missing_value_choices();
const char* to_string(MissingValues policy);

/// One column as the network sees it.
struct ColumnCode {
  std::string name;
  ColumnType type = ColumnType::Numeric;
  /// Numeric: the standardised value is (value - mean) / scale.
  double mean = 0;
  double scale = 1;
  /// Categorical: one input (or class) each, 1 for the row's own, 0 for others.
  std::vector<std::string> categories;

  /// Numbers the network receives for the column.
  std::int64_t width() const;
};

/// Rows ready for training or prediction. Memory: 4 bytes per input number.
struct EncodedRows {
  std::int64_t count = 0;
  std::vector<float> inputs;         ///< count x TableEncoder::input_size()
  std::vector<float> targets;        ///< standardised, for numeric targets
  std::vector<std::int64_t> labels;  ///< for categorical targets
  /// Index in the table of each row that is here, in order.
  std::vector<std::int64_t> table_rows;

  train::DataView<float> view() const;
};

/// How a table becomes numbers: the columns, their means and scales, the order
/// of their categories. Fitted on training rows, then kept with the
/// model.
class TableEncoder {
 public:
  /// Learns from `rows` of the table (all of them without). Columns that are
  /// constant there are ignored; notes() says which. Throws ArgumentError for
  /// a target that is not a column (suggesting the nearest name), IoError
  /// naming row and column for a missing value under MissingValues::Refuse, for
  /// a target that is constant or a table in which no row or no input is left.
  static TableEncoder fit(const Table& table, const std::string& target,
                          MissingValues missing = MissingValues::Refuse);
  static TableEncoder fit(const Table& table, const std::string& target,
                          MissingValues missing,
                          const std::vector<std::int64_t>& rows);

  /// From a JSON object made by to_json(). Throws IoError when it is invalid.
  static TableEncoder from_json(const std::string& text);
  std::string to_json() const;

  const std::vector<ColumnCode>& inputs() const { return inputs_; }
  const ColumnCode& target() const { return target_; }
  MissingValues missing() const { return missing_; }
  bool is_classification() const;
  std::int64_t input_size() const { return input_size_; }
  /// Messages about the rows and columns that fit() ignored.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Options under which a reader gives the columns the encoder needs, with the
  /// types it needs, and skips all others.
  TableOptions reader_options(bool with_target) const;
  /// Checks a table's columns before its rows are read: IoError that names the
  /// columns that are missing. Returns the unused ones.
  std::vector<std::string> check_columns(const std::string& source,
                                         const std::vector<std::string>& names,
                                         bool with_target) const;

  /// Encodes rows of a table. Messages count rows from `first_row` + 1. Throws
  /// IoError naming row and column for a category that was not in the training
  /// rows, and for missing values as in fit().
  EncodedRows encode(const Table& table, bool with_target,
                     std::int64_t first_row = 0) const;
  EncodedRows encode(const Table& table, bool with_target,
                     const std::vector<std::int64_t>& rows,
                     std::int64_t first_row = 0) const;

 private:
  std::vector<ColumnCode> inputs_;
  ColumnCode target_;
  MissingValues missing_ = MissingValues::Refuse;
  std::int64_t input_size_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace radir::data
