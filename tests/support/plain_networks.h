#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "radir/kernels/network.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"

namespace radir::testing {

/// Numbers from -1 to 1, the same for the same seed on every machine.
inline std::vector<float> uniform_numbers(std::int64_t count,
                                          std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) {
    number = static_cast<float>(static_cast<double>(generator()) * 0x1p-31 - 1);
  }
  return numbers;
}

/// Units or filters of a layer with weights, 0 for others.
inline std::int64_t weighted_outputs(const network::LayerSpec& layer) {
  if (const auto* dense = std::get_if<network::Dense>(&layer)) {
    return dense->outputs;
  }
  if (const auto* conv = std::get_if<network::Conv2d>(&layer)) {
    return conv->outputs;
  }
  return 0;
}

/// A network with random weights whose outputs are of order one.
inline network::PlainNetwork<float> random_network(
    const network::NetworkSpec& spec) {
  const kernels::Network<float> network(spec.input, spec.layers, {});
  auto size = network.weight_sizes().begin();
  network::PlainNetwork<float> result{spec, {}};
  std::uint32_t seed = 0;
  for (const network::LayerSpec& layer : spec.layers) {
    const std::int64_t outputs = weighted_outputs(layer);
    if (outputs == 0) continue;
    auto weight = uniform_numbers(size->weight, ++seed);
    const auto inputs = static_cast<double>(size->weight / outputs);
    for (float& w : weight) w *= static_cast<float>(std::sqrt(3 / inputs));
    result.layers.push_back(
        {std::move(weight), uniform_numbers(size->bias, ++seed)});
    ++size;
  }
  return result;
}

struct NamedNetwork {
  std::string name;
  network::NetworkSpec spec;
};

/// Small networks that together have every layer in every form.
inline std::vector<NamedNetwork> small_networks() {
  using network::Conv2d;
  using network::Dense;
  using network::Flatten;
  using network::MaxPool2d;
  using network::Relu;
  using network::Select;
  return {
      {"dense", {{7, 1, 1}, {Dense{5}, Relu{}, Dense{3}}}},
      {"dense_without_bias", {{7, 1, 1}, {Dense{5, false}, Dense{3}}}},
      {"select_features", {{7, 1, 1}, {Select{{0, 2, 6}}, Dense{2}}}},
      {"convolution",
       {{2, 12, 11},
        {Conv2d{6, {5, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Flatten{}, Dense{4}}}},
      {"winograd",
       {{8, 12, 12}, {Conv2d{16, {5, 5}}, Relu{}, Conv2d{16, {3, 3}}}}},
      {"grouped_padded_strided_dilated",
       {{4, 13, 12},
        {Conv2d{6, {3, 2}, {2, 1}, {1, 2}, {1, 3}, 2, false}, Relu{},
         Conv2d{6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
         MaxPool2d{{3, 2}, {1, 2}, {1, 0}}, Flatten{}, Dense{4}}}},
      {"select_from_an_image",
       {{2, 6, 6},
        {Conv2d{3, {3, 3}}, Select{{0, 5, 17, 30, 47}}, Dense{4}, Relu{},
         Select{{1, 3}}, Dense{2}}}},
      {"flatten_then_select",
       {{2, 4, 4}, {Flatten{}, Select{{3, 4, 31}}, Relu{}, Dense{2}}}},
      {"dense_after_one_pixel", {{2, 4, 4}, {Conv2d{5, {4, 4}}, Dense{3}}}},
      {"one_pixel", {{4, 1, 1}, {Relu{}, Conv2d{3, {1, 1}}, Relu{}}}},
      {"ends_with_a_selection", {{9, 1, 1}, {Relu{}, Select{{2, 3, 8}}}}},
  };
}

}  // namespace radir::testing
