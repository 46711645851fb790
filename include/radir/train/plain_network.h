#pragma once

#include <cstdint>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/kernels/rdp.h"
#include "radir/train/model.h"

namespace radir::train {

/// The numbers of one layer with weights, laid out as WeightedLayer says.
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

/// The network of one set of weights that stands for the posterior.
template <typename T>
PlainNetwork<T> plain_network(
    const Model& model, const std::vector<T>& parameters,
    kernels::PointWeight kind = kernels::PointWeight::Mean);

/// Scales each layer but the last so that its weights have the root mean square
/// of He's starting values, sqrt(2 / inputs of a unit), and the next one by the
/// inverse. The outputs stay: what stands between layers (ReLU, max-pooling,
/// selection) commutes with a positive factor. Steps of one size then suit all
/// layers.
template <typename T>
void balance(PlainNetwork<T>& network);

/// The outputs, [count][outputs], for rows[count][inputs]. Throws ArgumentError
/// when an array has another size than the description says.
template <typename T>
std::vector<T> run(const PlainNetwork<T>& network, const T* rows,
                   std::int64_t count, ThreadPool* pool = nullptr);

}  // namespace radir::train
