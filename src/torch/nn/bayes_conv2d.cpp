#include "radir/torch/nn/bayes_conv2d.h"

#include <torch/torch.h>

#include <sstream>

#include "radir/core/error.h"
#include "radir/network/weight_shape.h"

namespace radir::nn {
namespace {

std::string title(const BayesConv2dOptions& options) {
  std::ostringstream text;
  text << "BayesConv2d(" << options.in_channels() << ", "
       << options.out_channels() << ", kernel_size=" << options.kernel_size()
       << ", stride=" << options.stride() << ", padding=" << options.padding()
       << ", dilation=" << options.dilation() << ", groups=" << options.groups()
       << (options.bias() ? ")" : ", bias=false)");
  return text.str();
}

/// The options as they are, once they are known to make sense.
const BayesConv2dOptions& checked(const BayesConv2dOptions& options) {
  const auto check_pair = [&](const char* name,
                              const BayesConv2dOptions::Pair& pair,
                              std::int64_t least) {
    for (std::int64_t extent : *pair) {
      RADIR_CHECK(extent >= least, ArgumentError, title(options), ": ", name,
                  " must be at least ", least, ", but is ", pair);
    }
  };
  check_pair("kernel_size", options.kernel_size(), 1);
  check_pair("stride", options.stride(), 1);
  check_pair("padding", options.padding(), 0);
  check_pair("dilation", options.dilation(), 1);
  const std::int64_t groups = options.groups();
  RADIR_CHECK(groups > 0 && options.in_channels() % groups == 0 &&
                  options.out_channels() % groups == 0,
              ArgumentError, title(options),
              ": groups must be positive and divide both numbers of channels, ",
              "but is ", groups);
  return options;
}

network::WeightShape weight_shape(const BayesConv2dOptions& options) {
  const auto& kernel = *options.kernel_size();
  return {options.groups(), options.out_channels() / options.groups(),
          options.in_channels() / options.groups(), kernel[0] * kernel[1]};
}

std::vector<std::int64_t> weight_sizes(const BayesConv2dOptions& options) {
  const auto& kernel = *options.kernel_size();
  return {options.out_channels(), options.in_channels() / options.groups(),
          kernel[0], kernel[1]};
}

}  // namespace

BayesConv2dImpl::BayesConv2dImpl(const BayesConv2dOptions& options)
    : BayesLayer(nn::title(options), nn::weight_shape(checked(options)),
                 weight_sizes(checked(options)), options.settings()),
      options_(options) {}

void BayesConv2dImpl::check_sizes(const torch::Tensor& input) const {
  RADIR_CHECK((input.dim() == 3 || input.dim() == 4) &&
                  input.size(-3) == options_.in_channels(),
              ArgumentError, title(), ": the input must be [batch, ",
              options_.in_channels(), ", height, width], but its shape is ",
              input.sizes());
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = input.size(static_cast<std::int64_t>(i) - 2) +
                              2 * (*options_.padding())[i];
    const std::int64_t reach =
        (*options_.dilation())[i] * ((*options_.kernel_size())[i] - 1) + 1;
    RADIR_CHECK(size >= reach, ArgumentError, title(), ": the kernel reaches ",
                "over ", reach, " pixels, but the padded image has only ", size,
                "; the input's shape is ", input.sizes());
  }
}

torch::Tensor BayesConv2dImpl::apply(const torch::Tensor& input,
                                     const LayerWeights& weights) const {
  return torch::conv2d(input, weights.weight, weights.bias, options_.stride(),
                       options_.padding(), options_.dilation(),
                       options_.groups());
}

torch::Tensor BayesConv2dImpl::apply_each(const torch::Tensor& inputs,
                                          const LayerWeights& weights) const {
  std::vector<torch::Tensor> outputs;
  for (std::int64_t i = 0; i < inputs.size(0); ++i) {
    const torch::Tensor bias =
        weights.bias.defined() ? weights.bias[i] : torch::Tensor();
    outputs.push_back(apply(inputs[i], {weights.weight[i], bias}));
  }
  return torch::stack(outputs);
}

}  // namespace radir::nn
