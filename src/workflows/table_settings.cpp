#include "radir/workflows/table_settings.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/core/settings_text.h"
#include "radir/data/table_encoder.h"
#include "radir/files/json_object.h"
#include "radir/files/settings_json.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/hmc_options.h"
#include "radir/train/method.h"
#include "radir/train/model.h"
#include "radir/workflows/table_methods.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

/// Of epochs, steps and rows of a batch: with it no product overflows.
constexpr double kMostSteps = 1e12;

/// The noise models of a numeric target.
const Choices<std::optional<likelihood::Kind>>& noise_choices() {
  static const Choices<std::optional<likelihood::Kind>> choices = {
      {std::nullopt, "auto"},
      {likelihood::Kind::Gaussian,
       likelihood::to_string(likelihood::Kind::Gaussian)},
      {likelihood::Kind::TwoNormals,
       likelihood::to_string(likelihood::Kind::TwoNormals)},
      {likelihood::Kind::PredictedNoise,
       likelihood::to_string(likelihood::Kind::PredictedNoise)},
      {likelihood::Kind::Mixture,
       likelihood::to_string(likelihood::Kind::Mixture)}};
  return choices;
}

std::string describe_families() {
  std::string text =
      "Family of the weights' posteriors, for hmc, sghmc and elbo";
  char separator = ':';
  for (const posterior::Family* family : posterior::families()) {
    text += std::string(1, separator) + " " + family->name();
    separator = ',';
  }
  return text;
}

const Choices<OutputLayer>& output_layer_choices() {
  static const Choices<OutputLayer> choices = {
      {OutputLayer::Same, "same"}, {OutputLayer::Gaussian, "gaussian"}};
  return choices;
}

const Choices<MixtureWeights>& mixture_weight_choices() {
  static const Choices<MixtureWeights> choices = {
      {MixtureWeights::Equal, "equal"}, {MixtureWeights::Stacked, "stacked"}};
  return choices;
}

const Choices<TargetScale>& target_scale_choices() {
  static const Choices<TargetScale> choices = {{TargetScale::Own, "own"},
                                               {TargetScale::Logarithm, "log"}};
  return choices;
}

/// The same choices, and "auto" for none.
template <typename Enum>
Choices<std::optional<Enum>> or_auto(const Choices<Enum>& choices) {
  Choices<std::optional<Enum>> all = {{std::nullopt, "auto"}};
  for (const auto& [value, name] : choices) all.emplace_back(value, name);
  return all;
}

const Choices<std::optional<posterior::Grouping>>& grouping_choices() {
  static const auto choices = or_auto(posterior::grouping_choices());
  return choices;
}

const Choices<std::optional<TargetScale>>& open_target_scale_choices() {
  static const auto choices = or_auto(target_scale_choices());
  return choices;
}

const Choices<std::optional<posterior::DirectionPrior>>&
direction_prior_choices() {
  static const auto choices = or_auto(posterior::direction_prior_choices());
  return choices;
}

std::string describe_methods() {
  std::string text = "How the posterior is found: auto";
  for (const TableMethod& method : table_methods()) text += ", " + method.name;
  return text + "; auto takes hmc for small tables, else rdp";
}

/// Settings that runs of version 0.1 do not have, with what it did. Left out
/// where they are that, so that such runs can be resumed.
Json later_settings() {
  TableSettings defaults;
  Json json = {{"family", "radial-directional"},
               {"family_options", ""},
               {"method", "elbo"},
               {"direction_prior", "location-agnostic"},
               {"concentration_per_group", false},
               {"output_layer", "same"},
               {"kl_weight", 1.0},
               {"noise_shape", nullptr},
               {"noise_rate", nullptr},
               {"noise_factor", 1.0},
               {"noise_parts", defaults.noise_parts},
               {"target_scale", "own"},
               {"pieces", defaults.pieces},
               {"mixture_weights", "equal"}};
  Json hmc = Json::object();
  files::SettingsWriter writer(hmc);
  train::describe(writer, defaults.hmc);
  json.update(hmc);
  json["chains"] = defaults.chains;
  return json;
}

/// With those of them that are left out.
Json completed(const std::string& text) {
  Json json = files::parse_json<Json>("settings", text, {});
  const Json later = later_settings();
  for (const auto& [key, value] : later.items()) {
    if (json.is_object() && !json.contains(key)) json[key] = value;
  }
  return json;
}

Json document(TableSettings settings) {
  Json json = Json::object();
  files::SettingsWriter writer(json);
  describe(writer, settings);
  const Json later = later_settings();
  for (const auto& [key, value] : later.items()) {
    if (json[key] == value) json.erase(key);
  }
  return json;
}

