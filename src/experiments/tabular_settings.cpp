#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/experiments/tabular.h"

namespace radir::experiments {
namespace {

using Json = nlohmann::ordered_json;
using posterior::Grouping;
using train::Likelihood;

/// The one of `values` whose name stands in the JSON.
template <typename Enum>
Enum named(const Json& json, std::initializer_list<Enum> values) {
  const auto name = json.get<std::string>();
  for (const Enum value : values) {
    if (name == to_string(value)) return value;
  }
  detail::throw_error<IoError>("settings: \"", name,
                               "\" is unknown to this program");
}

Json document(const TabularSettings& settings) {
  return {{"hidden", settings.hidden},
          {"grouping", posterior::to_string(settings.grouping)},
          {"direction_gap", settings.direction_gap},
          {"likelihood", train::to_string(settings.noise)},
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
  TabularSettings settings;
  try {
    const Json json = Json::parse(text);
    json.at("hidden").get_to(settings.hidden);
    settings.grouping =
        named(json.at("grouping"),
              {Grouping::Row, Grouping::Column, Grouping::Double});
    json.at("direction_gap").get_to(settings.direction_gap);
    settings.noise =
        named(json.at("likelihood"),
              {Likelihood::Kind::Gaussian, Likelihood::Kind::PredictedNoise});
    json.at("epochs").get_to(settings.epochs);
    json.at("steps").get_to(settings.steps);
    json.at("batch").get_to(settings.batch);
    json.at("learning_rate").get_to(settings.learning_rate);
    json.at("kl_warmup").get_to(settings.kl_warmup);
    json.at("restarts").get_to(settings.restarts);
    json.at("seed").get_to(settings.seed);
  } catch (const Json::exception& error) {
    detail::throw_error<IoError>("settings: they are not complete, or not ",
                                 "written by this program: ", error.what());
  }
  return settings;
}

}  // namespace radir::experiments
