#include "radir/workflows/compress_settings.h"

#include <nlohmann/json.hpp>

#include "radir/files/json_object.h"
#include "radir/files/settings_json.h"
#include "radir/likelihood/options.h"
#include "radir/network/wiring.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/prune/selection.h"
#include "radir/prune/unit_prices.h"
#include "radir/workflows/compress_methods.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// Settings that runs of version 0.1 do not have, with what it did. Left out
/// where they are that, so that such runs can be resumed.
Json later_settings() {
  return {{"method", "rdp"}, {"strength", nullptr}, {"selection_window", 0}};
}

std::string describe_methods() {
  std::string text = "How unneeded units are found: ";
  for (const CompressMethod& method : compress_methods()) {
    text += (method.name == "rdp" ? "" : ", ") + method.name;
  }
  return text;
}

void describe_method(SettingsVisitor& visit, CompressSettings& settings) {
  static const std::string help = describe_methods();
  visit.text({"method", help.c_str(), {}}, settings.method);
  visit.optional_number({"strength",
                         "Factor of the penalty or divergence of a method "
                         "other than rdp; a higher one leaves fewer units",
                         above(0)},
                        settings.strength);
}

void describe_prior(SettingsVisitor& visit, CompressSettings& settings) {
  visit.number({"local_scale", "Scale of the prior of each radius", above(0)},
               settings.local_scale);
  visit.number({"global_scale",
                "Scale of the prior of the factor that all radii of a layer "
                "share",
                above(0)},
               settings.global_scale);
  visit.number({"direction_gap", "Spread of the directions under the prior",
                inside(0, 1)},
               settings.direction_gap);
  visit.number({"pressure",
                "Price of a unit under the prior (degrees of freedom of its "
                "radii for 60,000 images); a higher price leaves fewer units, "
                "0 is the half-Cauchy prior",
                at_least(0)},
               settings.pressure);
  visit.number({"cost_power",
                "Power of a unit's relative cost in its price: 0 favours fewer "
                "parameters, 1 favours fewer FLOPs",
                between(0, 2)},
               settings.cost_power);
}

void describe_training(SettingsVisitor& visit, CompressSettings& settings) {
  visit.integer(
      {"epochs", "Epochs during which units are removed", at_least(1)},
      settings.epochs);
  visit.integer({"prune_every", "Epochs between removals", at_least(1)},
                settings.prune_every);
  visit.integer({"selection_window",
                 "Epochs before a removal of which the one with the lowest "
                 "training loss counts; 0 for the last",
                 at_least(0)},
                settings.selection_window);
  visit.integer({"fine_tune_epochs",
                 "Epochs of fine-tuning after the last removal", at_least(0)},
                settings.fine_tune_epochs);
  visit.integer({"mean_epochs",
                 "Epochs of training only the exported means after "
                 "fine-tuning",
                 at_least(0)},
                settings.mean_epochs);
  visit.integer({"batch", "Images per training step", at_least(1)},
                settings.batch);
  visit.integer({"shift", "Largest random shift of training images, in pixels",
                 at_least(0)},
                settings.shift);
  visit.number({"warp",
                "Strength of the random rotation, stretch and shear of every "
                "second training image",
                half_open(0, 1)},
               settings.warp);
  visit.number({"learning_rate", "Learning rate of Adam", above(0)},
               settings.learning_rate);
  visit.number(
      {"mean_learning_rate",
       "Learning rate of Adam while only the means are trained", above(0)},
      settings.mean_learning_rate);
  visit.number(
      {"radius_rate", "Factor of the learning rate of the radii", above(0)},
      settings.radius_rate);
  visit.number({"kl_warmup",
                "Share of the pruning epochs over which the weight of the KL "
                "term rises",
                between(0, 1)},
               settings.kl_warmup);
}

void describe_removal(SettingsVisitor& visit, CompressSettings& settings) {
  visit.optional_number({"threshold",
                         "Score below which a unit is removed; none: the "
                         "method's own rule",
                         any_number()},
                        settings.threshold);
  visit.optional_integer({"max_flops",
                          "Most FLOPs per image; more units are removed to "
                          "meet it",
                          any_number()},
                         settings.budget.max_flops);
  visit.optional_integer(
      {"max_parameters", "Most parameters; more units are removed to meet it",
       any_number()},
      settings.budget.max_parameters);
  visit.optional_number({"max_error",
                         "Largest error on held-out images; units are "
                         "removed while the error stays below it",
                         between(0, 1)},
                        settings.budget.max_error);
  visit.integers(
      {"keep", "Largest number of units in each layer, such as 4-7-59-28",
       any_number()},
      settings.keep);
}

}  // namespace

void describe(SettingsVisitor& visit, CompressSettings& settings) {
  visit.text({"network", "Name of the network, for reports", {}},
             settings.network_name);
  describe_compression(visit, settings);
}

void describe_compression(SettingsVisitor& visit, CompressSettings& settings) {
  describe_method(visit, settings);
  describe_prior(visit, settings);
  describe_training(visit, settings);
  describe_removal(visit, settings);
  visit.integer(
      {"samples", "Weight samples for the figures of a Bayesian network",
       at_least(1)},
      settings.samples);
  visit.seed({"seed", "Seed of all random numbers", {}}, settings.seed);
}

void check(const CompressSettings& settings) {
  check_settings("compress", settings);
  check_method_settings(settings);
  if (!settings.keep.empty()) {
    const network::Wiring wiring(settings.network);
    prune::select_best(wiring, prune::Scores(wiring.size()), settings.keep);
  }
}

std::string to_json(const CompressSettings& settings) {
  Json json = Json::object();
  files::SettingsWriter writer(json);
  CompressSettings copy = settings;
  describe(writer, copy);
  const Json later = later_settings();
  for (const auto& [key, value] : later.items()) {
    if (json[key] == value) json.erase(key);
  }
  return json.dump();
}

CompressSettings compress_settings_from_json(const std::string& text) {
  Json document = files::parse_json<Json>("settings", text, {});
  const Json later = later_settings();
  for (const auto& [key, value] : later.items()) {
    if (document.is_object() && !document.contains(key)) document[key] = value;
  }
  files::JsonObject json(document, "settings");
  CompressSettings settings;
  files::SettingsReader reader(json);
  describe(reader, settings);
  json.finish();
  return settings;
}

train::ModelSpec model_spec(const CompressSettings& settings,
                            std::int64_t images) {
  const CompressMethod& method = compress_method(settings.method);
  if (method.options != nullptr) {
    return gated_model_spec(method, settings.network, images);
  }
  train::ModelSpec spec;
  spec.network = settings.network;
  spec.likelihood.kind = likelihood::Kind::Categorical;
  spec.weights.clear();
  const network::Wiring wiring(settings.network);
  const prune::UnitPrices prices = prune::unit_prices(
      settings.network,
      settings.pressure * static_cast<double>(images) / kPriceImages,
      settings.cost_power);
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    posterior::RadialDirectionalOptions options;
    options.local_scale = settings.local_scale;
    options.global_scale = settings.global_scale;
    options.direction_gap = settings.direction_gap;
    if (wiring.inputs(l) == 1) options.grouping = posterior::Grouping::Row;
    // The outputs of the last layer stay, whatever they cost.
    const bool last = l + 1 == wiring.size();
    if (settings.pressure > 0) {
      options.degrees_of_freedom = last ? 1 : prices.outputs[l];
      options.column_degrees_of_freedom = prices.inputs[l];
    }
    if (last) options.initial_gain = 1;
    spec.weights.emplace_back(options);
  }
  return spec;
}

}  // namespace radir::workflows
