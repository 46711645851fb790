#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/network/spec.h"

namespace radir::network {

/// Multiplications with additions of one pass of one example, and numbers to
/// store, both with biases: a convolution costs (kernel * inputs + 1) times its
/// outputs and their pixels, a dense layer (inputs + 1) times its outputs.
struct LayerCost {
  std::string name;   ///< as train::WeightedLayer::name
  std::string layer;  ///< as to_string(LayerSpec)
  std::int64_t flops = 0;
  std::int64_t parameters = 0;
};

struct Cost {
  std::vector<LayerCost> layers;  ///< those with weights
  std::int64_t flops = 0;
  std::int64_t parameters = 0;
  /// As Oh, Adamczewski and Park (2019) seem to count: where some features of
  /// a flattened image are selected, a dense layer from all of them to the
  /// selected ones counts in addition.
  std::int64_t article_flops = 0;
  std::int64_t article_parameters = 0;
};

/// Throws ArgumentError when the layers do not fit each other.
Cost cost(const NetworkSpec& network);

}  // namespace radir::network
