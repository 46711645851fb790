#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "radir/network/plain_network.h"
#include "radir/torch/nn/likelihood.h"
#include "radir/train/model.h"

// Built-in networks as libtorch modules that hold the same numbers, to be used
// or trained further in a program of one's own.

namespace radir::nn {

/// Keeps the features of the given indices: [batch, ...], flattened, to
/// [batch, indices]. What a pruned network has in front of a dense layer.
class SelectFeaturesImpl : public torch::nn::Cloneable<SelectFeaturesImpl> {
 public:
  /// Throws ArgumentError for a negative index.
  explicit SelectFeaturesImpl(std::vector<std::int64_t> indices);

  torch::Tensor forward(const torch::Tensor& input);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

 private:
  std::vector<std::int64_t> indices_;
  torch::Tensor index_;  // the buffer "index"
};

/// Holds a SelectFeaturesImpl.
TORCH_MODULE(SelectFeatures);

/// The network of plain numbers as libtorch's own layers: Linear, Conv2d,
/// MaxPool2d, ReLU, Flatten, and SelectFeatures, named "layer1", "layer2", ...
/// by their place in the description. Inputs are [batch, channels, height,
/// width], or [batch, features] where the description has no image.
///
///   torch::nn::Sequential net = to_module(train::point_network(model,
///   parameters));
///
/// T is float or double, and the modules' dtype. Throws ArgumentError when an
/// array has another size than the description says.
template <typename T>
torch::nn::Sequential to_module(const network::PlainNetwork<T>& network);

/// The Bayesian network with BayesLinear and BayesConv2d in place of Linear and
/// Conv2d, under the posterior of `parameters`, in the layout of the model. Its
/// random numbers come from torch's default generator.
///
/// Throws ArgumentError for a wrong number of parameters, UnsupportedError for
/// posteriors that the layers do not have (the rejection estimator).
template <typename T>
torch::nn::Sequential to_bayes_module(const train::Model& model,
                                      const std::vector<T>& parameters);

/// The Gaussian likelihood of a model with the posterior of its precision.
/// Throws ArgumentError when the model has another likelihood, or for a wrong
/// number of parameters.
template <typename T>
GaussianLikelihood to_gaussian_likelihood(const train::Model& model,
                                          const std::vector<T>& parameters);

}  // namespace radir::nn
