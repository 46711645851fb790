#pragma once

#include <torch/arg.h>
#include <torch/expanding_array.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>

#include "radir/torch/nn/bayes_layer.h"
#include "radir/torch/nn/options.h"

namespace radir::nn {

struct BayesConv2dOptions : LayerOptions<BayesConv2dOptions> {
  using Pair = torch::ExpandingArray<2>;

  BayesConv2dOptions(std::int64_t in_channels, std::int64_t out_channels,
                     Pair kernel_size)
      : in_channels_(in_channels),
        out_channels_(out_channels),
        kernel_size_(kernel_size) {}

  TORCH_ARG(std::int64_t, in_channels);
  TORCH_ARG(std::int64_t, out_channels);
  TORCH_ARG(Pair, kernel_size);
  TORCH_ARG(Pair, stride) = 1;
  TORCH_ARG(Pair, padding) = 0;
  TORCH_ARG(Pair, dilation) = 1;
  TORCH_ARG(std::int64_t, groups) = 1;
};

/// A convolution of images with random filters: [batch, in_channels, height,
/// width], or one image without the batch, to [batch, out_channels, ...]. A row
/// of the weight belongs to an output channel, a column to an input channel.
/// See BayesLayer for what it offers.
///
///   BayesConv2d layer(BayesConv2dOptions(16, 32, 3).padding(1).stride(2));
class BayesConv2dImpl : public BayesLayer<BayesConv2dImpl> {
 public:
  BayesConv2dImpl(std::int64_t in_channels, std::int64_t out_channels,
                  BayesConv2dOptions::Pair kernel_size)
      : BayesConv2dImpl(
            BayesConv2dOptions(in_channels, out_channels, kernel_size)) {}
  /// Throws ArgumentError for extents that are not positive, groups that do not
  /// divide the channels, and options that make no sense.
  explicit BayesConv2dImpl(const BayesConv2dOptions& options);

  const BayesConv2dOptions& options() const { return options_; }

 private:
  void check_sizes(const torch::Tensor& input) const override;
  torch::Tensor apply(const torch::Tensor& input,
                      const LayerWeights& weights) const override;
  torch::Tensor apply_each(const torch::Tensor& inputs,
                           const LayerWeights& weights) const override;

  BayesConv2dOptions options_;
};

/// Holds a BayesConv2dImpl.
TORCH_MODULE(BayesConv2d);

}  // namespace radir::nn
