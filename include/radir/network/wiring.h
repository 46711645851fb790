#pragma once

#include <cstdint>
#include <vector>

#include "radir/network/spec.h"

namespace radir::network {

/// How the layers with weights of a sequential network hang together. Layers
/// are counted among those with weights, from 0. The inputs of a convolution
/// are its channels, those of a dense layer single features.
class Wiring {
 public:
  /// Throws ArgumentError when the layers do not fit each other.
  explicit Wiring(const NetworkSpec& network);

  std::size_t size() const { return layers_.size(); }
  /// Index in NetworkSpec::layers.
  std::size_t index(std::size_t layer) const { return layers_[layer].index; }
  std::int64_t inputs(std::size_t layer) const;
  std::int64_t outputs(std::size_t layer) const {
    return layers_[layer].outputs;
  }
  /// For each input, the output of the layer before that makes it; for the
  /// first layer, the channel of the network's input it comes from.
  const std::vector<std::int64_t>& makers(std::size_t layer) const {
    return layers_[layer].makers;
  }
  /// For each input, its index among all features that reach the layer before
  /// any is selected.
  const std::vector<std::int64_t>& features(std::size_t layer) const {
    return layers_[layer].features;
  }
  /// Features per output of the layer before (per channel of the network's
  /// input): 1 but between a convolution and a dense layer.
  std::int64_t features_per_maker(std::size_t layer) const {
    return layers_[layer].features_per_maker;
  }
  /// Whether inputs of the layer can be removed: not those of a convolution
  /// that reads the network's input, nor where a grouped convolution makes or
  /// reads them.
  bool removable(std::size_t layer) const { return layers_[layer].removable; }
  /// Whether a ReLU stands between the layer and the one before it.
  bool after_relu(std::size_t layer) const { return layers_[layer].after_relu; }
  /// Whether an input that is constant adds the same number to each pixel of
  /// an output (no padding with zeros), which a bias can then stand for.
  bool folds_constants(std::size_t layer) const {
    return layers_[layer].folds_constants;
  }

 private:
  struct Layer {
    std::size_t index = 0;
    std::int64_t outputs = 0;
    std::vector<std::int64_t> makers;
    std::vector<std::int64_t> features;
    std::int64_t features_per_maker = 1;
    bool removable = true;
    bool after_relu = false;
    bool folds_constants = true;
  };

  class Tracer;

  std::vector<Layer> layers_;
};

}  // namespace radir::network
