#include "radir/torch/nn/bayes_linear.h"

#include <torch/torch.h>

#include <sstream>

#include "radir/core/error.h"

namespace radir::nn {
namespace {

std::string title(const BayesLinearOptions& options) {
  std::ostringstream text;
  text << "BayesLinear(" << options.in_features() << ", "
       << options.out_features() << (options.bias() ? ")" : ", bias=false)");
  return text.str();
}

}  // namespace

BayesLinearImpl::BayesLinearImpl(const BayesLinearOptions& options)
    : BayesLayer(nn::title(options),
                 {1, options.out_features(), options.in_features(), 1},
                 {options.out_features(), options.in_features()},
                 options.settings()),
      options_(options) {}

void BayesLinearImpl::check_sizes(const torch::Tensor& input) const {
  RADIR_CHECK(input.dim() >= 1 && input.size(-1) == options_.in_features(),
              ArgumentError, title(),
              ": the last dimension of the input must be ",
              options_.in_features(), ", but its shape is ", input.sizes());
}

torch::Tensor BayesLinearImpl::apply(const torch::Tensor& input,
                                     const LayerWeights& weights) const {
  return torch::linear(input, weights.weight, weights.bias);
}

torch::Tensor BayesLinearImpl::apply_each(const torch::Tensor& inputs,
                                          const LayerWeights& weights) const {
  const std::int64_t samples = inputs.size(0);
  const torch::Tensor x = inputs.reshape({samples, -1, options_.in_features()});
  torch::Tensor y = torch::bmm(x, weights.weight.transpose(1, 2));
  if (weights.bias.defined()) y = y + weights.bias.unsqueeze(1);
  std::vector<std::int64_t> sizes = inputs.sizes().vec();
  sizes.back() = options_.out_features();
  return y.reshape(sizes);
}

}  // namespace radir::nn
