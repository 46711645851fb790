// Prints, as JSON, what layers of radir::nn draw and the gradients they give,
// for tests/python/torch_test.py, which expects the same of radir.torch.

#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"
#include "radir/torch/nn/options.h"

namespace {

using Json = nlohmann::ordered_json;
using radir::nn::Family;

/// Numbers that any language can make: sin(1), sin(2), ...
torch::Tensor pattern(const std::vector<std::int64_t>& sizes,
                      torch::Dtype dtype) {
  torch::Tensor numbers = torch::empty(sizes, torch::kDouble);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    numbers.data_ptr<double>()[i] = std::sin(static_cast<double>(i + 1));
  }
  return numbers.to(dtype);
}

Json list_of(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kDouble).contiguous();
  return std::vector<double>(flat.data_ptr<double>(),
                             flat.data_ptr<double>() + flat.numel());
}

/// Two draws of a layer; the gradient of the second one's outputs times the
/// pattern, and of the KL.
template <typename Layer>
Json values(Layer layer, const std::vector<std::int64_t>& input,
            torch::Dtype dtype) {
  layer->to(dtype);
  const torch::Tensor x = pattern(input, dtype);
  const torch::Tensor first = layer->forward(x);
  const torch::Tensor second = layer->forward(x);
  const torch::Tensor kl = layer->kl();
  ((second * pattern(second.sizes().vec(), dtype)).sum() + kl).backward();
  Json parameters = Json::object(), gradients = Json::object();
  for (const auto& item : layer->named_parameters()) {
    parameters[item.key()] = list_of(item.value());
    gradients[item.key()] = list_of(item.value().grad());
  }
  return {{"first", list_of(first)},
          {"second", list_of(second)},
          {"kl", kl.template item<double>()},
          {"parameters", std::move(parameters)},
          {"gradients", std::move(gradients)}};
}

}  // namespace

int main() {
  using radir::nn::BayesConv2d;
  using radir::nn::BayesConv2dOptions;
  using radir::nn::BayesLinear;
  using radir::nn::BayesLinearOptions;
  torch::set_num_threads(1);
  Json document = Json::object();
  for (const auto& [family, name] :
       {std::pair{Family::RadialDirectional, "radial-directional"},
        std::pair{Family::Gaussian, "gaussian"}}) {
    for (const auto& [dtype, type] : {std::pair{torch::kFloat, "float32"},
                                      std::pair{torch::kDouble, "float64"}}) {
      const std::string end = std::string(" ") + name + " " + type;
      document["linear" + end] =
          values(BayesLinear(BayesLinearOptions(4, 3).family(family).seed(5)),
                 {2, 4}, dtype);
      document["conv2d" + end] = values(BayesConv2d(BayesConv2dOptions(4, 6, 3)
                                                        .stride(2)
                                                        .padding(1)
                                                        .groups(2)
                                                        .family(family)
                                                        .seed(6)),
                                        {2, 4, 5, 5}, dtype);
    }
  }
  std::cout << document.dump() << "\n";
  return 0;
}
