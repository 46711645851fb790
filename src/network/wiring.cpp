#include "radir/network/wiring.h"
#include "radir/network/spec.h"

#include <numeric>
#include <utility>

namespace radir::network {
namespace {

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

}  // namespace

/// Follows the features through the layers, one call for each.
class Wiring::Tracer {
 public:
  Tracer(const Shape& input, std::vector<Layer>& layers)
      : shape_(input), layers_(layers) {}

  void add(std::size_t index, const LayerSpec& layer, const Shape& output) {
    next_.index = index;
    input_ = std::exchange(shape_, output);
    std::visit(*this, layer);
  }

  void operator()(const Dense&) {
    flatten();
    next_.features = std::move(features_);
    next_.removable = !grouped_;
    grouped_ = false;
    finish();
  }
  void operator()(const Conv2d& layer) {
    next_.features = counting(input_.channels);
    const bool before = std::exchange(grouped_, layer.groups > 1);
    next_.removable = !before && !grouped_ && !layers_.empty();
    next_.folds_constants = layer.padding.h == 0 && layer.padding.w == 0;
    finish();
  }
  void operator()(const MaxPool2d&) {}
  void operator()(const Relu&) { next_.after_relu = true; }
  void operator()(const Flatten&) { flatten(); }
  void operator()(const Select& layer) {
    flatten();
    std::vector<std::int64_t> selected;
    for (std::int64_t index : layer.indices) {
      selected.push_back(features_[static_cast<std::size_t>(index)]);
    }
    features_ = std::move(selected);
  }

 private:
  /// Takes what flows as one vector, unless it is one already.
  void flatten() {
    if (!features_.empty()) return;
    next_.features_per_maker = input_.height * input_.width;
    features_ = counting(input_.size());
  }

  /// Ends a layer with weights.
  void finish() {
    next_.outputs = shape_.channels;
    for (std::int64_t feature : next_.features) {
      next_.makers.push_back(feature / next_.features_per_maker);
    }
    layers_.push_back(std::exchange(next_, Layer()));
    features_.clear();
  }

  Shape shape_;  // after the present layer
  Shape input_;  // before it
  std::vector<Layer>& layers_;
  Layer next_;  // with weights
  /// What flows, among the features after the last layer with weights, once
  /// they are taken as one vector.
  std::vector<std::int64_t> features_;
  bool grouped_ = false;  // whether the last layer with weights is
};

Wiring::Wiring(const NetworkSpec& network) {
  const auto shapes = layer_shapes(network.input, network.layers);
  Tracer tracer(network.input, layers_);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    tracer.add(i, network.layers[i], shapes[i + 1]);
  }
}

std::int64_t Wiring::inputs(std::size_t layer) const {
  return static_cast<std::int64_t>(layers_[layer].makers.size());
}

}  // namespace radir::network
