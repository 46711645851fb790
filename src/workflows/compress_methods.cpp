#include "radir/workflows/compress_methods.h"

#include <cmath>
#include <variant>

#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/network/wiring.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/group_lasso.h"
#include "radir/prune/flops_penalty.h"
#include "radir/prune/unit_prices.h"

namespace radir::workflows {
namespace {

/// As CompressSettings::cost_power of rdp: equal terms.
constexpr double kPricePower = 2.0 / 3;

/// Of a FLOP above the target, per image (Tang et al. 2018).
constexpr double kFlopPrice = 1e-6;

/// Of the cheapest unit, chosen on held-out images of MNIST: nats of a gate of
/// l0 while it is open, factors of the divergence of the others, and of a
/// length for the lasso. The published strengths, as far as known, differ by
/// layer too.
constexpr double kOpenGatePrice = 50;
constexpr double kDropoutPrice = 6;
constexpr double kStructuredPrice = 5;
constexpr double kLengthPrice = 2600;

template <typename GateOptions>
GateOptions gates_of(const PrunedLayer& layer) {
  GateOptions options;
  options.weights.grouping = layer.side;
  if (layer.last) options.weights.initial_gain = 1;
  return options;
}

template <typename GateOptions>
posterior::Options plain_gates(const PrunedLayer& layer) {
  return gates_of<GateOptions>(layer);
}

posterior::Options l0(const PrunedLayer& layer) {
  auto options = gates_of<posterior::HardConcreteOptions>(layer);
  options.price = kOpenGatePrice * layer.images * layer.unit_price /
                  static_cast<double>(layer.weights_per_unit);
  return options;
}

/// Under Beta(0, 2), not the flat or two-humped priors: those hold a gate open
/// once it is.
posterior::Options generalized_dropout(const PrunedLayer& layer) {
  auto options = gates_of<posterior::GeneralizedDropoutOptions>(layer);
  options.beta_b = 2;
  options.price = kDropoutPrice * layer.images * layer.unit_price;
  return options;
}

posterior::Options structured_pruning(const PrunedLayer& layer) {
  auto options = gates_of<posterior::StructuredPruningOptions>(layer);
  options.price = kStructuredPrice * layer.images * layer.unit_price;
  return options;
}

posterior::Options flops(const PrunedLayer& layer) {
  auto options = gates_of<posterior::HardConcreteOptions>(layer);
  options.price = 0;
  return options;
}

posterior::Options group_lasso(const PrunedLayer& layer) {
  posterior::GroupLassoOptions options;
  options.strength = kLengthPrice * layer.images * std::sqrt(layer.unit_price);
  options.grouping = posterior::Grouping::Double;
  if (layer.last) {
    options.initial_gain = 1;
    options.grouping = posterior::Grouping::Column;
  }
  return options;
}

CompressMethod line(const char* name, const char* summary,
                    posterior::Options (*options)(const PrunedLayer&),
                    std::optional<double> threshold, double gate_rate = 1) {
  CompressMethod method;
  method.name = name;
  method.summary = summary;
  method.options = options;
  method.threshold = threshold;
  method.gate_rate = gate_rate;
  return method;
}

CompressMethod flops_method() {
  CompressMethod method =
      line("flops",
           "hard concrete gates that pay for FLOPs above --max-flops (Tang et "
           "al. 2018)",
           flops, 0, 2);
  method.has_flops_target = true;
  return method;
}

}  // namespace

const std::vector<CompressMethod>& compress_methods() {
  static const std::vector<CompressMethod> methods = {
      line("rdp", "radial-directional posteriors", nullptr, std::nullopt),
      line("bc-gnj",
           "gates under the normal-Jeffreys prior (Louizos et al. 2017)",
           plain_gates<posterior::GroupNormalJeffreysOptions>, 3, 10),
      line("bc-ghs", "gates under the horseshoe prior (Louizos et al. 2017)",
           plain_gates<posterior::GroupHorseshoeOptions>, 0, 10),
      line("l0",
           "hard concrete gates that pay while they are open (Louizos et al. "
           "2018)",
           l0, 0, 2),
      flops_method(),
      line("group-lasso",
           "a penalty of the lengths of rows and columns (Wen et al. 2016)",
           group_lasso, std::nullopt),
      line("gd",
           "generalised dropout, a rate for each unit (Srinivas and Babu 2016)",
           generalized_dropout, -6.907755278982137, 10),  // log 0.001
      line("sbp",
           "structured Bayesian pruning, log-normal gates (Neklyudov et al. "
           "2017)",
           structured_pruning, 0, 5),
  };
  return methods;
}

const CompressMethod& compress_method(const std::string& name) {
  std::vector<std::string> names;
  for (const CompressMethod& method : compress_methods()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  ::radir::detail::throw_error<UnsupportedError>("there is no method \"", name,
                                                 "\" of compression",
                                                 known_names(name, names));
}

train::ModelSpec gated_model_spec(const CompressMethod& method,
                                  const network::NetworkSpec& network,
                                  std::int64_t images) {
  train::ModelSpec spec;
  spec.network = network;
  spec.likelihood.kind = likelihood::Kind::Categorical;
  spec.weights.clear();
  const network::Wiring wiring(network);
  const auto shapes = network::layer_shapes(network.input, network.layers);
  const prune::UnitPrices prices = prune::unit_prices(network, 1, kPricePower);
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const network::LayerSpec& layer = network.layers[wiring.index(l)];
    const network::WeightShape shape =
        network::layer_weight(layer, shapes[wiring.index(l)])->shape;
    PrunedLayer place;
    place.last = l + 1 == wiring.size();
    place.images = static_cast<double>(images) / kPriceImages;
    // The outputs of the last layer are classes.
    const bool rows =
        std::holds_alternative<network::Conv2d>(layer) && !place.last;
    place.side = rows ? posterior::Grouping::Row : posterior::Grouping::Column;
    place.unit_price = rows ? prices.outputs[l] : prices.inputs[l];
    place.weights_per_unit = rows ? shape.row_length() : shape.column_length();
    spec.weights.push_back(method.options(place));
  }
  return spec;
}

std::shared_ptr<const train::Penalty> method_penalty(
    const CompressSettings& settings, const train::Model& model,
    std::int64_t images) {
  if (!compress_method(settings.method).has_flops_target) return nullptr;
  return prune::flops_penalty(model, kFlopPrice * static_cast<double>(images),
                              *settings.budget.max_flops);
}

void check_method_settings(const CompressSettings& settings) {
  const CompressMethod& method = compress_method(settings.method);
  const CompressSettings defaults;
  if (method.options == nullptr) {
    RADIR_CHECK(!settings.strength, ArgumentError, "the method ", method.name,
                " has a pressure, not a strength");
    return;
  }
  RADIR_CHECK(settings.pressure == defaults.pressure &&
                  settings.cost_power == defaults.cost_power &&
                  settings.direction_gap == defaults.direction_gap,
              ArgumentError, "the method ", method.name,
              " has no pressure, cost power or direction gap; it has a ",
              "strength");
  RADIR_CHECK(!method.has_flops_target || settings.budget.max_flops,
              ArgumentError, "the method ", method.name,
              " needs the FLOPs to aim at: give --max-flops");
}

}  // namespace radir::workflows
