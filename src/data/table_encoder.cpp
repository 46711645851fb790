#include "radir/data/table_encoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/nearest_name.h"
#include "radir/data/data_kind.h"
#include "radir/files/json_object.h"

namespace radir::data {
namespace {

using Json = files::JsonObject::Json;
using RowNumbers = std::vector<std::int64_t>;

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
      ": the value is missing; fill it in, or train with --missing mean (use "
      "the column's mean) or --missing drop (ignore such rows)");
}

/// Mean and standard deviation of the values that are there.
void fit_numeric(const Column& column, const RowNumbers& rows,
                 ColumnCode& code) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  const double n = static_cast<double>(std::max<std::int64_t>(count, 1));
  code.mean = sum / n;
  double squares = 0;
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    if (std::isnan(value)) continue;
    squares += (value - code.mean) * (value - code.mean);
  }
  code.scale = std::sqrt(squares / n);
  RADIR_CHECK(std::isfinite(code.scale), IoError, "column \"", code.name,
              "\": has numbers too large to be standardised; divide them all ",
              "by the same number");
}

/// The categories that occur, in the order of the column's dictionary.
void fit_categorical(const Column& column, const RowNumbers& rows,
                     ColumnCode& code) {
  const Dictionary& texts = column.categories();
  std::vector<bool> occurs(static_cast<std::size_t>(texts.size()));
  for (std::int64_t row : rows) {
    if (column.is_missing(row)) continue;
    occurs[static_cast<std::size_t>(column.code(row))] = true;
  }
  for (std::int32_t i = 0; i < texts.size(); ++i) {
    if (occurs[static_cast<std::size_t>(i)]) {
      code.categories.push_back(texts.text(i));
    }
  }
  // By name, so that classes come in the same order whatever the rows' order.
  std::sort(code.categories.begin(), code.categories.end());
}

ColumnCode fit_column(const Column& column, const RowNumbers& rows) {
  ColumnCode code;
  code.name = column.name();
  code.type = column.type();
  if (code.type == ColumnType::Numeric) {
    fit_numeric(column, rows, code);
  } else {
    fit_categorical(column, rows, code);
  }
  return code;
}

bool is_constant(const ColumnCode& code) {
  if (code.type == ColumnType::Categorical) {
    return code.categories.size() < 2;
  }
  // Rounding leaves a constant column a spread of this order.
  constexpr double kRounding = 1e-12;
  return !(code.scale > kRounding * std::abs(code.mean));
}

/// For each code of the column's dictionary its index among `categories`, -1
/// for those that are not there.
std::vector<std::int64_t> category_indices(
    const Column& column, const std::vector<std::string>& categories) {
  std::vector<std::int64_t> indices;
  for (std::int32_t i = 0; i < column.categories().size(); ++i) {
    const auto found = std::find(categories.begin(), categories.end(),
                                 column.categories().text(i));
    indices.push_back(found == categories.end() ? -1
                                                : found - categories.begin());
  }
  return indices;
}

[[noreturn]] void refuse_category(const Table& table, const Column& column,
                                  const ColumnCode& code, std::int64_t row,
                                  std::int64_t first_row) {
  const std::string& text = column.categories().text(column.code(row));
  detail::throw_error<IoError>(
      cell_name(table, column, row + first_row), ": the category \"", text,
      "\" was not in the training data, which had ", code.categories.size(),
      " others", radir::did_you_mean(text, code.categories));
}

bool lacks_value(const std::vector<const Column*>& columns, std::int64_t row) {
  return std::any_of(columns.begin(), columns.end(),
                     [row](const Column* column) {
                       return column->missing() > 0 && column->is_missing(row);
                     });
}