void describe_posterior(SettingsVisitor& visit, TableSettings& settings) {
  static const std::string method_help = describe_methods();
  visit.text({"method", method_help.c_str(), {}}, settings.method);
  static const std::string family_help = describe_families();
  visit.text({"family", family_help.c_str(), {}}, settings.family);
  visit.text({"family_options",
              "Options of the family, such as prior_scale=0.5,learn_prior=true",
              {}},
             settings.family_options);
  visit.choice({"grouping",
                "Groups of weights with a length and a direction (double: "
                "both rows and columns)",
                {}},
               settings.grouping, grouping_choices());
  visit.number({"direction_gap",
                "Spread of the directions under the prior; a smaller value "
                "fits the data more closely",
                inside(0, 1)},
               settings.direction_gap);
  visit.choice({"direction_prior", "Centre of the prior of the directions", {}},
               settings.direction_prior, direction_prior_choices());
  visit.flag({"concentration_per_group",
              "Infer the spread of each direction instead of one per layer",
              {}},
             settings.concentration_per_group);
  visit.choice({"output_layer",
                "Posterior of the last layer of a radial-directional network: "
                "as the others, or independent normals",
                {}},
               settings.output_layer, output_layer_choices());
  visit.choice({"likelihood",
                "Noise model of a numeric target: one noise level, two (one "
                "for outliers), one per row, or a mixture of several per row; "
                "auto is two-normals for hmc, else gaussian, or a mixture "
                "where that is better and nothing else is given",
                {}},
               settings.noise, noise_choices());
  visit.choice({"target_scale",
                "Scale on which a numeric target is predicted: its own, or a "
                "logarithmic one for a target that is not below 0 and has a "
                "long upper tail; auto compares the two on rows set aside "
                "where there is such a tail",
                {}},
               settings.target_scale, open_target_scale_choices());
  visit.optional_number({"noise_shape",
                         "Shape of the Gamma prior of the precision of one "
                         "noise level; none: the method's own",
                         above(0)},
                        settings.noise_shape);
  visit.optional_number({"noise_rate", "Rate of that prior", above(0)},
                        settings.noise_rate);
  visit.number({"noise_factor",
                "Factor of the variance of one noise level after the training; "
                "--tune finds it on held-out rows",
                above(0)},
               settings.noise_factor);
  visit.integer({"noise_parts", "Normal distributions of the mixture of a row",
                 between(2, 5)},
                settings.noise_parts);
}

void describe_training(SettingsVisitor& visit, TableSettings& settings) {
  visit.integer(
      {"epochs", "Passes over the rows; 0 for as many as the steps need",
       between(0, kMostSteps)},
      settings.epochs);
  visit.integer({"steps", "Training steps where the epochs are 0",
                 between(1, kMostSteps)},
                settings.steps);
  visit.integer({"batch", "Rows per training step", between(1, kMostSteps)},
                settings.batch);
  visit.number({"learning_rate", "Learning rate of Adam", above(0)},
               settings.learning_rate);
  visit.number({"kl_warmup",
                "Share of the training over which the weight of the KL term "
                "rises to 1",
                between(0, 1)},
               settings.kl_warmup);
  visit.number({"kl_weight",
                "Weight of the KL term at the end; below 1 the fit is closer "
                "and less certain of its error bars",
                between(0, 1)},
               settings.kl_weight);
  visit.integer({"restarts",
                 "Number of networks that predict as a mixture; 0: the "
                 "method's own",
                 between(0, 1000)},
                settings.restarts);
  visit.choice({"mixture_weights",
                "How much each network or chain of a mixture counts: equal, "
                "or stacked: by a fifth of the rows, which networks fitted to "
                "the others predict",
                {}},
               settings.mixture_weights, mixture_weight_choices());
}

}  // namespace

