#pragma once

#include <torch/arg.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>

#include "radir/torch/nn/bayes_layer.h"
#include "radir/torch/nn/options.h"

namespace radir::nn {

struct BayesLinearOptions : LayerOptions<BayesLinearOptions> {
  BayesLinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}

  TORCH_ARG(std::int64_t, in_features);
  TORCH_ARG(std::int64_t, out_features);
};

/// y = x W^T + b with W and b random: [..., in_features] to
/// [..., out_features]. A row of W belongs to an output, a column to an input.
/// See BayesLayer for what it offers.
///
///   BayesLinear layer(BayesLinearOptions(13, 50).grouping(Grouping::Row));
///   torch::Tensor y = layer(x);
///   torch::Tensor loss = ... + layer->kl() / number_of_examples;
class BayesLinearImpl : public BayesLayer<BayesLinearImpl> {
 public:
  BayesLinearImpl(std::int64_t in_features, std::int64_t out_features)
      : BayesLinearImpl(BayesLinearOptions(in_features, out_features)) {}
  /// Throws ArgumentError for extents below 1 and options that make no sense.
  explicit BayesLinearImpl(const BayesLinearOptions& options);

  const BayesLinearOptions& options() const { return options_; }

 private:
  void check_sizes(const torch::Tensor& input) const override;
  torch::Tensor apply(const torch::Tensor& input,
                      const LayerWeights& weights) const override;
  torch::Tensor apply_each(const torch::Tensor& inputs,
                           const LayerWeights& weights) const override;

  BayesLinearOptions options_;
};

/// Holds a BayesLinearImpl.
TORCH_MODULE(BayesLinear);

}  // namespace radir::nn
