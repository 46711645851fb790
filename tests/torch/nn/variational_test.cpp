#include "radir/torch/nn/variational.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "radir/core/error.h"
#include "radir/torch/nn/likelihood.h"
#include "support/expect_error.h"
#include "torch/nn/layer_cases.h"

namespace radir::nn {
namespace {

using radir::testing::expect_error;
using testing::expect_close;
using testing::expect_same;

/// A network as a user writes one: layers of ours and of libtorch's.
struct NetImpl : torch::nn::Module {
  NetImpl()
      : convolution(BayesConv2dOptions(1, 4, 3).padding(1).seed(1)),
        norm(4),
        output(BayesLinearOptions(4 * 16, 3).seed(2)) {
    register_module("convolution", convolution);
    register_module("norm", norm);
    register_module("inner", torch::nn::Sequential(output));
    register_module("noise", noise);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return output(torch::relu(norm(convolution(x))).flatten(1));
  }

  BayesConv2d convolution;
  torch::nn::BatchNorm2d norm;
  BayesLinear output;
  GaussianLikelihood noise;
};
TORCH_MODULE(Net);

TEST(Variational, TheKlOfAModuleIsTheSumOverItsParts) {
  Net net;
  const double want = net->convolution->kl().item<double>() +
                      net->output->kl().item<double>() +
                      net->noise->kl().item<double>();
  EXPECT_NEAR(kl(*net).item<double>(), want, 1e-6 * want);
  kl(*net).backward();
  EXPECT_TRUE(net->output->named_parameters()["bias_loc"].grad().defined());
  expect_same(kl(*net->output), net->output->kl(), "a layer alone");

  // A part that is reached along two ways counts once.
  net->register_module("again", net->output);
  EXPECT_NEAR(kl(*net).item<double>(), want, 1e-6 * want);

  expect_error<ArgumentError>([] { kl(*torch::nn::Linear(2, 3)); },
                              "holds no Bayesian layer");
}

/// A part of a user's own, with nothing but kl().
struct OwnPartImpl : torch::nn::Module, Variational {
  OwnPartImpl()
      : weight(register_parameter("weight", torch::ones({3}, torch::kDouble))) {
  }
  torch::Tensor kl() const override { return weight.square().sum(); }

  torch::Tensor weight;
};
TORCH_MODULE(OwnPart);

TEST(Variational, TheKlHoldsPartsOfAUsersOwn) {
  Net net;
  const double before = kl(*net).item<double>();
  OwnPart own;
  net->register_module("own", own);
  EXPECT_NEAR(kl(*net).item<double>(), before + 3, 1e-6 * before);
  EXPECT_EQ(kl(*net).scalar_type(), torch::kDouble) << "the wider dtype";
  kl(*net).backward();
  EXPECT_EQ(own->weight.grad().sum().item<double>(), 6);
}

TEST(Variational, SetsTheModeOfAllLayers) {
  Net net;
  set_mode(*net, Mode::Mean);
  EXPECT_EQ(net->convolution->mode(), Mode::Mean);
  EXPECT_EQ(net->output->mode(), Mode::Mean);
}

TEST(Variational, ManyDrawsOfANetworkAreThoseOfManyCalls) {
  torch::manual_seed(3);
  Net net;
  net->to(torch::kDouble);
  net->eval();
  const torch::Tensor x = torch::randn({2, 1, 4, 4}, torch::kDouble);
  const auto forward = [&](const torch::Tensor& input) {
    return net->forward(input);
  };
  const torch::Tensor batched = sample_forward(*net, x, 3, forward);
  ASSERT_EQ(batched.sizes(), torch::IntArrayRef({3, 2, 3}));
  EXPECT_EQ(net->output->parallel_samples(), 1) << "as before";
  EXPECT_EQ(net->output->mode(), Mode::Auto) << "as before";

  const auto rewind = [&] {
    net->convolution->named_buffers()["draws"].zero_();
    net->output->named_buffers()["draws"].zero_();
  };
  rewind();
  expect_same(sample_forward(*net, x, 3), batched, "without a function");
  rewind();
  expect_same(sample_forward(net, x, 3), batched, "by the holder");
  rewind();
  torch::nn::Sequential chain(net);
  expect_same(sample_forward(chain, x, 3), batched, "a sequential");
  EXPECT_FALSE(torch::equal(sample_forward(net, x, 1)[0], net->forward(x)))
      << "one sample is not the mean";

  rewind();
  set_mode(*net, Mode::Sample);
  const torch::Tensor one_by_one =
      torch::stack({forward(x), forward(x), forward(x)});
  expect_close(batched, one_by_one, 1e-14, "outputs");
  testing::expect_same_gradients(*net->output, testing::scalar_of(batched),
                                 testing::scalar_of(one_by_one), 1e-12,
                                 "gradients");

  set_mode(*net, Mode::Mean);
  const torch::Tensor same = sample_forward(*net, x, 2, forward);
  expect_same(same[0], same[1], "the mean does not vary");
}

TEST(Variational, SampleForwardSaysWhatDoesNotFit) {
  Net net;
  const torch::Tensor x = torch::zeros({2, 1, 4, 4});
  const auto forward = [&](const torch::Tensor& input) {
    return net->forward(input);
  };
  expect_error<ArgumentError>([&] { sample_forward(*net, x, 0, forward); },
                              "samples must be positive, but is 0");
  expect_error<ArgumentError>(
      [&] { sample_forward(*net, torch::zeros({}), 2, forward); },
      "the input must have a batch dimension");
  expect_error<ArgumentError>(
      [&] {
        sample_forward(*net, x, 2, [&](const torch::Tensor& input) {
          return net->forward(input).transpose(0, 1);
        });
      },
      "must keep the batch of 4 in its first dimension, but gave the shape [3, "
      "4]");
  EXPECT_EQ(net->output->parallel_samples(), 1) << "even after an error";
}

}  // namespace
}  // namespace radir::nn
