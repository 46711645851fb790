#include "radir/network/wiring.h"

#include <numeric>

namespace radir::network {
namespace {

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

}  // namespace

Wiring::Wiring(const NetworkSpec& network) {
  const auto shapes = layer_shapes(network.input, network.layers);
  Layer next;
  // What flows: `features` among the features after the last layer with
  // weights, once they are taken as one vector.
  Shape shape = network.input;
  std::vector<std::int64_t> features;
  bool grouped = false;  // whether the layer before is
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const LayerSpec& layer = network.layers[i];
    const auto* conv = std::get_if<Conv2d>(&layer);
    const auto* dense = std::get_if<Dense>(&layer);
    const auto* select = std::get_if<Select>(&layer);
    if (features.empty() && (select != nullptr || dense != nullptr ||
                             std::holds_alternative<Flatten>(layer))) {
      next.features_per_maker = shape.height * shape.width;
      features = counting(shape.size());
    }
    if (select != nullptr) {
      std::vector<std::int64_t> selected;
      for (std::int64_t index : select->indices) {
        selected.push_back(features[static_cast<std::size_t>(index)]);
      }
      features = std::move(selected);
    }
    if (std::holds_alternative<Relu>(layer)) next.after_relu = true;
    shape = shapes[i + 1];
    if (conv == nullptr && dense == nullptr) continue;

    next.index = i;
    next.outputs = shape.channels;
    next.features = dense != nullptr ? features : counting(shapes[i].channels);
    for (std::int64_t feature : next.features) {
      next.makers.push_back(feature / next.features_per_maker);
    }
    next.removable = !grouped;
    grouped = conv != nullptr && conv->groups > 1;
    if (conv != nullptr) {
      next.removable = next.removable && !grouped && !layers_.empty();
      next.folds_constants = conv->padding.h == 0 && conv->padding.w == 0;
    }
    layers_.push_back(std::move(next));
    next = Layer();
    features.clear();
  }
}

std::int64_t Wiring::inputs(std::size_t layer) const {
  return static_cast<std::int64_t>(layers_[layer].makers.size());
}

}  // namespace radir::network
