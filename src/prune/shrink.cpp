#include "radir/prune/shrink.h"

#include <algorithm>

#include "prune/arrays.h"
#include "radir/core/error.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/network/wiring.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"

namespace radir::prune {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<bool> flags(const std::vector<std::int64_t>& indices,
                        std::int64_t count) {
  std::vector<bool> result(at(count));
  for (std::int64_t i : indices) result[at(i)] = true;
  return result;
}

void check_selection(const network::Wiring& wiring,
                     const Selection& selection) {
  RADIR_CHECK(selection.inputs.size() == wiring.size(), ArgumentError,
              "shrink: the network has ", wiring.size(),
              " layers with weights, but the selection is for ",
              selection.inputs.size());
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    for (std::int64_t input : selection.inputs[l]) {
      RADIR_CHECK(input >= 0 && input < wiring.inputs(l), ArgumentError,
                  "shrink: the selection keeps input ", input, " of layer ",
                  l + 1, " with weights, which has ", wiring.inputs(l));
    }
    RADIR_CHECK(wiring.removable(l) ||
                    at(wiring.inputs(l)) == selection.inputs[l].size(),
                UnsupportedError, "shrink: inputs of layer ", l + 1,
                " with weights cannot be removed: it is a convolution that "
                "reads the network's input, or grouped");
  }
}

std::vector<posterior::KeptUnits> kept_units(const network::Wiring& wiring,
                                             const Selection& selection) {
  check_selection(wiring, selection);
  std::vector<posterior::KeptUnits> kept;
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    kept.push_back({kept_outputs(wiring, selection, l), selection.inputs[l]});
  }
  return kept;
}

/// Appends each layer of a network as the kept units leave it.
class SpecShrinker {
 public:
  SpecShrinker(const network::NetworkSpec& network,
               const network::Wiring& wiring,
               const std::vector<posterior::KeptUnits>& kept)
      : wiring_(wiring), kept_(kept), result_{network.input, {}} {}

  void operator()(network::Dense layer) {
    add_selection();
    layer.outputs = next_outputs();
    result_.layers.push_back(layer);
  }
  void operator()(network::Conv2d layer) {
    layer.outputs = next_outputs();
    result_.layers.push_back(layer);
  }
  void operator()(const network::MaxPool2d& layer) {
    result_.layers.push_back(layer);
  }
  void operator()(const network::Relu& layer) {
    result_.layers.push_back(layer);
  }
  void operator()(const network::Flatten& layer) {
    result_.layers.push_back(layer);
  }
  /// Goes: the selection before the next dense layer has its part in it.
  void operator()(const network::Select&) {}

  network::NetworkSpec take() { return std::move(result_); }

 private:
  std::int64_t next_outputs() {
    return static_cast<std::int64_t>(kept_[l_++].rows.size());
  }

  /// The inputs of dense layer l among the features that its kept makers leave,
  /// unless these are all of them.
  void add_selection() {
    std::vector<bool> made(at(result_.input.channels), true);
    if (l_ > 0) made = flags(kept_[l_ - 1].rows, wiring_.outputs(l_ - 1));
    std::vector<std::int64_t> place(made.size());  // of a maker's features
    std::int64_t count = 0;
    for (std::size_t m = 0; m < made.size(); ++m) {
      place[m] = count;
      if (made[m]) count += wiring_.features_per_maker(l_);
    }
    network::Select select;
    for (std::int64_t input : kept_[l_].columns) {
      const std::int64_t feature = wiring_.features(l_)[at(input)];
      select.indices.push_back(place[at(wiring_.makers(l_)[at(input)])] +
                               feature % wiring_.features_per_maker(l_));
    }
    if (static_cast<std::int64_t>(select.indices.size()) == count) return;
    result_.layers.push_back(std::move(select));
  }

  const network::Wiring& wiring_;
  const std::vector<posterior::KeptUnits>& kept_;
  network::NetworkSpec result_;
  std::size_t l_ = 0;  // the next layer with weights
};

network::NetworkSpec shrunk_spec(
    const network::NetworkSpec& network, const network::Wiring& wiring,
    const std::vector<posterior::KeptUnits>& kept) {
  SpecShrinker shrinker(network, wiring, kept);
  for (const network::LayerSpec& layer : network.layers) {
    std::visit(shrinker, layer);
  }
  return shrinker.take();
}