void describe(SettingsVisitor& visit, TableSettings& settings) {
  visit.integers({"hidden", "Units of each hidden layer", at_least(1)},
                 settings.hidden);
  visit.integer({"pieces",
                 "Pieces of the range of each number, between quantiles of the "
                 "rows, that are inputs too; 0: none",
                 between(0, data::TableEncoder::kMostPieces)},
                settings.pieces);
  describe_posterior(visit, settings);
  describe_training(visit, settings);
  visit.integer(
      {"chains", "Chains of the methods hmc and sghmc", between(1, 1000)},
      settings.chains);
  train::describe(visit, settings.hmc);
  visit.seed({"seed", "Seed of all random numbers", {}}, settings.seed);
}
void check(const TableSettings& settings) {
  check_settings("settings", settings);
  RADIR_CHECK(settings.pieces != 1, ArgumentError,
              "settings: one piece is the number itself; ask for 0, or for 2 "
              "or more");
  RADIR_CHECK(settings.target_scale != TargetScale::Logarithm ||
                  settings.noise != likelihood::Kind::Mixture,
              ArgumentError,
              "settings: a mixture of noises has a shape of its ",
              "own and supports no target_scale log; leave out one of them");
  RADIR_CHECK(settings.noise != likelihood::Kind::TwoNormals ||
                  (!settings.noise_shape && !settings.noise_rate),
              ArgumentError, "settings: noise_shape and noise_rate are those ",
              "of one noise level, not of two-normals; leave them out, or ask ",
              "for the likelihood gaussian");
  const bool stacked = settings.mixture_weights == MixtureWeights::Stacked;
  RADIR_CHECK(
      !stacked ||
          (settings.samples() ? settings.chains : settings.restarts) != 1,
      ArgumentError, "settings: stacked mixture_weights are those of several ",
      "networks or chains; ask for 2 or more of them");
  const train::HmcOptions chains;
  RADIR_CHECK(settings.method == "sghmc" ||
                  (settings.hmc.step_size == chains.step_size &&
                   settings.hmc.friction == chains.friction),
              ArgumentError, "settings: step_size and friction are those of ",
              "the method sghmc; ask for it");
  if (settings.method == "auto") {
    TableSettings fit = settings;
    fit.method = settings.family.empty() ? "rdp" : "elbo";
    return check(fit);
  }
  train::find_method(method_of(settings).trainer);
  for (const bool last_layer : {false, true}) {
    const posterior::Options options = weight_options(settings, last_layer);
    // Whether there is a prior to sample does not depend on the shape.
    if (settings.samples()) {
      posterior::make_weight_prior<float>({1, 2, 2, 1}, options);
    }
  }
}

posterior::Options weight_options(const TableSettings& settings,
                                  bool last_layer) {
  const std::string name = family_of(settings);
  const posterior::Family& family = posterior::find_family(name);
  posterior::Options options = family.default_options();
  if (last_layer && settings.output_layer == OutputLayer::Gaussian &&
      options.get_if<posterior::RadialDirectionalOptions>() != nullptr) {
    posterior::GaussianOptions gaussian;
    gaussian.initial_gain = 1;
    gaussian.learn_prior = settings.samples();
    return gaussian;
  }
  if (auto* radial = options.get_if<posterior::RadialDirectionalOptions>()) {
    if (settings.grouping) radial->grouping = *settings.grouping;
    radial->direction_gap = settings.direction_gap;
    using posterior::DirectionPrior;
    radial->direction_prior =
        settings.direction_prior.value_or(DirectionPrior::LocationAgnostic);
    // That one follows the posterior: it is no prior that can be sampled.
    if (settings.samples() &&
        radial->direction_prior == DirectionPrior::LocationAgnostic) {
      radial->direction_prior = DirectionPrior::Uniform;
    }
    radial->concentration_per_group = settings.concentration_per_group;
  }
  if (auto* gaussian = options.get_if<posterior::GaussianOptions>()) {
    gaussian->learn_prior = settings.samples();
  }
  if (last_layer) {  // no ReLU behind it
    SettingsAssignment gain(name, {{"initial_gain", "1"}});
    family.visit_settings(gain, options);
  }
  SettingsAssignment own(
      name, parse_assignments("family_options", method_of(settings).options));
  family.visit_settings(own, options);
  SettingsAssignment given(
      name + " options",
      parse_assignments("family_options", settings.family_options));
  family.visit_settings(given, options);
  given.finish();
  posterior::check(options);
  return options;
}

std::int64_t epochs_of(const TableSettings& settings, std::int64_t rows) {
  if (settings.samples()) return settings.hmc.iterations();
  if (settings.epochs > 0) return settings.epochs;
  if (settings.method != "auto" && method_of(settings).passes > 0) {
    return method_of(settings).passes;
  }
  const std::int64_t batches = (rows + settings.batch - 1) / settings.batch;
  return std::max<std::int64_t>(1, settings.steps / batches);
}

std::string to_json(const TableSettings& settings) {
  return document(settings).dump();
}

std::string to_json(const TableSettings& settings, std::int64_t rows) {
  Json json = document(settings);
  json["epochs"] = epochs_of(settings, rows);
  json.erase("steps");
  return json.dump();
}

std::string with_settings_left_out(const std::string& text) {
  return completed(text).dump();
}

TableSettings settings_from_json(const std::string& text) {
  const Json document = completed(text);
  files::JsonObject json(document, "settings");
  TableSettings settings;
  files::SettingsReader reader(json);
  describe(reader, settings);
  json.finish();
  try {
    check(settings);
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>(error.what());
  }
  return settings;
}

}  // namespace radir::workflows
