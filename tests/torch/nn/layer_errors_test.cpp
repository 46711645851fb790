#include <gtest/gtest.h>
#include <torch/torch.h>

#include <limits>

#include "radir/core/error.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"
#include "support/expect_error.h"

namespace radir::nn {
namespace {

using radir::testing::expect_error;

TEST(BayesLayerErrors, ImpossibleShapesNameTheLayer) {
  expect_error<ArgumentError>([] { BayesLinear(0, 3); },
                              "BayesLinear(0, 3): weight posterior: every "
                              "extent of the weight must be positive");
  expect_error<ArgumentError>(
      [] { BayesConv2d(BayesConv2dOptions(4, 6, 3).groups(4)); },
      "groups must be positive and divide both numbers of channels, but is 4");
  expect_error<ArgumentError>(
      [] { BayesConv2d(BayesConv2dOptions(4, 6, 3).groups(0)); }, "but is 0");
  expect_error<ArgumentError>(
      [] {
        BayesConv2d(BayesConv2dOptions(4, 6, {3, 0}));
      },
      "kernel_size must be at least 1, but is [3, 0]");
  expect_error<ArgumentError>(
      [] { BayesConv2d(BayesConv2dOptions(4, 6, 3).stride(0)); },
      "stride must be at least 1");
  expect_error<ArgumentError>(
      [] {
        BayesConv2d(BayesConv2dOptions(4, 6, 3).padding({0, -1}));
      },
      "padding must be at least 0, but is [0, -1]");
  expect_error<ArgumentError>(
      [] { BayesConv2d(BayesConv2dOptions(4, 6, 3).dilation(0)); },
      "dilation must be at least 1");
}

TEST(BayesLayerErrors, OptionsThatMakeNoSenseNameTheLayer) {
  expect_error<ArgumentError>(
      [] { BayesLinear(BayesLinearOptions(5, 3).local_scale(-1)); },
      "BayesLinear(5, 3): radial-directional posterior: local_scale must be > "
      "0, but is -1");
  expect_error<ArgumentError>(
      [] { BayesLinear(BayesLinearOptions(5, 3).bias_prior_scale(0)); },
      "BayesLinear(5, 3): gaussian posterior: prior_scale");
  posterior::RadialDirectionalOptions options;
  options.estimator = math::VmfEstimator::Rejection;
  expect_error<UnsupportedError>(
      [&] { BayesLinear(BayesLinearOptions(5, 3).weight(options)); },
      "BayesLinear(5, 3): the rejection estimator needs the loss");
}

TEST(BayesLayerErrors, OptionsOfAnotherFamilyAreRefused) {
  auto options =
      BayesLinearOptions(5, 3).initial_gain(1.5).family(Family::Gaussian);
  EXPECT_EQ(
      options.settings().weight.get<posterior::GaussianOptions>().initial_gain,
      1.5);
  expect_error<ArgumentError>([&] { options.grouping(Grouping::Row); },
                              "options of the family gaussian");
}

TEST(BayesLayerErrors, InputsOfTheWrongSizeNameTheLayerAndTheSize) {
  BayesLinear linear(5, 3);
  expect_error<ArgumentError>(
      [&] {
        linear(torch::ones({2, 4}));
      },
      "BayesLinear(5, 3): the last dimension of the "
      "input must be 5, but its shape is [2, 4]");
  expect_error<ArgumentError>([&] { linear(torch::ones({})); },
                              "but its shape is []");
  BayesConv2d convolution(BayesConv2dOptions(3, 4, 5).dilation(2).padding(1));
  expect_error<ArgumentError>(
      [&] {
        convolution(torch::ones({2, 4, 9, 9}));
      },
      "the input must be [batch, 3, height, width], but its shape is [2, 4, 9, "
      "9]");
  expect_error<ArgumentError>(
      [&] {
        convolution(torch::ones({3, 9}));
      },
      "[3, 9]");
  expect_error<ArgumentError>(
      [&] {
        convolution(torch::ones({2, 3, 9, 6}));
      },
      "the kernel reaches over 9 pixels, but the padded image has only 8");
  expect_error<ArgumentError>(
      [&] {
        linear(torch::ones({2, 5}, torch::kDouble));
      },
      "the input must have the layer's dtype Float, but has Double");
}

TEST(BayesLayerErrors, InputsThatAreNotFiniteNameTheLayerAndTheValue) {
  torch::Tensor input = torch::ones({2, 5});
  input[1][2] = std::numeric_limits<float>::infinity();
  expect_error<DomainError>([&] { BayesLinear(5, 3)(input); },
                            "BayesLinear(5, 3): the input must be finite, but "
                            "is inf at element 7 of shape [2, 5]");
  BayesLinear trusting(BayesLinearOptions(5, 3).validate(false));
  EXPECT_NO_THROW(trusting(input));
  // Finite numbers with an infinite sum are finite.
  EXPECT_NO_THROW(BayesLinear(5, 3)(torch::full({1, 5}, 3e38)));
}

TEST(BayesLayerErrors, OtherDevicesAndDtypesAreRefused) {
  BayesLinear layer(5, 3);
  expect_error<UnsupportedError>(
      [&] { layer->to(torch::kCUDA); },
      "BayesLinear(5, 3): Bayesian layers run on the "
      "CPU, but the device is cuda");
  expect_error<UnsupportedError>(
      [&] { layer->to(torch::kCUDA, torch::kFloat); }, "cuda");
  expect_error<UnsupportedError>(
      [&] {
        layer(torch::ones({2, 5}, torch::kMeta));
      },
      "meta");
  expect_error<ArgumentError>([&] { layer->to(torch::kHalf); },
                              "the dtype must be float or double, but is Half");
  EXPECT_NO_THROW(layer(torch::ones({2, 5}))) << "the layer is as it was";
}

TEST(BayesLayerErrors, ParametersThatAreNotFiniteNameTheLayer) {
  BayesLinear layer(5, 3);
  {
    const torch::NoGradGuard no_grad;
    layer->named_parameters()["weight_row_local_loc_a"][1] =
        std::numeric_limits<float>::quiet_NaN();
  }
  expect_error<NumericalError>(
      [&] {
        layer(torch::ones({2, 5}));
      },
      "BayesLinear(5, 3): RdpKernel::sample: row 1");
}

TEST(BayesLayerErrors, NumbersOfSamplesMustBePositiveAndFit) {
  BayesLinear layer(5, 3);
  expect_error<ArgumentError>(
      [&] {
        layer->sample_forward(torch::ones({2, 5}), 0);
      },
      "the number of samples must be positive, but is 0");
  expect_error<ArgumentError>(
      [&] { layer->set_parallel_samples(-1); },
      "the number of samples must be positive, but is -1");
  layer->set_parallel_samples(3);
  expect_error<ArgumentError>(
      [&] {
        layer(torch::ones({4, 5}));
      },
      "a multiple of the 3 parallel samples, but its shape is [4, 5]");
}

}  // namespace
}  // namespace radir::nn
