#include "radir/torch/nn/likelihood.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/math/predictive.h"
#include "radir/math/radial_kl.h"
#include "radir/torch/nn/elbo.h"
#include "support/expect_error.h"

namespace radir::nn {
namespace {

using radir::testing::expect_error;

constexpr double kLog2Pi = 1.8378770664093454836;

torch::Tensor random(std::initializer_list<std::int64_t> sizes) {
  return torch::randn(sizes, torch::kDouble);
}

double at(const torch::Tensor& x, std::int64_t i, std::int64_t j,
          std::int64_t k) {
  return x[i][j][k].item<double>();
}

/// The mean over samples and examples, and the mixture of each example, of
/// log_prob(sample, example), computed number by number.
template <typename LogProb>
void expect_likelihood(const ObservationModel& likelihood,
                       const torch::Tensor& outputs,
                       const torch::Tensor& targets,
                       const LogProb& expected_log_prob,
                       const LogProb& predictive_log_prob) {
  const std::int64_t samples = outputs.size(0), batch = outputs.size(1);
  double sum = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    for (std::int64_t b = 0; b < batch; ++b) sum += expected_log_prob(s, b);
  }
  EXPECT_NEAR(likelihood.nll(outputs, targets).item<double>(),
              -sum / static_cast<double>(samples * batch), 1e-12);
  double first = 0;
  for (std::int64_t b = 0; b < batch; ++b) first += expected_log_prob(0, b);
  EXPECT_NEAR(likelihood.nll(outputs[0], targets).item<double>(),
              -first / static_cast<double>(batch), 1e-12);

  const torch::Tensor mixture =
      likelihood.predictive_log_prob(outputs, targets);
  ASSERT_EQ(mixture.sizes(), torch::IntArrayRef({batch}));
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<double> terms;
    for (std::int64_t s = 0; s < samples; ++s) {
      terms.push_back(predictive_log_prob(s, b));
    }
    EXPECT_NEAR(mixture[b].item<double>(),
                math::log_mean_exp(terms.data(), samples), 1e-12);
  }
}

TEST(GaussianLikelihood, IsTheFormulaNumberByNumber) {
  torch::manual_seed(1);
  GaussianLikelihood likelihood(
      GaussianLikelihoodOptions().prior_shape(2).prior_rate(3).observations(8));
  likelihood->to(torch::kDouble);
  const double a = likelihood->shape().item<double>();
  const double b = likelihood->rate().item<double>();
  EXPECT_NEAR(a, 2 + 8 / 2.0, 1e-6);
  EXPECT_NEAR(a / b, 2.0 / 3, 1e-6) << "the mean precision is the prior's";
  const torch::Tensor outputs = random({3, 4, 2}), targets = random({4, 2});
  const auto sum_of = [&](auto log_prob) {
    return std::function<double(std::int64_t, std::int64_t)>(
        [&, log_prob](std::int64_t s, std::int64_t i) {
          double sum = 0;
          for (std::int64_t d = 0; d < 2; ++d) {
            sum += log_prob(targets[i][d].item<double>(), at(outputs, s, i, d),
                            a, b);
          }
          return sum;
        });
  };
  expect_likelihood(*likelihood, outputs, targets,
                    sum_of([](double y, double f, double shape, double rate) {
                      return math::expected_log_likelihood(y, f, shape, rate);
                    }),
                    sum_of([](double y, double f, double shape, double rate) {
                      return math::student_log_likelihood(y, f, shape, rate);
                    }));
  EXPECT_NEAR(likelihood->kl().item<double>(), math::kl_gamma(a, b, 2.0, 3.0),
              1e-12);
}