/// What the removed units add to the outputs of layer l, as constants.
template <typename T>
std::vector<double> folded(const network::PlainNetwork<T>& network,
                           const network::Wiring& wiring,
                           const std::vector<posterior::KeptUnits>& kept,
                           std::size_t l) {
  std::vector<double> sums(at(wiring.outputs(l)));
  const network::PlainLayer<T>& layer = network.layers[l];
  if (l == 0 || !wiring.folds_constants(l) || layer.bias.empty() ||
      network.layers[l - 1].bias.empty() || !wiring.removable(l)) {
    return sums;
  }
  const std::vector<bool> made = flags(kept[l - 1].rows, wiring.outputs(l - 1));
  const std::size_t inputs = at(wiring.inputs(l));
  const std::size_t kernel = layer.weight.size() / (sums.size() * inputs);
  for (std::size_t input = 0; input < inputs; ++input) {
    const std::size_t maker = at(wiring.makers(l)[input]);
    if (made[maker]) continue;
    auto constant = static_cast<double>(network.layers[l - 1].bias[maker]);
    if (wiring.after_relu(l)) constant = std::max(constant, 0.0);
    for (std::size_t output = 0; output < sums.size(); ++output) {
      const T* weights =
          layer.weight.data() + (output * inputs + input) * kernel;
      for (std::size_t k = 0; k < kernel; ++k) {
        sums[output] += constant * static_cast<double>(weights[k]);
      }
    }
  }
  return sums;
}

/// Whether the constants of removed outputs of layer l go into the next one.
template <typename T>
bool keeps_constants(const network::PlainNetwork<T>& network,
                     const network::Wiring& wiring, std::size_t l) {
  return l + 1 < wiring.size() && wiring.folds_constants(l + 1) &&
         !network.layers[l + 1].bias.empty();
}

}  // namespace

network::NetworkSpec shrink(const network::NetworkSpec& network,
                            const Selection& selection) {
  const network::Wiring wiring(network);
  return shrunk_spec(network, wiring, kept_units(wiring, selection));
}

template <typename T>
network::PlainNetwork<T> mask(const network::PlainNetwork<T>& network,
                              const Selection& selection) {
  const network::Wiring wiring(network.spec);
  const auto kept = kept_units(wiring, selection);
  network::PlainNetwork<T> result = network;
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    if (!wiring.removable(l) &&
        (l + 1 == wiring.size() || !wiring.removable(l + 1))) {
      continue;
    }
    const auto row_kept = flags(kept[l].rows, wiring.outputs(l));
    const auto column_kept = flags(kept[l].columns, wiring.inputs(l));
    std::vector<bool> made(at(network.spec.input.channels), true);
    if (l > 0) made = flags(kept[l - 1].rows, wiring.outputs(l - 1));
    network::PlainLayer<T>& layer = result.layers[l];
    const std::size_t kernel =
        layer.weight.size() / (row_kept.size() * column_kept.size());
    auto weight = layer.weight.begin();
    for (std::size_t row = 0; row < row_kept.size(); ++row) {
      for (std::size_t column = 0; column < column_kept.size(); ++column) {
        // An input whose maker is gone still brings its constant.
        const bool reads =
            column_kept[column] || !made[at(wiring.makers(l)[column])];
        if (!row_kept[row] || !reads) std::fill_n(weight, kernel, T(0));
        weight += static_cast<std::ptrdiff_t>(kernel);
      }
      if (!row_kept[row] && !layer.bias.empty() &&
          !keeps_constants(network, wiring, l)) {
        layer.bias[row] = T(0);
      }
    }
  }
  return result;
}

