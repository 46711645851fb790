#include "radir/data/column_reading.h"

#include "data/column_coding.h"
#include "radir/data/table_encoder.h"
#include "radir/files/json_object.h"

namespace radir::data {
namespace {

using Json = nlohmann::ordered_json;

const Choices<ColumnType>& type_choices() {
  static const Choices<ColumnType> choices = {
      {ColumnType::Numeric, "number"},
      {ColumnType::Categorical, "category"},
      {ColumnType::Date, "date"},
      {ColumnType::Skipped, "skipped"}};
  return choices;
}

ColumnReading reading_of(const ColumnCode& code, ColumnRole role) {
  ColumnReading reading;
  reading.name = code.name;
  reading.role = role;
  reading.type = code.type;
  if (role == ColumnRole::Input) reading.inputs = code.width();
  reading.levels = static_cast<std::int64_t>(code.categories.size());
  if (!code.transform.is_none()) reading.note = kLogTarget;
  return reading;
}

}  // namespace

const Choices<ColumnRole>& column_role_choices() {
  static const Choices<ColumnRole> choices = {{ColumnRole::Input, "input"},
                                              {ColumnRole::Target, "target"},
                                              {ColumnRole::Id, "id"},
                                              {ColumnRole::Ignored, "ignored"}};
  return choices;
}

std::string ColumnReading::text() const {
  if (role == ColumnRole::Ignored || role == ColumnRole::Id) {
    return std::string(choice_name(column_role_choices(), role)) + ": " + note;
  }
  std::string text = choice_name(type_choices(), type);
  if (type == ColumnType::Categorical) {
    text += role == ColumnRole::Target ? ", " : " of ";
    text += std::to_string(levels) +
            (role == ColumnRole::Target ? " classes" : " levels");
  }
  if (!note.empty()) text += ", " + note;
  if (missing > 0) text += ", " + std::to_string(missing) + " missing";
  return role == ColumnRole::Target ? "target: " + text : text;
}

std::vector<ColumnReading> describe_columns(const TableEncoder& encoder) {
  if (!encoder.columns().empty()) return encoder.columns();
  std::vector<ColumnReading> columns;
  for (const ColumnCode& code : encoder.inputs()) {
    columns.push_back(reading_of(code, ColumnRole::Input));
  }
  columns.push_back(reading_of(encoder.target(), ColumnRole::Target));
  if (!encoder.id().empty()) {
    columns.push_back({encoder.id(), ColumnRole::Id, ColumnType::Skipped, 0, 0,
                       0, kIdColumn});
  }
  return columns;
}

Json to_json(const std::vector<ColumnReading>& columns) {
  Json list = Json::array();
  for (const ColumnReading& column : columns) {
    list.push_back({{"name", column.name},
                    {"role", choice_name(column_role_choices(), column.role)},
                    {"type", choice_name(type_choices(), column.type)},
                    {"inputs", column.inputs},
                    {"levels", column.levels},
                    {"missing", column.missing},
                    {"note", column.note}});
  }
  return list;
}

std::vector<ColumnReading> column_readings_from_json(const Json& json,
                                                     const std::string& where) {
  const Json document = {{"columns", json}};
  std::vector<ColumnReading> columns;
  for (files::JsonObject object :
       files::JsonObject(document, where).objects("columns")) {
    ColumnReading column;
    column.name = object.text("name");
    column.role = object.choice("role", column_role_choices());
    column.type = object.choice("type", type_choices());
    column.inputs = object.integer("inputs");
    column.levels = object.integer("levels");
    column.missing = object.integer("missing");
    column.note = object.text("note");
    object.finish();
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace radir::data