TEST(GaussianLikelihood, ItsGradientsAreFiniteDifferences) {
  torch::manual_seed(2);
  GaussianLikelihood likelihood;
  likelihood->to(torch::kDouble);
  const torch::Tensor outputs = random({4, 2}).requires_grad_();
  const torch::Tensor targets = random({4, 2});
  const auto loss = [&] {
    return likelihood->nll(outputs, targets) + 0.1 * likelihood->kl();
  };
  loss().backward();
  const torch::NoGradGuard no_grad;
  auto parameters = likelihood->named_parameters();
  for (torch::Tensor x :
       {parameters["log_shape"], parameters["log_rate"], outputs}) {
    double* value = x.data_ptr<double>();
    const double before = *value, h = 1e-4;
    *value = before + h;
    const double above = loss().item<double>();
    *value = before - h;
    const double below = loss().item<double>();
    *value = before;
    EXPECT_NEAR(*x.grad().data_ptr<double>(), (above - below) / (2 * h), 1e-6);
  }
}

TEST(GaussianLikelihood, ItsGradientsAreTheSameWhenTheyAreRecorded) {
  torch::manual_seed(2);
  GaussianLikelihood likelihood;
  likelihood->to(torch::kDouble);
  const torch::Tensor outputs = random({3, 4, 2}).requires_grad_();
  const torch::Tensor targets = random({4, 2}).requires_grad_();
  const auto parameters = likelihood->parameters();
  const std::vector<torch::Tensor> by = {outputs, targets, parameters[0],
                                         parameters[1]};
  const auto gradients = [&](bool recorded) {
    return torch::autograd::grad({0.7 * likelihood->nll(outputs, targets)}, by,
                                 {}, recorded, recorded);
  };
  const auto got = gradients(false), want = gradients(true);
  for (std::size_t i = 0; i < by.size(); ++i) {
    EXPECT_TRUE(torch::allclose(got[i], want[i], 1e-12)) << "input " << i;
  }
  // d^2 nll / d output^2 is the mean precision per example.
  want[0].sum().backward();
  const double precision =
      (likelihood->shape() / likelihood->rate()).item<double>();
  EXPECT_NEAR(outputs.grad()[0][0][0].item<double>(), 0.7 * precision / 12,
              1e-12);
}

TEST(GaussianLikelihood, LearnsTheNoiseOfItsTargets) {
  torch::manual_seed(3);
  constexpr std::int64_t kCount = 2000;
  GaussianLikelihood likelihood(
      GaussianLikelihoodOptions().prior_shape(1).prior_rate(1).observations(
          kCount));
  const torch::Tensor targets = 0.3 * torch::randn({kCount, 1});
  const torch::Tensor outputs = torch::zeros({kCount, 1});
  const Elbo elbo(kCount);
  torch::optim::Adam optimizer(likelihood->parameters(), 0.05);
  for (int i = 0; i < 300; ++i) {
    optimizer.zero_grad();
    elbo(likelihood->nll(outputs, targets), likelihood->kl()).loss.backward();
    optimizer.step();
  }
  const double rate = 1 + targets.square().sum().item<double>() / 2;
  EXPECT_NEAR(likelihood->shape().item<double>(), 1 + kCount / 2.0, 1e-3);
  EXPECT_NEAR(likelihood->rate().item<double>(), rate, 0.01 * rate);
}

TEST(GaussianLikelihood, PrintsClonesAndChecksItsOptions) {
  GaussianLikelihood likelihood;
  std::ostringstream text;
  text << *likelihood;
  EXPECT_EQ(text.str(),
            "radir::nn::GaussianLikelihood(prior Gamma(6, 6), posterior "
            "Gamma(6, 6))");
  const auto copy =
      std::dynamic_pointer_cast<GaussianLikelihoodImpl>(likelihood->clone());
  EXPECT_EQ(copy->kl().item<double>(), likelihood->kl().item<double>());
  expect_error<ArgumentError>(
      [] { GaussianLikelihood(GaussianLikelihoodOptions().prior_shape(0)); },
      "prior_shape must be finite and > 0, but is 0");
  expect_error<ArgumentError>(
      [] { GaussianLikelihood(GaussianLikelihoodOptions().prior_rate(-1)); },
      "prior_rate must be finite and > 0, but is -1");
  expect_error<ArgumentError>(
      [] { GaussianLikelihood(GaussianLikelihoodOptions().observations(-1)); },
      "observations must not be negative, but is -1");
}

