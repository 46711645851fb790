#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"

// Layers of every family and shape, and how tensors are compared.

namespace radir::nn::testing {

/// |got - want| <= tolerance times the largest |want|; shapes must agree.
inline void expect_close(const torch::Tensor& got, const torch::Tensor& want,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(got.sizes(), want.sizes()) << what;
  const torch::Tensor a = got.detach().to(torch::kDouble);
  const torch::Tensor b = want.detach().to(torch::kDouble);
  const double error = (a - b).abs().max().item<double>();
  const double size = b.abs().max().item<double>();
  EXPECT_LE(error, tolerance * size) << what << ", largest element " << size;
}

/// The same bits.
inline void expect_same(const torch::Tensor& got, const torch::Tensor& want,
                        const std::string& what) {
  EXPECT_TRUE(torch::equal(got, want)) << what;
}

/// Posterior options that between them use every kind of parameter.
inline std::vector<std::pair<std::string, posterior::Options>> families() {
  std::vector<std::pair<std::string, posterior::Options>> result;
  for (const Grouping grouping :
       {Grouping::Row, Grouping::Column, Grouping::Double}) {
    posterior::RadialDirectionalOptions options;
    options.grouping = grouping;
    options.direction_gap = 0.1;
    result.emplace_back(to_string(grouping), options);
  }
  posterior::RadialDirectionalOptions own;
  own.concentration_per_group = true;
  own.global_scale.reset();
  own.direction_gap = 0.2;
  own.direction_prior = DirectionPrior::MeanDirection;
  result.emplace_back("double, own concentrations, mean directions", own);
  posterior::RadialDirectionalOptions uniform;
  uniform.direction_prior = DirectionPrior::Uniform;
  uniform.direction_gap = 0.2;
  result.emplace_back("double, uniform", uniform);
  posterior::RadialDirectionalOptions learnt;
  learnt.learn_prior = true;
  learnt.direction_gap = 0.3;
  learnt.direction_prior = DirectionPrior::MeanDirection;
  result.emplace_back("double, learnt prior", learnt);
  learnt.direction_prior = DirectionPrior::Uniform;
  result.emplace_back("double, uniform, learnt prior", learnt);
  posterior::GaussianOptions gaussian;
  gaussian.learn_prior = true;
  result.emplace_back("gaussian", gaussian);
  return result;
}

/// Moves every parameter off its starting value, where some gradients vanish.
inline void perturb(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(11);
  for (torch::Tensor& parameter : module.parameters()) {
    parameter.add_(0.2 * torch::randn_like(parameter));
  }
}

/// Calls body(layer, input, name) for dense layers and convolutions of each
/// family, in double, with seed 3 and parameters off their start.
template <typename Body>
void for_each_layer(const Body& body) {
  torch::manual_seed(5);
  const auto run = [&](auto layer, const torch::Tensor& input,
                       const std::string& name) {
    layer->to(torch::kDouble);
    perturb(*layer);
    body(layer, input.to(torch::kDouble), name);
  };
  for (const auto& [name, options] : families()) {
    for (const auto& [in, out] :
         {std::pair{5, 3}, std::pair{2, 7}, std::pair{33, 40}}) {
      run(BayesLinear(BayesLinearOptions(in, out).weight(options).seed(3)),
          torch::randn({4, in}),
          "linear " + std::to_string(in) + " to " + std::to_string(out) + ", " +
              name);
    }
    run(BayesLinear(
            BayesLinearOptions(6, 4).weight(options).seed(3).bias(false)),
        torch::randn({2, 3, 6}), "linear without bias, " + name);
    run(BayesConv2d(BayesConv2dOptions(3, 4, {3, 2})
                        .stride({2, 1})
                        .padding(1)
                        .weight(options)
                        .seed(3)),
        torch::randn({2, 3, 6, 5}), "convolution, " + name);
    run(BayesConv2d(BayesConv2dOptions(4, 6, 3)
                        .groups(2)
                        .dilation({1, 2})
                        .bias(false)
                        .weight(options)
                        .seed(3)),
        torch::randn({2, 4, 5, 7}), "grouped convolution, " + name);
  }
}

/// A loss with a gradient by every output.
inline torch::Tensor scalar_of(const torch::Tensor& output) {
  const torch::Tensor index =
      torch::arange(output.numel(), output.options().requires_grad(false));
  return (output.reshape(-1) * torch::cos(index + 1)).sum() +
         0.1 * output.square().sum();
}

/// Gradients of `loss` by the parameters; zeros where there is none.
inline std::vector<torch::Tensor> gradients_of(
    const torch::Tensor& loss, const std::vector<torch::Tensor>& parameters) {
  std::vector<torch::Tensor> gradients = torch::autograd::grad(
      {loss}, parameters, {}, /*retain_graph=*/c10::nullopt,
      /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined())
      gradients[i] = torch::zeros_like(parameters[i]);
  }
  return gradients;
}

/// Compares gradients by all of a module's parameters.
inline void expect_same_gradients(const torch::nn::Module& module,
                                  const torch::Tensor& got,
                                  const torch::Tensor& want, double tolerance,
                                  const std::string& what) {
  const auto named = module.named_parameters();
  const auto of_got = gradients_of(got, module.parameters());
  const auto of_want = gradients_of(want, module.parameters());
  for (std::size_t i = 0; i < of_got.size(); ++i) {
    expect_close(of_got[i], of_want[i], tolerance,
                 what + ", " + named[i].key());
  }
}

}  // namespace radir::nn::testing
