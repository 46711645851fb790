#include <limits>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/experiments/compress.h"

namespace radir::experiments {
namespace {

using Json = nlohmann::ordered_json;

NetworkFigures figures_from_json(const Json& json) {
  NetworkFigures figures;
  json.at("architecture").get_to(figures.architecture);
  json.at("flops").get_to(figures.cost.flops);
  json.at("parameters").get_to(figures.cost.parameters);
  json.at("article_flops").get_to(figures.cost.article_flops);
  json.at("article_parameters").get_to(figures.cost.article_parameters);
  json.at("train_error").get_to(figures.train_error);
  json.at("test_error").get_to(figures.test_error);
  json.at("test_nll").get_to(figures.test_nll);
  json.at("bayes_test_error").get_to(figures.bayes_test_error);
  json.at("bayes_test_nll").get_to(figures.bayes_test_nll);
  json.at("bayes_test_ece").get_to(figures.bayes_test_ece);
  json.at("microseconds_per_image").get_to(figures.microseconds_per_image);
  for (const Json& layer : json.at("layers")) {
    figures.cost.layers.push_back({layer.at("name"), layer.at("layer"),
                                   layer.at("flops"), layer.at("parameters")});
  }
  return figures;
}

std::optional<NetworkFigures> optional_figures(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return figures_from_json(json);
}

Removal removal_from_json(const Json& json) {
  Removal removal;
  json.at("epoch").get_to(removal.epoch);
  json.at("architecture").get_to(removal.architecture);
  json.at("flops").get_to(removal.flops);
  json.at("parameters").get_to(removal.parameters);
  json.at("nll").get_to(removal.nll);
  json.at("kl").get_to(removal.kl);
  json.at("train_error_before").get_to(removal.train_error_before);
  json.at("train_error").get_to(removal.train_error);
  for (const Json& threshold : json.at("thresholds")) {
    removal.thresholds.push_back(threshold.is_null()
                                     ? -std::numeric_limits<double>::infinity()
                                     : threshold.get<double>());
  }
  return removal;
}

prune::CurvePoint point_from_json(const Json& json) {
  prune::CurvePoint point;
  json.at("share").get_to(point.share);
  json.at("architecture").get_to(point.architecture);
  json.at("flops").get_to(point.cost.flops);
  json.at("parameters").get_to(point.cost.parameters);
  point.error = json.at("error").get<double>();
  return point;
}

}  // namespace

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
  CompressResult result;
  try {
    const Json json = Json::parse(text);
    result.unpruned = figures_from_json(json.at("unpruned"));
    result.pruned = figures_from_json(json.at("pruned"));
    result.fine_tuned = optional_figures(json.at("fine_tuned"));
    result.mean_tuned = optional_figures(json.at("mean_tuned"));
    for (const Json& removal : json.at("removals")) {
      result.removals.push_back(removal_from_json(removal));
    }
    for (const Json& point : json.at("curve")) {
      result.curve.push_back(point_from_json(point));
    }
    json.at("masked_difference").get_to(result.masked_difference);
    json.at("seconds").get_to(result.seconds);
  } catch (const Json::exception& error) {
    detail::throw_error<IoError>("figures of a compression are damaged: ",
                                 error.what());
  }
  return result;
}

}  // namespace radir::experiments