TEST(PredictedNoise, IsTheFormulaNumberByNumber) {
  torch::manual_seed(4);
  const torch::Tensor outputs = random({3, 4, 4}), targets = random({4, 2});
  const std::function<double(std::int64_t, std::int64_t)> log_prob =
      [&](std::int64_t s, std::int64_t i) {
        double sum = 0;
        for (std::int64_t d = 0; d < 2; ++d) {
          const double log_variance = at(outputs, s, i, 2 + d);
          const double residual =
              targets[i][d].item<double>() - at(outputs, s, i, d);
          sum -= 0.5 * (kLog2Pi + log_variance +
                        residual * residual / std::exp(log_variance));
        }
        return sum;
      };
  expect_likelihood(PredictedNoise(), outputs, targets, log_prob, log_prob);
}

TEST(PredictedNoise, IsTheKernelsOutsideTheBoundsOfTheNoise) {
  constexpr std::int64_t kBatch = 6, kStride = 16;
  const std::vector<double> residuals = {1e-7, 0.5, 100, 1e-7, 0.5, 100};
  const std::vector<double> noises = {-30, -1e9, -40, 5, 1e9, 50};
  std::vector<double> outputs(2 * kStride), gradient(2 * kStride);
  std::copy(residuals.begin(), residuals.end(), outputs.begin());
  std::copy(noises.begin(), noises.end(), outputs.begin() + kStride);
  const std::vector<double> zeros(kBatch);
  kernels::LikelihoodData<double> data;
  data.outputs = outputs.data();
  data.num_outputs = 2;
  data.batch = kBatch;
  data.stride = kStride;
  data.gradient = gradient.data();
  data.scale = 1.0 / kBatch;
  const double loss = kernels::predicted_noise_loss(
      data, zeros.data(), kernels::NoiseOutput::LogVariance);

  const torch::Tensor tensor =
      torch::stack({torch::tensor(residuals, torch::kDouble),
                    torch::tensor(noises, torch::kDouble)},
                   1)
          .requires_grad_();
  const torch::Tensor nll =
      PredictedNoise().nll(tensor, torch::zeros({kBatch, 1}, torch::kDouble));
  nll.backward();
  EXPECT_NEAR(nll.item<double>(), loss / kBatch, 1e-12 * loss);
  for (std::int64_t i = 0; i < kBatch; ++i) {
    for (std::int64_t k = 0; k < 2; ++k) {
      const double want = gradient[static_cast<std::size_t>(k * kStride + i)];
      EXPECT_NEAR(tensor.grad()[i][k].item<double>(), want,
                  1e-12 * std::fabs(want))
          << i << ", " << k;
    }
  }
}

TEST(Categorical, IsTheFormulaNumberByNumber) {
  torch::manual_seed(5);
  const torch::Tensor outputs = random({3, 4, 5});
  const torch::Tensor labels = torch::tensor({4, 0, 2, 2}, torch::kLong);
  const std::function<double(std::int64_t, std::int64_t)> log_prob =
      [&](std::int64_t s, std::int64_t i) {
        double sum = 0;
        for (std::int64_t c = 0; c < 5; ++c) {
          sum += std::exp(at(outputs, s, i, c));
        }
        return at(outputs, s, i, labels[i].item<std::int64_t>()) -
               std::log(sum);
      };
  expect_likelihood(Categorical(), outputs, labels, log_prob, log_prob);
}