/// The rows that stay under a policy.
RowNumbers kept_rows(const Table& table,
                     const std::vector<const Column*>& inputs,
                     const Column* target, MissingValues missing,
                     const RowNumbers& rows, std::int64_t first_row) {
  std::vector<const Column*> all = inputs;
  if (target != nullptr) all.push_back(target);
  RowNumbers kept;
  kept.reserve(rows.size());
  for (std::int64_t row : rows) {
    if (missing == MissingValues::Refuse) {
      for (const Column* column : all) {
        if (lacks_value({column}, row)) {
          refuse_missing(table, *column, row + first_row);
        }
      }
    }
    const bool dropped = missing == MissingValues::Drop
                             ? lacks_value(all, row)
                             : target != nullptr && lacks_value({target}, row);
    if (!dropped) kept.push_back(row);
  }
  return kept;
}

void encode_numeric(const Column& column, const ColumnCode& code,
                    const RowNumbers& rows, float* out, std::int64_t stride) {
  for (std::int64_t row : rows) {
    const double value = column.number(row);
    *out = std::isnan(value)
               ? 0.0f
               : static_cast<float>((value - code.mean) / code.scale);
    out += stride;
  }
}

void encode_categorical(const Table& table, const Column& column,
                        const ColumnCode& code, const RowNumbers& rows,
                        std::int64_t first_row, float* out,
                        std::int64_t stride) {
  const auto indices = category_indices(column, code.categories);
  for (std::int64_t row : rows) {
    if (!column.is_missing(row)) {
      const auto index = indices[static_cast<std::size_t>(column.code(row))];
      if (index < 0) refuse_category(table, column, code, row, first_row);
      out[index] = 1;
    }
    out += stride;
  }
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

Json code_to_json(const ColumnCode& code) {
  Json json = {{"name", code.name}, {"type", to_string(code.type)}};
  if (code.type == ColumnType::Numeric) {
    json["mean"] = code.mean;
    json["scale"] = code.scale;
  } else {
    json["categories"] = code.categories;
  }
  return json;
}

const std::pair<ColumnType, const char*> kCodedTypes[] = {
    {ColumnType::Numeric, to_string(ColumnType::Numeric)},
    {ColumnType::Categorical, to_string(ColumnType::Categorical)}};

/// The first name that appears twice.
std::optional<std::string> repeated(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return name;
  }
  return std::nullopt;
}

ColumnCode column_from_json(files::JsonObject json) {
  ColumnCode code;
  code.name = json.text("name");
  code.type = json.choice("type", kCodedTypes);
  if (code.type == ColumnType::Numeric) {
    code.mean = json.number("mean");
    code.scale = json.number("scale");
    RADIR_CHECK(code.scale > 0, IoError, json.where(),
                ": the scale must be above 0, but is ", code.scale);
  } else {
    code.categories = json.strings("categories");
    RADIR_CHECK(code.categories.size() > 1, IoError, json.where(),
                ": there must be at least two categories, but there are ",
                code.categories.size());
    const auto twice = repeated(code.categories);
    RADIR_CHECK(!twice, IoError, json.where(), ": the category \"", *twice,
                "\" appears twice");
  }
  json.finish();
  return code;
}

void check_names(const std::vector<ColumnCode>& inputs,
                 const ColumnCode& target) {
  std::vector<std::string> names = {target.name};
  for (const ColumnCode& input : inputs) names.push_back(input.name);
  const auto twice = repeated(names);
  RADIR_CHECK(!twice, IoError, "preprocessing: the column \"", *twice,
              "\" appears twice");
}

}  // namespace

const Choices<MissingValues>& missing_value_choices() {
  static const Choices<MissingValues> choices = {
      {MissingValues::Refuse, "refuse"},
      {MissingValues::Mean, "mean"},
      {MissingValues::Drop, "drop"}};
  return choices;
}

const char* to_string(MissingValues policy) {
  return choice_name(missing_value_choices(), policy);
}

