#include "radir/workflows/compress_result.h"

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/prune/curve.h"

namespace radir::workflows {
namespace {

using files::JsonObject;
using Json = JsonObject::Json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kAnyCount = std::numeric_limits<std::int64_t>::max();

std::int64_t count_from_json(JsonObject& json, const char* key) {
  return json.integer(key, 1, kAnyCount);
}

double fraction_from_json(JsonObject& json, const char* key) {
  return json.number(key, 0, 1);
}

/// JSON has no infinite number; it is written as null.
double nll_from_json(JsonObject& json, const char* key) {
  return json.optional_number(key).value_or(kInfinity);
}

}  // namespace

NetworkFigures figures_from_json(JsonObject json) {
  NetworkFigures figures;
  figures.architecture = json.text("architecture");
  figures.cost.flops = count_from_json(json, "flops");
  figures.cost.parameters = count_from_json(json, "parameters");
  figures.cost.article_flops = json.integer("article_flops");
  figures.cost.article_parameters = json.integer("article_parameters");
  figures.train_error = fraction_from_json(json, "train_error");
  figures.test_error = fraction_from_json(json, "test_error");
  figures.test_nll = nll_from_json(json, "test_nll");
  figures.bayes_test_error = fraction_from_json(json, "bayes_test_error");
  figures.bayes_test_nll = nll_from_json(json, "bayes_test_nll");
  figures.bayes_test_ece = json.number("bayes_test_ece");
  figures.microseconds_per_image = json.number("microseconds_per_image");
  for (JsonObject& layer : json.objects("layers")) {
    figures.cost.layers.push_back({layer.text("name"), layer.text("layer"),
                                   count_from_json(layer, "flops"),
                                   count_from_json(layer, "parameters")});
    layer.finish();
  }
  json.finish();
  return figures;
}

namespace {

std::optional<NetworkFigures> optional_figures(JsonObject& json,
                                               const char* key) {
  if (json.at(key).is_null()) return std::nullopt;
  return figures_from_json(json.object(key));
}

std::vector<double> thresholds_from_json(JsonObject& json) {
  std::vector<double> thresholds;
  for (const Json& threshold : json.array("thresholds")) {
    json.check_type(threshold.is_null() || threshold.is_number(), "thresholds",
                    "a list of numbers or null");
    thresholds.push_back(threshold.is_null() ? -kInfinity
                                             : threshold.get<double>());
  }
  return thresholds;
}

Removal removal_from_json(JsonObject json) {
  Removal removal;
  removal.epoch = count_from_json(json, "epoch");
  removal.architecture = json.text("architecture");
  removal.flops = count_from_json(json, "flops");
  removal.parameters = count_from_json(json, "parameters");
  removal.nll = json.number("nll");
  removal.kl = json.number("kl");
  removal.train_error_before = fraction_from_json(json, "train_error_before");
  removal.train_error = fraction_from_json(json, "train_error");
  removal.thresholds = thresholds_from_json(json);
  json.finish();
  return removal;
}

prune::CurvePoint point_from_json(JsonObject json) {
  prune::CurvePoint point;
  point.share = json.number("share");
  point.architecture = json.text("architecture");
  point.cost.flops = count_from_json(json, "flops");
  point.cost.parameters = count_from_json(json, "parameters");
  point.error = json.optional_number("error");
  json.finish();
  return point;
}

}  // namespace

std::vector<std::pair<const char*, const NetworkFigures*>>
CompressResult::networks() const {
  std::vector<std::pair<const char*, const NetworkFigures*>> list = {
      {"unpruned", &unpruned}, {"pruned", &pruned}};
  if (fine_tuned) list.emplace_back("fine-tuned", &*fine_tuned);
  if (mean_tuned) list.emplace_back("means tuned", &*mean_tuned);
  return list;
}

const NetworkFigures& CompressResult::final_figures() const {
  return *networks().back().second;
}

std::string to_json(const std::vector<Removal>& removals) {
  Json list = Json::array();
  for (const Removal& removal : removals) {
    Json thresholds = Json::array();
    for (double threshold : removal.thresholds) {
      thresholds.push_back(std::isfinite(threshold) ? Json(threshold)
                                                    : Json(nullptr));
    }
    list.push_back({{"epoch", removal.epoch},
                    {"architecture", removal.architecture},
                    {"flops", removal.flops},
                    {"parameters", removal.parameters},
                    {"nll", removal.nll},
                    {"kl", removal.kl},
                    {"train_error_before", removal.train_error_before},
                    {"train_error", removal.train_error},
                    {"thresholds", std::move(thresholds)}});
  }
  return list.dump();
}

std::string to_json(const std::vector<prune::CurvePoint>& curve) {
  Json list = Json::array();
  for (const prune::CurvePoint& point : curve) {
    list.push_back({{"share", point.share},
                    {"architecture", point.architecture},
                    {"flops", point.cost.flops},
                    {"parameters", point.cost.parameters},
                    {"error", point.error ? Json(*point.error) : Json()}});
  }
  return list.dump();
}

std::string to_json(const NetworkFigures& figures) {
  Json layers = Json::array();
  for (const network::LayerCost& layer : figures.cost.layers) {
    layers.push_back({{"name", layer.name},
                      {"layer", layer.layer},
                      {"flops", layer.flops},
                      {"parameters", layer.parameters}});
  }
  const Json json = {{"architecture", figures.architecture},
                     {"flops", figures.cost.flops},
                     {"parameters", figures.cost.parameters},
                     {"article_flops", figures.cost.article_flops},
                     {"article_parameters", figures.cost.article_parameters},
                     {"train_error", figures.train_error},
                     {"test_error", figures.test_error},
                     {"test_nll", figures.test_nll},
                     {"bayes_test_error", figures.bayes_test_error},
                     {"bayes_test_nll", figures.bayes_test_nll},
                     {"bayes_test_ece", figures.bayes_test_ece},
                     {"microseconds_per_image", figures.microseconds_per_image},
                     {"layers", std::move(layers)}};
  return json.dump();
}

std::string to_json(const CompressResult& result) {
  const auto optional = [](const std::optional<NetworkFigures>& figures) {
    return figures ? Json::parse(to_json(*figures)) : Json(nullptr);
  };
  const Json json = {{"unpruned", Json::parse(to_json(result.unpruned))},
                     {"pruned", Json::parse(to_json(result.pruned))},
                     {"fine_tuned", optional(result.fine_tuned)},
                     {"mean_tuned", optional(result.mean_tuned)},
                     {"removals", Json::parse(to_json(result.removals))},
                     {"curve", Json::parse(to_json(result.curve))},
                     {"masked_difference", result.masked_difference},
                     {"seconds", result.seconds}};
  return json.dump();
}

CompressResult compress_result_from_json(const std::string& text) {
  const Json document = files::parse_json<Json>("figures", text, {});
  JsonObject json(document, "figures");
  CompressResult result;
  result.unpruned = figures_from_json(json.object("unpruned"));
  result.pruned = figures_from_json(json.object("pruned"));
  const std::size_t before = result.unpruned.cost.layers.size();
  const std::size_t after = result.pruned.cost.layers.size();
  RADIR_CHECK(before == after, IoError, json.where(), ": the network had ",
              before, " layers before pruning, but ", after, " after it");
  result.fine_tuned = optional_figures(json, "fine_tuned");
  result.mean_tuned = optional_figures(json, "mean_tuned");
  for (const JsonObject& removal : json.objects("removals")) {
    result.removals.push_back(removal_from_json(removal));
  }
  for (const JsonObject& point : json.objects("curve")) {
    result.curve.push_back(point_from_json(point));
  }
  result.masked_difference = json.number("masked_difference");
  result.seconds = json.number("seconds");
  json.finish();
  return result;
}

}  // namespace radir::workflows