TEST(ObservationModel, NothingIsBroadcast) {
  GaussianLikelihood gaussian;
  expect_error<ArgumentError>(
      [&] {
        gaussian->nll(torch::ones({4, 1}), torch::ones({4}));
      },
      "GaussianLikelihood::nll: outputs of shape [4], or with the samples in "
      "front, are needed for targets of shape [4], but theirs is [4, 1]");
  expect_error<ArgumentError>(
      [&] {
        gaussian->nll(torch::ones({4, 1}), torch::ones({4, 1}, torch::kDouble));
      },
      "one dtype, but have Float and Double");
  expect_error<ArgumentError>(
      [&] {
        gaussian->predictive_log_prob(torch::ones({4, 1}), torch::ones({4, 1}));
      },
      "outputs [samples, batch, ...] are needed, but their shape is [4, 1]");
  expect_error<ArgumentError>(
      [&] {
        gaussian->nll(torch::ones({0, 1}), torch::ones({0, 1}));
      },
      "at least one example");
  expect_error<ArgumentError>(
      [] {
        PredictedNoise().nll(torch::ones({4, 3}), torch::ones({4, 2}));
      },
      "outputs of shape [4, 4]");
  expect_error<ArgumentError>(
      [] { PredictedNoise().nll(torch::ones({8}), torch::ones({4})); },
      "targets must be [batch, numbers], but their shape is [4]");
  expect_error<ArgumentError>(
      [] {
        Categorical().nll(torch::ones({4, 3}), torch::ones({4}));
      },
      "targets must be int64 labels [batch], but are Float");
  expect_error<ArgumentError>(
      [] {
        Categorical().nll(torch::ones({4}), torch::zeros({4}, torch::kLong));
      },
      "outputs must be [batch, classes], but their shape is [4]");
}

TEST(ObservationModel, ImpossibleTargetsAreNamed) {
  torch::Tensor targets = torch::ones({4, 1});
  targets[2] = std::numeric_limits<float>::quiet_NaN();
  expect_error<DomainError>(
      [&] {
        GaussianLikelihood()->nll(torch::ones({4, 1}), targets);
      },
      "a target must be finite, but is nan at element 2");
  expect_error<ArgumentError>(
      [] {
        Categorical().nll(torch::ones({2, 3}),
                          torch::tensor({0, 3}, torch::kLong));
      },
      "labels must lie between 0 and 2, one less than the number of outputs, "
      "but go from 0 to 3");
}

TEST(Elbo, WeighsTheKlByTheScheduleAndTheNumberOfExamples) {
  const Elbo elbo(50, KlSchedule::warmup(0.5));
  const torch::Tensor nll = torch::full({}, 2.0).requires_grad_();
  const torch::Tensor kl = torch::full({}, 100.0).requires_grad_();
  const ElboTerms terms = elbo(nll, kl, 0.25);
  EXPECT_EQ(terms.nll.item<double>(), 2);
  EXPECT_EQ(terms.kl.item<double>(), 2);
  EXPECT_EQ(terms.kl_weight, 0.5);
  EXPECT_EQ(terms.loss.item<double>(), 3);
  terms.loss.backward();
  EXPECT_EQ(nll.grad().item<double>(), 1);
  EXPECT_NEAR(kl.grad().item<double>(), 0.01, 1e-9);
  EXPECT_EQ(elbo(nll, kl).kl_weight, 1);
  std::ostringstream text;
  text << elbo;
  EXPECT_NE(text.str().find("Elbo(50 examples, KL warm-up"), std::string::npos)
      << text.str();
}

TEST(Elbo, RefusesWhatIsNoLoss) {
  expect_error<ArgumentError>([] { Elbo(0); },
                              "the number of training examples, must be "
                              "positive, but is 0");
  const Elbo elbo(10);
  const torch::Tensor one = torch::ones({});
  expect_error<ArgumentError>([&] { elbo(torch::ones({3}), one); },
                              "nll and kl must be scalars, but their shapes "
                              "are [3] and []");
  expect_error<NumericalError>(
      [&] {
        elbo(torch::full({}, std::numeric_limits<float>::quiet_NaN()), one);
      },
      "the loss is not finite: nll nan, kl 0.1");
}

}  // namespace
}  // namespace radir::nn