std::int64_t ColumnCode::width() const {
  return type == ColumnType::Numeric
             ? 1
             : static_cast<std::int64_t>(categories.size());
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
                               MissingValues missing,
                               const RowNumbers& given_rows) {
  const Column& target_column = table.column(target);
  std::vector<const Column*> input_columns;
  for (const Column& column : table.columns()) {
    if (column.name() != target) input_columns.push_back(&column);
  }
  const RowNumbers rows =
      kept_rows(table, input_columns, &target_column, missing, given_rows, 0);
  RADIR_CHECK(
      !rows.empty(), IoError, table.source(),
      ": every row has a missing value; there is nothing to learn from");

  TableEncoder encoder;
  encoder.missing_ = missing;
  if (rows.size() < given_rows.size()) {
    encoder.notes_.push_back(
        "ignored " + std::to_string(given_rows.size() - rows.size()) + " of " +
        std::to_string(given_rows.size()) + " rows with a missing value");
  }
  encoder.target_ = fit_column(target_column, rows);
  RADIR_CHECK(!is_constant(encoder.target_), IoError, table.source(),
              ": the target \"", target,
              "\" has the same value in every row; there is nothing to learn");
  for (const Column* column : input_columns) {
    ColumnCode code = fit_column(*column, rows);
    if (is_constant(code)) {
      encoder.notes_.push_back("ignored column \"" + code.name +
                               "\": it has the same value in every row");
      continue;
    }
    encoder.input_size_ += code.width();
    encoder.inputs_.push_back(std::move(code));
  }
  RADIR_CHECK(
      !encoder.inputs_.empty(), IoError, table.source(),
      ": all columns except the target are constant; there is nothing to learn "
      "from");
  return encoder;
}

TableOptions TableEncoder::reader_options(bool with_target) const {
  TableOptions options;
  options.other_types = ColumnType::Skipped;
  for (const ColumnCode& code : inputs_) options.types[code.name] = code.type;
  if (with_target) options.types[target_.name] = target_.type;
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
  if (with_target) needed.push_back(target_.name);
  for (const std::string& name : needed) {
    RADIR_CHECK(there(name), IoError, source, ": the column \"", name,
                "\" that the model needs is missing",
                radir::did_you_mean(name, names));
  }
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    if (name == target_.name) continue;
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
      result.count * input_size_ * static_cast<std::int64_t>(sizeof(float)),
      "the encoded table, with an input for every category,",
      "remove columns with very many categories, such as names and "
      "numbers of rows");
  result.inputs.resize(static_cast<std::size_t>(result.count * input_size_));
  float* out = result.inputs.data();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].type == ColumnType::Numeric) {
      encode_numeric(*columns[i], inputs_[i], kept, out, input_size_);
    } else {
      encode_categorical(table, *columns[i], inputs_[i], kept, first_row, out,
                         input_size_);
    }
    out += inputs_[i].width();
  }
  if (target == nullptr) return result;
  if (is_classification()) {
    result.labels = encode_labels(table, *target, target_, kept, first_row);
  } else {
    result.targets.resize(kept.size());
    encode_numeric(*target, target_, kept, result.targets.data(), 1);
  }
  return result;
}

std::string TableEncoder::to_json() const {
  Json inputs = Json::array();
  for (const ColumnCode& code : inputs_) {
    inputs.push_back(code_to_json(code));
  }
  const Json json = {{"kind", kTableKind},
                     {"missing", to_string(missing_)},
                     {"inputs", std::move(inputs)},
                     {"target", code_to_json(target_)}};
  return json.dump();
}

TableEncoder TableEncoder::from_json(const std::string& text) {
  RADIR_CHECK(data_kind(text) == kTableKind, IoError,
              "preprocessing: the model was not trained on a table");
  const Json document = files::parse_json<Json>("preprocessing", text, {});
  files::JsonObject json(document, "preprocessing");
  json.text("kind");
  TableEncoder encoder;
  encoder.missing_ = json.choice("missing", missing_value_choices());
  for (const files::JsonObject& input : json.objects("inputs")) {
    encoder.inputs_.push_back(column_from_json(input));
    encoder.input_size_ += encoder.inputs_.back().width();
  }
  encoder.target_ = column_from_json(json.object("target"));
  check_names(encoder.inputs_, encoder.target_);
  json.finish();
  return encoder;
}

}  // namespace radir::data
