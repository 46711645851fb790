#include "radir/files/json_object.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/train/model.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;
using posterior::Grouping;

const std::pair<Grouping, const char*> kGroupings[] = {
    {Grouping::Row, posterior::to_string(Grouping::Row)},
    {Grouping::Column, posterior::to_string(Grouping::Column)},
    {Grouping::Double, posterior::to_string(Grouping::Double)}};
const std::pair<likelihood::Kind, const char*> kNoises[] = {
    {likelihood::Kind::Gaussian,
     likelihood::to_string(likelihood::Kind::Gaussian)},
    {likelihood::Kind::PredictedNoise,
     likelihood::to_string(likelihood::Kind::PredictedNoise)}};

Json document(const TabularSettings& settings) {
  return {{"hidden", settings.hidden},
          {"grouping", posterior::to_string(settings.grouping)},
          {"direction_gap", settings.direction_gap},
          {"likelihood", likelihood::to_string(settings.noise)},
          {"epochs", settings.epochs},
          {"steps", settings.steps},
          {"batch", settings.batch},
          {"learning_rate", settings.learning_rate},
          {"kl_warmup", settings.kl_warmup},
          {"restarts", settings.restarts},
          {"seed", settings.seed}};
}

}  // namespace

std::string to_json(const TabularSettings& settings) {
  return document(settings).dump();
}

std::string to_json(const TabularSettings& settings, std::int64_t rows) {
  Json json = document(settings);
  json["epochs"] = epochs_of(settings, rows);
  json.erase("steps");
  return json.dump();
}

TabularSettings settings_from_json(const std::string& text) {
  const Json document = files::parse_json<Json>("settings", text, {});
  files::JsonObject json(document, "settings");
  TabularSettings settings;
  settings.hidden = json.integers("hidden");
  settings.grouping = json.choice("grouping", kGroupings);
  settings.direction_gap = json.number("direction_gap");
  settings.noise = json.choice("likelihood", kNoises);
  settings.epochs = json.integer("epochs");
  settings.steps = json.integer("steps");
  settings.batch = json.integer("batch");
  settings.learning_rate = json.number("learning_rate");
  settings.kl_warmup = json.number("kl_warmup");
  settings.restarts = json.integer("restarts");
  settings.seed = json.seed("seed");
  json.finish();
  try {
    check(settings);
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>("settings: ", error.what());
  }
  return settings;
}

}  // namespace radir::workflows
