#include "radir/network/plain_network.h"

#include <cmath>

#include "radir/core/error.h"
#include "radir/network/spec.h"

namespace radir::network {

template <typename T>
void balance(PlainNetwork<T>& network) {
  const auto scale = [](std::vector<T>& values, double factor) {
    for (T& value : values) {
      value = static_cast<T>(static_cast<double>(value) * factor);
    }
  };
  const auto shapes = layer_shapes(network.spec.input, network.spec.layers);
  std::vector<std::int64_t> units;  // of the layers with weights
  for (std::size_t i = 0; i < network.spec.layers.size(); ++i) {
    const auto weight = layer_weight(network.spec.layers[i], shapes[i]);
    if (weight) units.push_back(weight->shape.rows());
  }
  double factor = 1;  // of what the layer reads
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    PlainLayer<T>& layer = network.layers[l];
    scale(layer.weight, 1 / factor);
    if (l + 1 == network.layers.size()) return;
    double squares = 0;
    for (T value : layer.weight) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    if (squares == 0) return;
    // Root mean square times sqrt(inputs of a unit) = sqrt(squares / units).
    factor = std::sqrt(2 * static_cast<double>(units[l]) / squares);
    scale(layer.weight, factor);
    scale(layer.bias, factor);
  }
}

template void balance(PlainNetwork<float>&);
template void balance(PlainNetwork<double>&);

}  // namespace radir::network