template <typename T>
network::PlainNetwork<T> shrink(const network::PlainNetwork<T>& network,
                                const Selection& selection) {
  const network::Wiring wiring(network.spec);
  const auto kept = kept_units(wiring, selection);
  network::PlainNetwork<T> result{shrunk_spec(network.spec, wiring, kept), {}};
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const network::PlainLayer<T>& layer = network.layers[l];
    const std::vector<double> constants = folded(network, wiring, kept, l);
    network::PlainLayer<T> part;
    if (!wiring.removable(l) && kept[l].rows.size() == constants.size()) {
      part.weight = layer.weight;
    } else {
      const std::size_t inputs = at(wiring.inputs(l));
      const std::size_t kernel =
          layer.weight.size() / (constants.size() * inputs);
      for (std::int64_t row : kept[l].rows) {
        for (std::int64_t column : kept[l].columns) {
          const auto from = layer.weight.begin() +
                            static_cast<std::ptrdiff_t>(
                                (at(row) * inputs + at(column)) * kernel);
          part.weight.insert(part.weight.end(), from,
                             from + static_cast<std::ptrdiff_t>(kernel));
        }
      }
    }
    if (!layer.bias.empty()) {
      for (std::int64_t row : kept[l].rows) {
        part.bias.push_back(static_cast<T>(
            static_cast<double>(layer.bias[at(row)]) + constants[at(row)]));
      }
    }
    result.layers.push_back(std::move(part));
  }
  return result;
}

namespace {

/// Copies the surviving part of one posterior from a model to a smaller one.
template <typename T>
struct Restriction {
  const train::Model& model;
  const std::vector<T>& parameters;
  const train::Model& target;
  std::vector<T>& target_parameters;

  void operator()(const network::WeightShape& shape,
                  const posterior::Options& options, std::size_t first,
                  const network::WeightShape& target_shape,
                  std::size_t target_first,
                  const posterior::KeptUnits& units) const {
    posterior::WeightPosterior<T> from(shape, options);
    posterior::WeightPosterior<T> to(target_shape, options);
    const auto source =
        arrays(model, first, from.parameter_blocks().size(), parameters.data());
    const auto goal = arrays(target, target_first, to.parameter_blocks().size(),
                             target_parameters.data());
    const bool same = units.rows.size() == at(shape.rows()) &&
                      units.columns.size() == at(shape.columns());
    if (!same) {
      from.restrict_to(units, source, to, goal);
      return;
    }
    for (std::size_t b = 0; b < source.size(); ++b) {
      std::copy_n(source[b], from.parameter_blocks()[b].size, goal[b]);
    }
  }
};

}  // namespace

template <typename T>
ShrunkModel<T> shrink(const train::Model& model,
                      const std::vector<T>& parameters,
                      const Selection& selection) {
  const network::PlainNetwork<T> means =
      train::point_network(model, parameters);
  const network::Wiring wiring(model.spec().network);
  const auto kept = kept_units(wiring, selection);
  ShrunkModel<T> result{model.spec(), {}};
  result.spec.network = shrunk_spec(model.spec().network, wiring, kept);
  const train::Model target(result.spec);
  result.parameters.resize(at(target.parameter_count()));

  const Restriction<T> restrict_to{model, parameters, target,
                                   result.parameters};
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const train::WeightedLayer& from = model.layers()[l];
    const train::WeightedLayer& to = target.layers()[l];
    restrict_to(from.shape, from.weight, from.first_weight_parameter, to.shape,
                to.first_weight_parameter, kept[l]);
    if (from.bias_size == 0) continue;
    restrict_to({1, from.bias_size, 1, 1}, from.bias, from.first_bias_parameter,
                {1, to.bias_size, 1, 1}, to.first_bias_parameter,
                {kept[l].rows, {0}});
    // The means come first among the arrays of a normal posterior.
    T* const means_of_bias =
        result.parameters.data() +
        target.parameters()[to.first_bias_parameter].offset;
    const std::vector<double> constants = folded(means, wiring, kept, l);
    for (std::size_t i = 0; i < kept[l].rows.size(); ++i) {
      means_of_bias[i] += static_cast<T>(constants[at(kept[l].rows[i])]);
    }
  }
  std::copy_n(parameters.begin() + model.likelihood_offset(),
              model.likelihood_parameter_count(),
              result.parameters.begin() + target.likelihood_offset());
  return result;
}

template network::PlainNetwork<float> mask(const network::PlainNetwork<float>&,
                                           const Selection&);
template network::PlainNetwork<double> mask(
    const network::PlainNetwork<double>&, const Selection&);
template network::PlainNetwork<float> shrink(
    const network::PlainNetwork<float>&, const Selection&);
template network::PlainNetwork<double> shrink(
    const network::PlainNetwork<double>&, const Selection&);
template ShrunkModel<float> shrink(const train::Model&,
                                   const std::vector<float>&, const Selection&);
template ShrunkModel<double> shrink(const train::Model&,
                                    const std::vector<double>&,
                                    const Selection&);

}  // namespace radir::prune
