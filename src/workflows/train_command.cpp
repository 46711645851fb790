#include "workflows/train_command.h"

#include "radir/core/error.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/training_run.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// The rules by which tables are read. Version 0.1 wrote no number.
constexpr std::int64_t kReading = 3;

}  // namespace

std::string table_path(const std::string& table) {
  return table == "-" ? table : absolute_path(table);
}

Json command_json(const TrainTableOptions& options) {
  Json more = Json::array();
  for (const std::string& table : options.more_tables) {
    more.push_back(table_path(table));
  }
  Json json = {{"name", kTrainCommand},
               {"table", table_path(options.table)},
               {"target", options.target},
               {"categorical", options.categorical},
               {"missing", data::to_string(options.missing)},
               {"tune", options.tune},
               {"settings", Json::parse(to_json(options.settings))}};
  if (options.tune_for != TuneFor::LogLikelihood) {
    json["tune_for"] = choice_name(tune_for_choices(), options.tune_for);
  }
  if (options.tune_budget) json["tune_budget"] = *options.tune_budget;
  if (options.as_is) return json;
  json["reading"] = kReading;
  json["holdout"] = options.holdout;
  if (options.compare) json["compare"] = true;
  json["more_tables"] = std::move(more);
  json["header"] = options.header ? Json(*options.header) : Json();
  json["exclude"] = options.exclude;
  if (!options.other_targets.empty()) {
    json["other_targets"] = options.other_targets;
  }
  json["include"] = options.include;
  json["id"] = options.id;
  if (options.conformal) json["conformal"] = true;
  if (!options.weights.empty()) json["weights"] = options.weights;
  if (!options.class_weights.empty()) {
    json["class_weights"] = options.class_weights;
  }
  return json;
}

TrainTableOptions command_from_json(files::JsonObject json) {
  TrainTableOptions options;
  json.text("name");
  options.table = json.text("table");
  options.target = json.text("target");
  options.categorical = json.strings("categorical");
  options.missing = json.choice("missing", data::missing_value_choices());
  options.tune = json.boolean("tune");
  if (json.has("tune_for")) {
    options.tune_for = json.choice("tune_for", tune_for_choices());
  }
  if (json.has("tune_budget")) options.tune_budget = json.number("tune_budget");
  // Runs of version 0.1 have none.
  options.holdout = json.has("holdout") && json.boolean("holdout");
  try {
    options.settings = settings_from_json(json.section("settings"));
  } catch (const IoError& error) {
    detail::throw_error<IoError>(json.where(), ": ", error.what());
  }
  options.as_is = !json.has("reading");
  if (!options.as_is) {
    json.integer("reading", kReading, kReading);
    options.more_tables = json.strings("more_tables");
    options.exclude = json.strings("exclude");
    if (json.has("other_targets")) {
      options.other_targets = json.strings("other_targets");
    }
    options.include = json.strings("include");
    options.compare = json.has("compare") && json.boolean("compare");
    options.id = json.text("id");
    options.conformal = json.has("conformal") && json.boolean("conformal");
    if (json.has("weights")) options.weights = json.text("weights");
    if (json.has("class_weights")) {
      options.class_weights = json.text("class_weights");
    }
    if (!json.at("header").is_null()) options.header = json.boolean("header");
  }
  json.finish();
  return options;
}

}  // namespace radir::workflows
