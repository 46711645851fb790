#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <map>
#include <optional>
#include <string>

#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/torch/nn/bayes_layer.h"

// The posterior of a weight composed from tensor operations, one line per
// formula and no thought of speed: the oracle of the fused kernels, and what a
// benchmark compares them with. Special functions that libtorch lacks come from
// radir::math.

namespace radir::nn {

/// Tensors by the names of posterior::ParameterBlock.
using NamedTensors = std::map<std::string, torch::Tensor>;

/// What is random in the rows, or the columns, of one draw.
struct ComposedSideNoise {
  /// Standard normals, one for each weight: they make the directions.
  torch::Tensor normals;
  /// 1 - w, where w is the cosine between a direction and its mean.
  torch::Tensor one_minus_cosine;
  torch::Tensor radius;         ///< standard normals, one for each group
  torch::Tensor global_radius;  ///< one standard normal
};

/// What is random in one draw of a weight.
struct ComposedNoise {
  ComposedSideNoise row;
  ComposedSideNoise column;
  torch::Tensor normals;  ///< of a Gaussian weight
};

/// posterior::WeightPosterior in tensor operations, on tensors that somebody
/// else owns and through which gradients flow.
class ComposedPosterior {
 public:
  /// `options` as they are after any fallback. Throws UnsupportedError for
  /// families other than the radial-directional and the Gaussian one.
  ComposedPosterior(const network::WeightShape& shape,
                    const posterior::Options& options, NamedTensors parameters);

  /// Fresh noise from torch's default generator.
  ComposedNoise draw_noise() const;

  /// The weight, as a vector.
  torch::Tensor sample(const ComposedNoise& noise) const;

  /// KL(posterior || prior) in nats, a scalar.
  torch::Tensor kl() const;

 private:
  enum class Side { Row, Column };

  bool has(Side side) const;
  std::int64_t length(Side side) const;
  const torch::Tensor& parameter(Side side, const std::string& name) const;
  torch::Tensor concentration(Side side) const;
  torch::Tensor mean_direction(Side side, const std::string& name) const;
  torch::Tensor to_groups(Side side, const torch::Tensor& weight) const;
  torch::Tensor from_groups(Side side, const torch::Tensor& groups) const;

  ComposedSideNoise draw_side_noise(Side side) const;
  torch::Tensor sample_directions(Side side,
                                  const ComposedSideNoise& noise) const;
  torch::Tensor sample_radii(Side side, const ComposedSideNoise& noise) const;
  torch::Tensor sample_side(Side side, const ComposedSideNoise& noise) const;
  torch::Tensor radii_kl(Side side, const std::string& factor,
                         const torch::Tensor& log_scale,
                         double degrees_of_freedom) const;
  torch::Tensor side_kl(Side side) const;
  torch::Tensor prior_number(Side side, const std::string& name,
                             double log_value) const;
  torch::Tensor gaussian_kl() const;

  network::WeightShape shape_;
  posterior::RadialDirectionalOptions options_;
  std::optional<posterior::GaussianOptions> gaussian_;  // in its place
  NamedTensors parameters_;
};

/// The parameters and buffers of a layer whose names begin with `prefix`,
/// without it.
NamedTensors with_prefix(const torch::nn::Module& layer,
                         const std::string& prefix);

/// The composed twin of a layer's weight, on the layer's own parameters.
template <typename Derived>
ComposedPosterior composed_weight(const BayesLayer<Derived>& layer) {
  return {layer.weight_shape(), layer.weight_options(),
          with_prefix(layer, "weight_")};
}

/// The composed twin of a layer's bias.
template <typename Derived>
ComposedPosterior composed_bias(const BayesLayer<Derived>& layer) {
  return {{1, layer.weight_shape().rows(), 1, 1},
          layer.bias_options(),
          with_prefix(layer, "bias_")};
}

}  // namespace radir::nn
