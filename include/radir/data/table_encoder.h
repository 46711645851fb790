#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/data/column_code.h"
#include "radir/data/column_reading.h"
#include "radir/data/table.h"
#include "radir/train/trainer.h"

namespace radir::data {

struct FittedColumn;

/// What to do with missing values.
enum class MissingValues {
  Refuse,  ///< an error that names the first one
  Mean,    ///< an input takes the training mean; a row without target is
           ///< dropped
  Drop,    ///< drop the row
  /// As Mean, and columns with missing values in the training rows have one
  /// more input, which says where.
  Indicator,
};

/// Their names in files and on the command line.
const Choices<MissingValues>& missing_value_choices();
const char* to_string(MissingValues policy);

/// Values of a category that were not in the training rows.
struct UnseenLevels {
  std::string column;
  std::int64_t count = 0;      ///< rows that have one
  std::int64_t first_row = 0;  ///< of these, in the table
  std::string first_text;      ///< what it says there
};

/// Rows ready for training or prediction. Memory: 4 bytes per input number.
struct EncodedRows {
  std::int64_t count = 0;
  std::vector<float> inputs;         ///< count x TableEncoder::input_size()
  std::vector<float> targets;        ///< standardised, for numeric targets
  std::vector<std::int64_t> labels;  ///< for categorical targets
  /// Index in the table of each row that is here, in order.
  std::vector<std::int64_t> table_rows;
  /// Of each column that has some.
  std::vector<UnseenLevels> unseen;

  train::DataView<float> view() const;
};

/// How a table becomes numbers: the columns, their means and scales, the order
/// of their categories. Fitted on training rows, then kept with the
/// model.
class TableEncoder {
 public:
  /// Learns from `rows` of the table (all of them without). Columns that can
  /// teach nothing are ignored; columns() says which and why: those that are
  /// constant there, text of which almost every row has its own, and integers
  /// that number the rows and are named so (ColumnUse changes that). Throws
  /// ArgumentError for a target that is not a column (suggesting the nearest
  /// name), IoError naming row and column for a missing value under
  /// MissingValues::Refuse, for a target that is constant or a date, or a table
  /// in which no row or no input is left.
  static TableEncoder fit(const Table& table, const std::string& target,
                          MissingValues missing = MissingValues::Refuse);
  static TableEncoder fit(const Table& table, const std::string& target,
                          MissingValues missing,
                          const std::vector<std::int64_t>& rows);
  /// A categorical target has the classes of `class_rows`, which may be more
  /// than those of `rows`.
  static TableEncoder fit(const Table& table, const std::string& target,
                          MissingValues missing,
                          const std::vector<std::int64_t>& rows,
                          const std::vector<std::int64_t>& class_rows);

  /// The encoder of the inputs that are kept alone, one flag per input column.
  /// Throws ArgumentError unless there are as many, and one is kept.
  TableEncoder with_inputs(const std::vector<bool>& kept) const;

  /// The encoder with up to `count` pieces (NumberPiece) of every numeric input
  /// column, between quantiles of `rows` of the table that it was fitted to.
  /// Throws ArgumentError unless `count` is from 2 to kMostPieces.
  static constexpr std::int64_t kMostPieces = 1000;
  TableEncoder with_pieces(const Table& table,
                           const std::vector<std::int64_t>& rows,
                           std::int64_t count) const;

  /// The encoder with a target on a logarithmic scale
  /// (likelihood::TargetTransform), fitted to `rows` of the table that it was
  /// fitted to. Throws ArgumentError for a target that is not a number, IoError
  /// that names the row for one below 0.
  TableEncoder with_log_target(const Table& table,
                               const std::vector<std::int64_t>& rows) const;
  /// Whether the target is a number that a logarithm may describe better: not
  /// below 0 in any of the rows, with a long upper tail, and with a resolution
  /// of at most a tenth of its median, which leaves out small counts.
  bool has_skewed_target(const Table& table,
                         const std::vector<std::int64_t>& rows) const;

  /// From a JSON object made by to_json(). Throws IoError when it is invalid.
  static TableEncoder from_json(const std::string& text);
  std::string to_json() const;

  const std::vector<ColumnCode>& inputs() const { return inputs_; }
  bool has_pieces() const;
  const ColumnCode& target() const { return target_; }
  MissingValues missing() const { return missing_; }
  bool is_classification() const;
  /// Of the rows of fit(), the share that have the most frequent value of a
  /// numeric target; 0 for an encoder that was read.
  double repeated_share() const { return repeated_share_; }
  std::int64_t input_size() const { return input_size_; }
  /// Messages about the rows and columns that fit() ignored, and hints.
  std::vector<std::string> notes() const;
  /// How each column of the table was read (see describe_columns).
  const std::vector<ColumnReading>& columns() const { return columns_; }

  /// A column that is no input and names the rows of predictions; empty for
  /// none.
  const std::string& id() const { return id_; }
  /// Throws ArgumentError when it is the target or an input.
  void set_id(std::string name);

  /// Says in columns() why a column is no input.
  void set_note(const std::string& column, const std::string& note);

  /// Options under which a reader gives the columns the encoder needs, with the
  /// types it needs, and the id, as text; it skips all others.
  TableOptions reader_options(bool with_target) const;
  /// Checks a table's columns before its rows are read: IoError that names the
  /// columns that are missing (the id may be). Returns the unused ones.
  std::vector<std::string> check_columns(const std::string& source,
                                         const std::vector<std::string>& names,
                                         bool with_target) const;

  /// Encodes rows of a table. Messages count rows from `first_row` + 1. Throws
  /// IoError naming row and column for a class that was not in the training
  /// rows, and for missing values as in fit(). Other categories that were not
  /// there become "other" (no input of their own); EncodedRows::unseen counts
  /// them.
  EncodedRows encode(const Table& table, bool with_target,
                     std::int64_t first_row = 0) const;
  EncodedRows encode(const Table& table, bool with_target,
                     const std::vector<std::int64_t>& rows,
                     std::int64_t first_row = 0) const;

 private:
  void add_input(FittedColumn fitted);

  std::vector<ColumnCode> inputs_;
  ColumnCode target_;
  MissingValues missing_ = MissingValues::Refuse;
  double repeated_share_ = 0;
  std::int64_t input_size_ = 0;
  std::string id_;
  std::vector<std::string> remarks_;  // notes that are not about a column
  std::vector<ColumnReading> columns_;
};

}  // namespace radir::data
