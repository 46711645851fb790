#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "radir/network/weight_shape.h"

// What a network is, described but not built.

namespace radir::network {

/// Channels, height and width of what flows between layers; a plain vector of
/// features is {features, 1, 1}.
struct Shape {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;

  std::int64_t size() const { return channels * height * width; }
};

/// y = W x + b, x taken as a vector (channel, row, column); W is
/// [outputs][inputs].
struct Dense {
  std::int64_t outputs = 0;
  bool bias = true;
};

/// A number for the vertical and one for the horizontal direction.
struct Pair {
  std::int64_t h = 1;
  std::int64_t w = 1;
};

/// Cross-correlation as torch::nn::Conv2d computes it, zeros around the image;
/// W is [outputs][channels / groups][kernel.h][kernel.w].
struct Conv2d {
  std::int64_t outputs = 0;
  Pair kernel = {1, 1};
  Pair stride = {1, 1};
  Pair padding = {0, 0};
  Pair dilation = {1, 1};
  std::int64_t groups = 1;
  bool bias = true;
};

/// Largest value of every window as torch::nn::MaxPool2d takes it. Of several
/// equal ones the first, in rows, receives the gradient.
struct MaxPool2d {
  Pair kernel = {1, 1};
  Pair stride = {1, 1};
  Pair padding = {0, 0};
};

/// max(x, 0); its derivative at 0 is 0.
struct Relu {};

/// Takes (channel, row, column) as one vector. Costs nothing.
struct Flatten {};

/// Takes (channel, row, column) as one vector and keeps the features of these
/// indices: what is left of the inputs of a dense layer after pruning.
struct Select {
  std::vector<std::int64_t> indices;  ///< increasing
};

using LayerSpec = std::variant<Dense, Conv2d, MaxPool2d, Relu, Flatten, Select>;

bool operator==(const Shape& a, const Shape& b);

/// "20x24x24", or "800" for a vector.
std::string to_string(const Shape& shape);

/// "dense 500", "conv 20 5x5", "max-pool 2x2", "relu", "flatten",
/// "select 110".
std::string to_string(const LayerSpec& layer);

/// Shapes before the first layer and after each: layers.size() + 1 entries.
/// Throws ArgumentError that names the layer, counted from 1, and the shapes
/// when one does not fit the one before it, or when one has more than 2^30
/// features or weights.
std::vector<Shape> layer_shapes(const Shape& input,
                                const std::vector<LayerSpec>& layers);

/// The weights a layer has.
struct LayerWeight {
  WeightShape shape;
  /// As libtorch has it: [out][in] or [out][in][h][w].
  std::vector<std::int64_t> tensor_shape;
  std::int64_t bias_size = 0;  ///< 0: none
};

/// The weights of a layer that reads examples of the given shape, which it must
/// fit; none for a layer without.
std::optional<LayerWeight> layer_weight(const LayerSpec& layer,
                                        const Shape& input);

/// A sequential network, described but not built.
struct NetworkSpec {
  Shape input;
  std::vector<LayerSpec> layers;
};

/// Dense layers of the given widths with ReLU between them.
NetworkSpec multilayer_perceptron(std::int64_t inputs,
                                  const std::vector<std::int64_t>& hidden,
                                  std::int64_t outputs);

/// LeNet-5 as in Caffe's example (20-50-800-500): no nonlinearity after the
/// convolutions but the max-pooling.
NetworkSpec lenet5(std::int64_t classes = 10);

/// 784-300-100-classes, dense.
NetworkSpec lenet300(std::int64_t classes = 10);

}  // namespace radir::network
