#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/class_scores.h"
#include "radir/workflows/assessment.h"
#include "workflows/json_numbers.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// Differences of such numbers are finite.
constexpr double kMostNumber = 1e300;
constexpr std::int64_t kMostRowNumber = std::int64_t{1} << 48;

Json rows_json(const std::vector<AssessedRow>& rows) {
  Json list = Json::array();
  for (const AssessedRow& row : rows) {
    list.push_back({{"row", row.row + 1},
                    {"actual", row.actual},
                    {"predicted", row.predicted},
                    {"lower", row.lower},
                    {"upper", row.upper},
                    {"epistemic", row.epistemic},
                    {"aleatoric", row.aleatoric}});
  }
  return list;
}

std::vector<AssessedRow> rows_from_json(files::JsonObject& json,
                                        const char* key) {
  std::vector<AssessedRow> rows;
  for (files::JsonObject& object : json.objects(key)) {
    const auto number = [&](const char* name) {
      return object.number(name, -kMostNumber, kMostNumber);
    };
    rows.push_back({object.integer("row", 1, kMostRowNumber) - 1,
                    number("actual"), number("predicted"), number("lower"),
                    number("upper"), number("epistemic"), number("aleatoric")});
    object.finish();
  }
  return rows;
}

ClassTables class_tables_from_json(files::JsonObject json) {
  ClassTables tables;
  tables.classes = json.strings("classes");
  // Empty where there were too many classes.
  const std::size_t size =
      json.array("confusion").empty() ? 0 : tables.classes.size();
  tables.confusion =
      matrix_from_json<std::int64_t>(json, "confusion", size, size);
  for (files::JsonObject& bin : json.objects("calibration")) {
    tables.calibration.push_back({bin.number("lower"), bin.number("upper"),
                                  bin.integer("count", 1, kMostRowNumber),
                                  bin.number("confidence", 0, 1),
                                  bin.number("accuracy", 0, 1)});
    bin.finish();
  }
  json.finish();
  return tables;
}

}  // namespace

Json metrics_json(const TableMetrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = value;
  return json;
}

TableMetrics metrics_from_json(const Json& json, const std::string& where) {
  RADIR_CHECK(json.is_object(), IoError, where, ": must be an object");
  TableMetrics metrics;
  for (const auto& [name, value] : json.items()) {
    RADIR_CHECK(value.is_number(), IoError, where, ": \"", name,
                "\" must be a number");
    metrics.emplace_back(name, value.get<double>());
  }
  return metrics;
}

Json to_json(const ClassTables& tables) {
  Json bins = Json::array();
  for (const likelihood::ConfidenceBin& bin : tables.calibration) {
    bins.push_back({{"lower", bin.lower},
                    {"upper", bin.upper},
                    {"count", bin.count},
                    {"confidence", bin.confidence},
                    {"accuracy", bin.accuracy}});
  }
  return {{"classes", tables.classes},
          {"confusion", tables.confusion},
          {"calibration", bins}};
}

Json to_json(const Assessment& assessment) {
  Json json = {{"rows", assessment.rows},
               {"left_out", assessment.left_out},
               {"metrics", metrics_json(assessment.metrics)},
               {"below", assessment.below},
               {"sample", rows_json(assessment.sample)},
               {"uncertain", rows_json(assessment.uncertain)}};
  if (assessment.classes) json["classes"] = to_json(*assessment.classes);
  return json;
}

Assessment assessment_from_json(files::JsonObject json) {
  Assessment result;
  result.rows = json.integer("rows", 0, kMostRowNumber);
  result.left_out = json.integer("left_out", 0, kMostRowNumber);
  result.metrics =
      metrics_from_json(json.at("metrics"), json.where() + ": metrics");
  result.below = numbers_from_json(json, "below");
  result.sample = rows_from_json(json, "sample");
  result.uncertain = rows_from_json(json, "uncertain");
  if (json.has("classes")) {
    result.classes = class_tables_from_json(json.object("classes"));
  }
  json.finish();
  return result;
}

}  // namespace radir::workflows
