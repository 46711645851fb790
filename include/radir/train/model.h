#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "radir/likelihood/likelihood.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"

namespace radir::train {

/// Everything that defines a Bayesian network before any data is seen.
struct ModelSpec {
  network::NetworkSpec network;
  /// The posterior of each layer's weights: one entry for all layers, or one
  /// per layer that has weights.
  std::vector<posterior::Options> weights = {posterior::Options()};
  /// Prior standard deviation of the biases, which are Gaussian.
  double bias_prior_scale = 1;
  likelihood::Options likelihood;
};

/// One named array in the flat buffer of all parameters.
struct ParameterInfo {
  std::string name;  ///< such as "layer1.weight.row_direction"
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  bool trainable = true;
  bool is_scale = false;  ///< see posterior::ParameterBlock

  std::int64_t size() const;
};

/// A layer with weights: where it stands in the network and what it holds.
struct WeightedLayer {
  std::size_t index = 0;  ///< in network::NetworkSpec::layers
  std::string name;       ///< "layer1", "layer2", ... by position
  network::WeightShape shape;
  /// The weight's shape as libtorch has it: [out][in] or [out][in][h][w].
  std::vector<std::int64_t> tensor_shape;
  posterior::Options weight;
  posterior::Options bias;
  std::int64_t bias_size = 0;  ///< 0: none
  /// Index into Model::parameters() of the first array of the weight and of
  /// the bias.
  std::size_t first_weight_parameter = 0;
  std::size_t first_bias_parameter = 0;
};

/// A network with its posteriors and likelihood, checked, and the layout of
/// its parameters in one flat buffer. Holds no parameter values.
class Model {
 public:
  /// Throws ArgumentError when the layers do not fit each other, the posterior
  /// options are invalid, or the outputs do not fit the likelihood.
  explicit Model(ModelSpec spec);

  const ModelSpec& spec() const { return spec_; }
  const std::vector<WeightedLayer>& layers() const { return layers_; }
  const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  std::int64_t parameter_count() const { return parameter_count_; }
  std::int64_t input_size() const { return spec_.network.input.size(); }
  std::int64_t output_size() const { return output_size_; }
  const likelihood::Likelihood& likelihood() const { return *likelihood_; }
  /// Numbers per example in the targets (classes count as one label).
  std::int64_t target_size() const { return target_size_; }
  /// Number of parameters of the likelihood's own, and where in the flat buffer
  /// they start.
  std::int64_t likelihood_parameter_count() const {
    return parameter_count_ - likelihood_offset_;
  }
  std::int64_t likelihood_offset() const { return likelihood_offset_; }
  /// Whether two draws of the weights differ.
  bool has_noise() const { return has_noise_; }

  /// Several lines: the layers, their posteriors and the likelihood.
  std::string describe() const;

 private:
  void add_parameter(std::string name, std::vector<std::int64_t> shape,
                     bool trainable = true, bool is_scale = false);
  void add_posterior(const std::string& name, const network::WeightShape& shape,
                     const std::vector<std::int64_t>& tensor_shape,
                     const posterior::Options& options);

  ModelSpec spec_;
  std::shared_ptr<const likelihood::Likelihood> likelihood_;
  std::vector<WeightedLayer> layers_;
  std::vector<ParameterInfo> parameters_;
  std::int64_t parameter_count_ = 0;
  std::int64_t output_size_ = 0;
  std::int64_t target_size_ = 0;
  std::int64_t likelihood_offset_ = 0;
  bool has_noise_ = false;
};

}  // namespace radir::train
