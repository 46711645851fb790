#include "radir/workflows/inspect.h"

#include <cmath>

#include "radir/core/error.h"
#include "radir/network/cost.h"
#include "radir/network/wiring.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/prune/curve.h"
#include "radir/prune/selection.h"
#include "radir/prune/shrink.h"
#include "radir/prune/threshold.h"
#include "radir/train/model.h"
#include "workflows/layer_arrays.h"

namespace radir::workflows {
namespace {

/// Root mean squares of the means and of the deviations of a layer's weights.
std::pair<double, double> spreads(
    const train::Model& model, const train::WeightedLayer& layer,
    const std::vector<float>& parameters,
    posterior::WeightPosterior<float>& posterior) {
  const auto arrays = weight_arrays(model, layer, posterior, parameters);
  const auto size = static_cast<std::size_t>(layer.shape.size());
  std::vector<float> mean(size), variance(size);
  posterior.moments(arrays, mean.data(), variance.data());
  double squares = 0, variances = 0;
  for (std::size_t i = 0; i < size; ++i) {
    squares += static_cast<double>(mean[i]) * static_cast<double>(mean[i]);
    variances += static_cast<double>(variance[i]);
  }
  const auto count = static_cast<double>(size);
  return {std::sqrt(squares / count), std::sqrt(variances / count)};
}

}  // namespace

ModelInspection inspect(const io::SavedModel& model) {
  const train::Model network(model.spec);
  const network::Wiring wiring(model.spec.network);
  const network::Cost cost = network::cost(model.spec.network);
  const std::vector<float>& parameters = model.networks.front();
  const auto splits =
      prune::split_clusters(prune::unit_scores(network, parameters));
  ModelInspection result;
  result.input = to_string(model.spec.network.input);
  result.likelihood = likelihood::to_string(model.spec.likelihood.kind);
  result.architecture = prune::architecture(wiring, prune::all_units(wiring));
  result.networks = static_cast<std::int64_t>(model.networks.size());
  result.flops = cost.flops;
  result.parameters = cost.parameters;
  result.variational_parameters = network.parameter_count();
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const train::WeightedLayer& layer = network.layers()[l];
    posterior::WeightPosterior<float> posterior(layer.shape, layer.weight);
    const auto [rms, noise] = spreads(network, layer, parameters, posterior);
    LayerInspection info;
    info.name = cost.layers[l].name;
    info.layer = cost.layers[l].layer;
    info.posterior = posterior.describe();
    info.inputs = wiring.inputs(l);
    info.outputs = wiring.outputs(l);
    if (splits[l].found) {
      info.removable_inputs =
          info.inputs - static_cast<std::int64_t>(splits[l].above);
    }
    info.flops = cost.layers[l].flops;
    info.parameters = cost.layers[l].parameters;
    info.weight_rms = rms;
    info.relative_noise = rms > 0 ? noise / rms : 0;
    result.layers.push_back(std::move(info));
  }
  return result;
}

nlohmann::ordered_json to_json(const LayerInspection& layer) {
  return {{"name", layer.name},
          {"layer", layer.layer},
          {"posterior", layer.posterior},
          {"inputs", layer.inputs},
          {"outputs", layer.outputs},
          {"removable_inputs", layer.removable_inputs},
          {"flops", layer.flops},
          {"parameters", layer.parameters},
          {"weight_rms", layer.weight_rms},
          {"relative_noise", layer.relative_noise}};
}

report::Table layer_table(const ModelInspection& inspection) {
  report::Table table;
  table.columns = {{"name", "name"},
                   {"layer", "layer"},
                   {"inputs", "inputs"},
                   {"removable", "to spare"},
                   {"outputs", "outputs"},
                   {"flops", "FLOPs"},
                   {"parameters", "parameters"},
                   {"rms", "weight rms", 3},
                   {"noise", "relative noise", 3}};
  for (const LayerInspection& layer : inspection.layers) {
    table.rows.push_back({layer.name, layer.layer, layer.inputs,
                          layer.removable_inputs, layer.outputs, layer.flops,
                          layer.parameters, layer.weight_rms,
                          layer.relative_noise});
  }
  return table;
}

io::SavedModel prune_model(const io::SavedModel& model,
                           const PruneOptions& options) {
  const train::Model network(model.spec);
  RADIR_CHECK(model.networks.size() == 1 || network.has_noise(),
              UnsupportedError, "prune: the model is a mixture of ",
              model.networks.size(), " sets of weights (draws of a chain or ",
              "an ensemble), whose units differ in importance; train it with ",
              "the method rdp to prune it");
  const network::Wiring wiring(model.spec.network);
  const prune::Scores scores =
      prune::unit_scores(network, model.networks.front());
  prune::Selection selection;
  if (options.budget.is_given()) {
    const auto curve = prune::size_curve(model.spec.network, scores);
    selection = prune::within_budget(curve, options.budget).selection;
  } else {
    std::vector<double> thresholds;
    for (const prune::ScoreSplit& split :
         prune::split(scores, options.threshold)) {
      thresholds.push_back(split.threshold);
    }
    selection = prune::select(wiring, scores, thresholds);
  }
  io::SavedModel result = model;
  result.conformal.clear();  // the smaller network predicts something else
  result.networks.clear();
  for (const std::vector<float>& parameters : model.networks) {
    prune::ShrunkModel<float> shrunk =
        prune::shrink(network, parameters, selection);
    result.spec = std::move(shrunk.spec);
    result.networks.push_back(std::move(shrunk.parameters));
  }
  return result;
}

}  // namespace radir::workflows
