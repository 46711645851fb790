#pragma once

#include <vector>

#include "radir/network/spec.h"

namespace radir::network {

/// The numbers of one layer with weights, the weight laid out as libtorch has
/// it: [out][in], or [out][in][h][w].
template <typename T>
struct PlainLayer {
  std::vector<T> weight;
  std::vector<T> bias;  ///< empty: none
};

/// A network of plain numbers, with no distribution left: what is exported.
template <typename T>
struct PlainNetwork {
  NetworkSpec spec;
  std::vector<PlainLayer<T>> layers;  ///< those with weights, first to last
};

/// Scales each layer but the last so that its weights have the root mean square
/// of He's starting values, sqrt(2 / inputs of a unit), and the next one by the
/// inverse. The outputs stay: what stands between layers (ReLU, max-pooling,
/// selection) commutes with a positive factor. Steps of one size then suit all
/// layers.
template <typename T>
void balance(PlainNetwork<T>& network);

}  // namespace radir::network
