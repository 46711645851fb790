#include "radir/torch/nn/adam.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <sstream>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "torch/nn/layer_cases.h"

namespace radir::nn {
namespace {

using radir::testing::expect_error;
using testing::expect_close;
using testing::expect_same;
using Options = torch::optim::AdamOptions;

/// Parameters with a loss in which they matter differently, in double.
struct Problem {
  std::vector<torch::Tensor> parameters = {
      torch::ones({3, 4}, torch::kDouble).requires_grad_(),
      torch::full({5}, -2.0, torch::kDouble).requires_grad_(),
      torch::ones({2}, torch::kDouble).requires_grad_()};

  /// The last one gets no gradient.
  void set_gradients() {
    for (torch::Tensor& p : parameters) p.mutable_grad() = torch::Tensor();
    (torch::exp(parameters[0]).sum() + parameters[1].pow(4).sum()).backward();
  }

  template <typename Optimizer>
  void run(Optimizer& optimizer, int steps) {
    for (int i = 0; i < steps; ++i) {
      set_gradients();
      optimizer.step();
    }
  }
};

TEST(Adam, IsTorchsAdam) {
  for (const Options& options :
       {Options(0.05),
        Options(0.1).betas({0.8, 0.95}).eps(1e-3).weight_decay(0.1)}) {
    Problem ours, torchs;
    Adam fused(ours.parameters, options);
    torch::optim::Adam plain(torchs.parameters, options);
    ours.run(fused, 50);
    torchs.run(plain, 50);
    for (std::size_t i = 0; i < ours.parameters.size(); ++i) {
      expect_close(ours.parameters[i], torchs.parameters[i], 1e-12,
                   "parameter " + std::to_string(i));
    }
  }
}

TEST(Adam, EachGroupFollowsItsOptions) {
  Problem problem;
  Adam optimizer({torch::optim::OptimizerParamGroup(
                      {problem.parameters[0]}, std::make_unique<Options>(0.0)),
                  torch::optim::OptimizerParamGroup({problem.parameters[1]})},
                 Options(0.1));
  problem.run(optimizer, 1);
  EXPECT_EQ(problem.parameters[0].sum().item<double>(), 12);
  EXPECT_NEAR(problem.parameters[1].mean().item<double>(), -1.9, 1e-6);
}

TEST(Adam, SavedAndLoadedItGoesOn) {
  Problem first;
  Adam optimizer(first.parameters, Options(0.05));
  first.run(optimizer, 3);
  std::stringstream file;
  torch::save(optimizer, file);

  Problem second;
  {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < 3; ++i) {
      second.parameters[i].copy_(first.parameters[i]);
    }
  }
  Adam loaded(second.parameters, Options(0.05));
  torch::load(loaded, file);
  first.run(optimizer, 2);
  second.run(loaded, 2);
  expect_same(second.parameters[0], first.parameters[0], "resumed");

  Adam other({torch::ones({7}, torch::kDouble).requires_grad_()},
             Options(0.05));
  file.clear();
  file.seekg(0);
  expect_error<ArgumentError>([&] { torch::load(other, file); },
                              "parameter 0 has the shape [3, 4], but here it "
                              "is [7]");
}

TEST(Adam, ZeroGradDropsTheGradients) {
  Problem problem;
  Adam optimizer(problem.parameters, Options(0.1));
  problem.set_gradients();
  optimizer.zero_grad();
  for (const torch::Tensor& parameter : problem.parameters) {
    EXPECT_FALSE(parameter.grad().defined());
  }
}

TEST(Adam, RunsAClosureAndTellsTheGraph) {
  torch::Tensor x = torch::ones({2}).requires_grad_();
  Adam optimizer({x}, Options(0.1));
  const torch::Tensor loss = optimizer.step([&] {
    torch::Tensor value = x.square().sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<double>(), 2);

  // A graph that needs the old values refuses to go on with the new ones.
  const torch::Tensor stale = x.square().sum();
  optimizer.step();
  EXPECT_THROW(stale.backward(), c10::Error);
}

TEST(Adam, RefusesWhatItCannotDo) {
  torch::Tensor x = torch::ones({2, 3}).requires_grad_();
  const auto step = [](torch::Tensor parameter, const Options& options) {
    parameter.mutable_grad() = torch::ones_like(parameter);
    Adam({parameter}, options).step();
  };
  expect_error<UnsupportedError>([&] { step(x, Options().amsgrad(true)); },
                                 "amsgrad is not supported");
  expect_error<UnsupportedError>(
      [&] { step(x.detach().t().requires_grad_(), Options()); },
      "parameters must be contiguous float or double tensors on the CPU");
  expect_error<DomainError>([&] { step(x, Options(-1)); }, "learning_rate");
}

}  // namespace
}  // namespace radir::nn
