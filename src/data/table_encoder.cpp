#include "radir/data/table_encoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/column_coding.h"
#include "data/target_hints.h"
#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/nearest_name.h"
#include "radir/files/utf8.h"

namespace radir::data {
namespace {

RowNumbers all_rows(const Table& table) {
  RowNumbers rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::string cell_name(const Table& table, const Column& column,
                      std::int64_t row) {
  return table.source() + ": row " + std::to_string(row + 1) + ", column \"" +
         column.name() + "\"";
}

[[noreturn]] void refuse_missing(const Table& table, const Column& column,
                                 std::int64_t row) {
  detail::throw_error<IoError>(
      cell_name(table, column, row),
      ": the value is missing; fill it in, or train with --missing indicator "
      "(use the column's mean and tell the network) or --missing drop (ignore "
      "such rows)");
}

[[noreturn]] void refuse_category(const Table& table, const Column& column,
                                  const ColumnCode& code, std::int64_t row,
                                  std::int64_t first_row) {
  const std::string& text = column.categories().text(column.code(row));
  const std::string meant = radir::did_you_mean(text, code.categories);
  detail::throw_error<IoError>(
      cell_name(table, column, row + first_row), ": the category \"", text,
      "\" was not in the training data, which had ", code.categories.size(),
      " others",
      meant.empty() ? "; correct it, or leave it empty to leave the row out"
                    : meant);
}

bool lacks_value(const std::vector<const Column*>& columns, std::int64_t row) {
  return std::any_of(columns.begin(), columns.end(),
                     [row](const Column* column) {
                       return column->missing() > 0 && column->is_missing(row);
                     });
}

/// Refuses the first row of the table, of `rows`, that lacks a value.
void check_complete(const Table& table,
                    const std::vector<const Column*>& columns,
                    const RowNumbers& rows, std::int64_t first_row) {
  std::int64_t first = table.rows();
  for (const std::int64_t row : rows) {
    if (row < first && lacks_value(columns, row)) first = row;
  }
  if (first == table.rows()) return;
  for (const Column* column : columns) {
    if (lacks_value({column}, first)) {
      refuse_missing(table, *column, first + first_row);
    }
  }
}

/// The rows that stay under a policy.
RowNumbers kept_rows(const Table& table,
                     const std::vector<const Column*>& inputs,
                     const Column* target, MissingValues missing,
                     const RowNumbers& rows, std::int64_t first_row) {
  std::vector<const Column*> all = inputs;
  if (target != nullptr) all.push_back(target);
  if (missing == MissingValues::Refuse) {
    check_complete(table, all, rows, first_row);
    return rows;
  }
  RowNumbers kept;
  kept.reserve(rows.size());
  for (std::int64_t row : rows) {
    const bool dropped = missing == MissingValues::Drop
                             ? lacks_value(all, row)
                             : target != nullptr && lacks_value({target}, row);
    if (!dropped) kept.push_back(row);
  }
  return kept;
}

RowNumbers encode_labels(const Table& table, const Column& column,
                         const ColumnCode& code, const RowNumbers& rows,
                         std::int64_t first_row) {
  const auto indices = category_indices(column, code.categories);
  RowNumbers labels;
  labels.reserve(rows.size());
  for (std::int64_t row : rows) {
    labels.push_back(indices[static_cast<std::size_t>(column.code(row))]);
    if (labels.back() < 0) {
      refuse_category(table, column, code, row, first_row);
    }
  }
  return labels;
}

ColumnReading reading_of(const FittedColumn& fitted, ColumnRole role) {
  ColumnReading reading;
  reading.name = fitted.code.name;
  reading.role = fitted.ignored.empty() ? role : ColumnRole::Ignored;
  reading.type = fitted.code.type;
  reading.levels = fitted.levels;
  reading.missing = fitted.missing;
  reading.note = fitted.ignored.empty() ? fitted.note : fitted.ignored;
  if (reading.role == ColumnRole::Input) reading.inputs = fitted.code.width();
  return reading;
}

/// Why no row is left.
[[noreturn]] void refuse_all_rows(const Table& table,
                                  const std::vector<const Column*>& inputs,
                                  const Column& target) {
  RADIR_CHECK(target.missing() < target.size(), IoError, table.source(),
              ": the target \"", target.name(), "\" has no value in any row; ",
              "there is nothing to learn from");
  std::vector<const Column*> all = inputs;
  all.push_back(&target);
  const Column* const emptiest = *std::max_element(
      all.begin(), all.end(), [](const Column* a, const Column* b) {
        return a->missing() < b->missing();
      });
  detail::throw_error<IoError>(
      table.source(), ": every row has a missing value (", emptiest->missing(),
      " of ", emptiest->size(), " in column \"", emptiest->name(),
      "\"); exclude columns that are mostly empty, or train with --missing ",
      "indicator (use the column's mean and tell the network)");
}

/// Why no input is left.
[[noreturn]] void refuse_all_ignored(
    const Table& table, const std::vector<ColumnReading>& columns) {
  RADIR_CHECK(columns.size() > 1, IoError, table.source(), ": the target \"",
              columns.front().name, "\" is the only column; a table needs ",
              "another to predict it from");
  std::string reasons;
  bool all_constant = true, any_judged = false;
  for (const ColumnReading& column : columns) {
    if (column.role != ColumnRole::Ignored) continue;
    const bool judged = column.type != ColumnType::Skipped;
    any_judged = any_judged || judged;
    all_constant = all_constant && (!judged || column.note == kConstantColumn);
    if (reasons.size() > 200) continue;
    reasons += (reasons.empty() ? "" : "; ") + files::excerpt(column.name) +
               ": " + column.note;
  }
  RADIR_CHECK(any_judged, IoError, table.source(), ": no column is left as an ",
              "input; exclude fewer, or include others");
  RADIR_CHECK(!all_constant, IoError, table.source(),
              ": all columns except the target are constant; there is nothing ",
              "to learn from");
  detail::throw_error<IoError>(
      table.source(), ": every column except the target was ignored (", reasons,
      "); name the columns to use with --include");
}

}  // namespace

const Choices<MissingValues>& missing_value_choices() {
  static const Choices<MissingValues> choices = {
      {MissingValues::Indicator, "indicator"},
      {MissingValues::Refuse, "refuse"},
      {MissingValues::Mean, "mean"},
      {MissingValues::Drop, "drop"}};
  return choices;
}

const char* to_string(MissingValues policy) {
  return choice_name(missing_value_choices(), policy);
}

train::DataView<float> EncodedRows::view() const {
  train::DataView<float> view;
  view.inputs = inputs.data();
  if (!targets.empty()) view.targets = targets.data();
  if (!labels.empty()) view.labels = labels.data();
  view.count = count;
  return view;
}

bool TableEncoder::is_classification() const {
  return target_.type == ColumnType::Categorical;
}

TableEncoder TableEncoder::fit(const Table& table, const std::string& target,
                               MissingValues missing) {
  return fit(table, target, missing, all_rows(table));
}

TableEncoder TableEncoder::fit(const Table& table, const std::string& target,
                               MissingValues missing, const RowNumbers& rows) {
  return fit(table, target, missing, rows, rows);
}

TableEncoder TableEncoder::fit(const Table& table, const std::string& target,
                               MissingValues missing,
                               const RowNumbers& given_rows,
                               const RowNumbers& class_rows) {
  const Column& target_column = table.column(target);
  RADIR_CHECK(
      target_column.type() != ColumnType::Date, IoError, table.source(),
      ": the target \"", target,
      "\" is a date, which cannot be predicted; replace it by a number, ",
      "such as the days since another date");
  std::vector<const Column*> input_columns;
  for (const Column& column : table.columns()) {
    if (column.name() != target) input_columns.push_back(&column);
  }
  const RowNumbers rows =
      kept_rows(table, input_columns, &target_column, missing, given_rows, 0);
  if (rows.empty()) refuse_all_rows(table, input_columns, target_column);

  TableEncoder encoder;
  encoder.missing_ = missing;
  if (rows.size() < given_rows.size()) {
    encoder.remarks_.push_back(
        "ignored " + std::to_string(given_rows.size() - rows.size()) + " of " +
        std::to_string(given_rows.size()) + " rows with a missing " +
        (missing == MissingValues::Drop ? "value" : "target"));
  }
  const bool has_classes = target_column.type() == ColumnType::Categorical;
  FittedColumn fitted_target =
      fit_target(table, target_column,
                 has_classes ? kept_rows(table, input_columns, &target_column,
                                         missing, class_rows, 0)
                             : rows);
  RADIR_CHECK(!is_constant(fitted_target.code), IoError, table.source(),
              ": the target \"", target,
              "\" has the same value in every row; there is nothing to learn");
  std::string hint = has_classes ? rare_classes_hint(fitted_target, rows)
                                 : classes_hint(target_column, rows);
  if (!hint.empty()) encoder.remarks_.push_back(std::move(hint));
  if (!has_classes) {
    encoder.repeated_share_ = share_of_most_frequent(target_column, rows);
  }
  encoder.target_ = fitted_target.code;
  auto column = table.columns().begin();  // they have the order of the file
  for (const std::string& name : table.file_columns()) {
    if (column == table.columns().end() || column->name() != name) {
      encoder.columns_.push_back({name, ColumnRole::Ignored,
                                  ColumnType::Skipped, 0, 0, 0,
                                  "not asked for"});
      continue;
    }
    if (name == target) {
      encoder.columns_.push_back(reading_of(fitted_target, ColumnRole::Target));
    } else {
      encoder.add_input(fit_input(table, *column, rows, missing));
    }
    ++column;
  }
  if (encoder.inputs_.empty()) refuse_all_ignored(table, encoder.columns_);
  return encoder;
}

void TableEncoder::add_input(FittedColumn fitted) {
  columns_.push_back(reading_of(fitted, ColumnRole::Input));
  if (!fitted.ignored.empty()) return;
  input_size_ += fitted.code.width();
  inputs_.push_back(std::move(fitted.code));
}

std::vector<std::string> TableEncoder::notes() const {
  std::vector<std::string> notes = remarks_;
  for (const ColumnReading& column : columns_) {
    if (column.role != ColumnRole::Ignored ||
        column.type == ColumnType::Skipped) {
      continue;
    }
    notes.push_back("ignored column \"" + column.name + "\": " + column.note);
  }
  return notes;
}

void TableEncoder::set_id(std::string name) {
  const auto is_id = [&](const ColumnCode& code) { return code.name == name; };
  RADIR_CHECK(
      !is_id(target_) && std::none_of(inputs_.begin(), inputs_.end(), is_id),
      ArgumentError, "the column \"", name,
      "\" names the rows, so it can be neither target nor input");
  for (ColumnReading& column : columns_) {
    if (column.name != name) continue;
    column.role = ColumnRole::Id;
    column.note = kIdColumn;
  }
  id_ = std::move(name);
}

void TableEncoder::set_note(const std::string& name, const std::string& note) {
  for (ColumnReading& column : columns_) {
    if (column.name == name) column.note = note;
  }
}

TableEncoder TableEncoder::with_inputs(const std::vector<bool>& kept) const {
  RADIR_CHECK(kept.size() == inputs_.size() &&
                  std::find(kept.begin(), kept.end(), true) != kept.end(),
              ArgumentError, "with_inputs: needs a flag for each of ",
              inputs_.size(), " inputs, one of them set, but got ",
              kept.size());
  TableEncoder result = *this;
  result.inputs_.clear();
  result.input_size_ = 0;
  for (std::size_t c = 0; c < kept.size(); ++c) {
    if (!kept[c]) continue;
    result.inputs_.push_back(inputs_[c]);
    result.input_size_ += inputs_[c].width();
  }
  const auto is_gone = [&](const ColumnReading& column) {
    return column.role == ColumnRole::Input &&
           std::none_of(result.inputs_.begin(), result.inputs_.end(),
                        [&](const ColumnCode& code) {
                          return code.name == column.name;
                        });
  };
  result.columns_.erase(
      std::remove_if(result.columns_.begin(), result.columns_.end(), is_gone),
      result.columns_.end());
  return result;
}

TableEncoder TableEncoder::with_pieces(const Table& table,
                                       const RowNumbers& rows,
                                       std::int64_t count) const {
  RADIR_CHECK(count >= 2 && count <= kMostPieces, ArgumentError,
              "with_pieces: the number of pieces must be from 2 to ",
              kMostPieces, ", but is ", count);
  TableEncoder result = *this;
  result.input_size_ = 0;
  for (ColumnCode& code : result.inputs_) {
    if (code.type == ColumnType::Numeric) {
      code.pieces = fit_pieces(table.column(code.name), rows, count);
    }
    result.input_size_ += code.width();
    for (ColumnReading& reading : result.columns_) {
      if (reading.name != code.name || code.pieces.empty()) continue;
      reading.inputs = code.width();
      reading.note = "in " + std::to_string(code.pieces.size()) + " pieces";
    }
  }
  return result;
}

TableEncoder TableEncoder::with_log_target(const Table& table,
                                           const RowNumbers& rows) const {
  RADIR_CHECK(!is_classification(), ArgumentError, "with_log_target: the ",
              "target \"", target_.name, "\" has classes");
  TableEncoder result = *this;
  result.target_ =
      with_logarithm(table.source(), table.column(target_.name), rows, target_);
  for (ColumnReading& reading : result.columns_) {
    if (reading.name == target_.name) reading.note = kLogTarget;
  }
  return result;
}

bool TableEncoder::has_skewed_target(const Table& table,
                                     const RowNumbers& rows) const {
  return !is_classification() &&
         is_skewed(table.column(target_.name), rows, target_.resolution);
}

bool TableEncoder::has_pieces() const {
  return std::any_of(
      inputs_.begin(), inputs_.end(),
      [](const ColumnCode& code) { return !code.pieces.empty(); });
}

TableOptions TableEncoder::reader_options(bool with_target) const {
  TableOptions options;
  options.other_types = ColumnType::Skipped;
  for (const ColumnCode& code : inputs_) {
    options.types[code.name] = code.type;
    if (code.type == ColumnType::Date) {
      options.date_orders[code.name] = code.date_order;
    }
  }
  if (with_target) options.types[target_.name] = target_.type;
  if (!id_.empty()) options.types[id_] = ColumnType::Categorical;
  return options;
}

std::vector<std::string> TableEncoder::check_columns(
    const std::string& source, const std::vector<std::string>& names,
    bool with_target) const {
  const auto there = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> needed;
  for (const ColumnCode& code : inputs_) needed.push_back(code.name);
  for (const std::string& name : needed) {
    RADIR_CHECK(there(name), IoError, source, ": the column \"", name,
                "\" that the model needs is missing", column_hint(name, names));
  }
  if (with_target) {
    needed.push_back(target_.name);
    RADIR_CHECK(there(target_.name), IoError, source, ": the target \"",
                target_.name, "\" is missing, so predictions cannot be ",
                "compared with it", column_hint(target_.name, names));
  }
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    if (name == target_.name || name == id_) continue;
    if (std::find(needed.begin(), needed.end(), name) == needed.end()) {
      extra.push_back(name);
    }
  }
  return extra;
}

EncodedRows TableEncoder::encode(const Table& table, bool with_target,
                                 std::int64_t first_row) const {
  return encode(table, with_target, all_rows(table), first_row);
}

EncodedRows TableEncoder::encode(const Table& table, bool with_target,
                                 const RowNumbers& rows,
                                 std::int64_t first_row) const {
  std::vector<const Column*> columns;
  for (const ColumnCode& code : inputs_) {
    columns.push_back(&table.column(code.name));
  }
  const Column* target = with_target ? &table.column(target_.name) : nullptr;

  EncodedRows result;
  result.table_rows =
      kept_rows(table, columns, target, missing_, rows, first_row);
  const RowNumbers& kept = result.table_rows;
  result.count = static_cast<std::int64_t>(kept.size());
  check_memory(
      {result.count, input_size_, static_cast<std::int64_t>(sizeof(float))},
      "the encoded table, with an input for every category,",
      "remove columns with very many categories, such as names and "
      "numbers of rows");
  result.inputs.resize(static_cast<std::size_t>(result.count * input_size_));
  float* out = result.inputs.data();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    UnseenLevels unseen;
    encode_input(table, *columns[i], inputs_[i], kept, out, input_size_,
                 unseen);
    if (unseen.count > 0) result.unseen.push_back(std::move(unseen));
    out += inputs_[i].width();
  }
  if (target == nullptr) return result;
  if (is_classification()) {
    result.labels = encode_labels(table, *target, target_, kept, first_row);
  } else {
    result.targets.resize(kept.size());
    encode_numbers(*target, target_, kept, result.targets.data(), 1);
  }
  return result;
}

}  // namespace radir::data
