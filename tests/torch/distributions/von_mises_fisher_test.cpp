#include "radir/torch/distributions/von_mises_fisher.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/torch/distributions/kl_divergence.h"
#include "support/expect_error.h"
#include "support/table.h"
#include "torch/distributions/checks.h"

namespace radir::distributions {
namespace {

using testing::expect_close;
using testing::expect_error;
using testing::expect_mean;
using testing::number;
using testing::Table;

/// The i-th axis of R^m, in double.
torch::Tensor axis(std::int64_t m, std::int64_t i) {
  torch::Tensor e = torch::zeros(m, torch::kDouble);
  e[i] = 1;
  return e;
}

torch::Tensor some_direction(std::int64_t m) {
  const torch::Tensor x = torch::arange(1, m + 1, torch::kDouble).sin();
  return x / x.norm();
}

/// Samples whose gradients are known one by one: a law with its own parameters
/// for every sample.
struct Experiment {
  torch::Tensor loc, kappa, x;
  VonMisesFisher q;

  Experiment(const torch::Tensor& direction, double concentration,
             std::int64_t draws, KappaGradient kappa_gradient)
      : loc(direction.expand({draws, -1}).clone().requires_grad_(true)),
        kappa(torch::full(draws, concentration, torch::kDouble)
                  .requires_grad_(true)),
        q(loc, kappa, Validate::Off) {
    Generator generator(99);
    x = q.rsample(generator, {}, kappa_gradient);
  }

  /// Gradients of f(x), one number per sample, with respect to loc and kappa,
  /// the score term added.
  std::vector<torch::Tensor> gradients(const torch::Tensor& f,
                                       KappaGradient kappa_gradient) const {
    // The mean is a baseline: any constant leaves the expectation alone.
    const torch::Tensor centered = f.detach() - f.detach().mean();
    const torch::Tensor score =
        centered * q.score_correction(x.detach(), kappa_gradient);
    return torch::autograd::grad({(f + score).sum()}, {loc, kappa});
  }
};

class VonMisesFisherGradient : public ::testing::TestWithParam<KappaGradient> {
};

TEST_P(VonMisesFisherGradient, OfExponentialLinearFunctionsIsUnbiased) {
  const Table table("vmf_exp_linear_gradient");
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto m = static_cast<std::int64_t>(table.number(row, "m"));
    const torch::Tensor mu = some_direction(m);
    torch::Tensor across = axis(m, 0) - mu * mu[0];
    across = across / across.norm();
    const torch::Tensor a =
        table.number(row, "a_par") * mu + table.number(row, "a_perp") * across;
    const Experiment e(mu, table.number(row, "kappa"), 6000, GetParam());
    const torch::Tensor f = e.x.matmul(a).exp();
    const auto gradients = e.gradients(f, GetParam());
    const std::string where = table.describe(row);
    expect_mean(f, number(table.number(row, "E_exp")), "value, " + where);
    expect_mean(gradients[1], number(table.number(row, "dE_dkappa")),
                "kappa, " + where);
    expect_mean(gradients[0].matmul(across),
                number(table.number(row, "dE_dmu_perp")), "loc, " + where);
  }
}

TEST_P(VonMisesFisherGradient, OfFunctionsOfTheCosineIsUnbiased) {
  const Table table("vmf_reparam_gradient");
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto m = static_cast<std::int64_t>(table.number(row, "m"));
    const torch::Tensor mu = some_direction(m);
    const Experiment e(mu, table.number(row, "kappa"), 4000, GetParam());
    const torch::Tensor w = e.x.matmul(mu);
    const std::string& name = table.text(row, "f");
    const torch::Tensor f = name == "omega"            ? w
                            : name == "omega^2"        ? w.square()
                            : name == "exp(1*omega)"   ? w.exp()
                            : name == "exp(-3*omega)"  ? (-3 * w).exp()
                            : name == "tanh(3*omega)"  ? (3 * w).tanh()
                            : name == "log(1.5-omega)" ? (1.5 - w).log()
                                                       : torch::Tensor();
    ASSERT_TRUE(f.defined()) << name;
    const std::string where = table.describe(row);
    expect_mean(f, number(table.number(row, "E_f")), "value, " + where);
    expect_mean(e.gradients(f, GetParam())[1],
                number(table.number(row, "dE_dkappa")), "kappa, " + where);
  }
}

TEST_P(VonMisesFisherGradient, WorksAlongTheAxesAndForTheUniformLaw) {
  for (const double sign : {1.0, -1.0}) {
    for (const std::int64_t m : {2, 3, 5}) {
      const Experiment e(sign * axis(m, 0), 0, 20000, GetParam());
      const torch::Tensor along = e.x.matmul(sign * axis(m, 0));
      const auto gradients = e.gradients(along, GetParam());
      // E[mu.x] = A(kappa) ~ kappa/m.
      expect_mean(gradients[1], number(1.0 / static_cast<double>(m)), "kappa");
      expect_mean(gradients[0].matmul(axis(m, 1)), number(0), "loc");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Estimators, VonMisesFisherGradient,
                         ::testing::Values(KappaGradient::Implicit,
                                           KappaGradient::Rejection,
                                           KappaGradient::ClosedForm1));

// Standard deviations over the gradient are 0.13 and 0.39 (by quadrature).
TEST(VonMisesFisher, ImplicitGradientHasLessVarianceThanRejection) {
  const torch::Tensor mu = some_direction(100);
  const Experiment implicit(mu, 100, 4000, KappaGradient::Implicit);
  const Experiment rejection(mu, 100, 4000, KappaGradient::Rejection);
  const torch::Tensor cosine = rejection.x.matmul(mu);
  const torch::Tensor score =
      cosine.detach() * rejection.q.score_correction(rejection.x.detach(),
                                                     KappaGradient::Rejection);
  const auto relative_spread = [](const torch::Tensor& f,
                                  const torch::Tensor& kappa) {
    const torch::Tensor slopes = torch::autograd::grad({f.sum()}, {kappa})[0];
    return (slopes.std() / slopes.mean()).item<double>();
  };
  EXPECT_NEAR(relative_spread(implicit.x.matmul(mu), implicit.kappa), 0.13,
              0.01);
  EXPECT_NEAR(relative_spread(cosine + score, rejection.kappa), 0.39, 0.02);
}

TEST(VonMisesFisher, ScoreCorrectionIsZeroWithMeanZeroSlope) {
  torch::Tensor kappa = torch::full(20000, 7.0, torch::kDouble);
  kappa.requires_grad_(true);
  const VonMisesFisher q(some_direction(6), kappa);
  Generator generator(5);
  const torch::Tensor correction =
      q.score_correction(q.sample(generator), KappaGradient::Rejection);
  EXPECT_EQ(correction.abs().max().item<double>(), 0);
  const torch::Tensor c = torch::autograd::grad({correction.sum()}, {kappa})[0];
  EXPECT_GT(c.abs().max().item<double>(), 0);
  expect_mean(c, number(0), "c(w)");
}

// One concentration for a batch of directions receives the sum of what one
// each would.
TEST(VonMisesFisher, SharedConcentrationSumsOverItsDirections) {
  const torch::Tensor loc =
      torch::stack({some_direction(5), axis(5, 0), -axis(5, 0)});
  const torch::Tensor a = torch::arange(5, torch::kDouble);
  const auto run = [&](const torch::Tensor& kappa) {
    torch::Tensor leaf = kappa.clone().requires_grad_(true);
    const VonMisesFisher q(loc, leaf);
    Generator generator(6);
    const torch::Tensor f = q.rsample(generator, {4}).matmul(a).square() +
                            q.log_prob(loc) + q.entropy();
    return torch::autograd::grad({f.sum()}, {leaf})[0];
  };
  const torch::Tensor shared = run(number(9));
  const torch::Tensor each = run(torch::full(3, 9.0, torch::kDouble));
  EXPECT_EQ(shared.dim(), 0);
  EXPECT_EQ(each.sizes().vec(), (std::vector<std::int64_t>{3}));
  expect_close(shared, each.sum(), 1e-12, 0, "kappa");
}

TEST(VonMisesFisher, OneDirectionTakesABatchOfConcentrations) {
  const VonMisesFisher q(
      axis(4, 2), torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kDouble));
  Generator generator(7);
  EXPECT_EQ(q.batch_shape(), (Distribution::Shape{2, 2}));
  EXPECT_EQ(q.rsample(generator, {3}).sizes().vec(),
            (Distribution::Shape{3, 2, 2, 4}));
  EXPECT_EQ(q.mean().sizes().vec(), (Distribution::Shape{2, 2, 4}));
}

TEST(VonMisesFisher, IsUniformAtZeroConcentration) {
  for (const std::int64_t m : {2, 3, 8}) {
    const VonMisesFisher q(axis(m, 0), number(0));
    const double dimension = static_cast<double>(m);
    const double log_area = std::log(2.0) + dimension / 2 * std::log(M_PI) -
                            std::lgamma(dimension / 2);
    expect_close(q.entropy(), number(log_area), 1e-14, 0, "entropy");
    expect_close(q.log_prob(axis(m, 1)), number(-log_area), 1e-14, 0,
                 "log_prob");
    expect_close(q.mean(), torch::zeros(m, torch::kDouble), 0, 0, "mean");
    expect_close(q.variance(), torch::full(m, 1 / dimension, torch::kDouble),
                 1e-14, 0, "variance");
  }
}

// At kappa = 1e8 the density is a Gaussian of variance 1/kappa on the tangent
// plane; kappa mu.x - kappa would lose eight digits.
TEST(VonMisesFisher, LogProbKeepsItsDigitsAtLargeConcentrations) {
  const double kappa = 1e8;
  const VonMisesFisher q(axis(3, 0), number(kappa));
  const double t = 1e-4;
  const torch::Tensor x =
      torch::tensor({std::cos(t), std::sin(t), 0.0}, torch::kDouble);
  const double gap = 2 * std::pow(std::sin(t / 2), 2);
  expect_close(q.log_prob(x),
               number(std::log(kappa / (2 * M_PI)) - kappa * gap), 1e-12, 0,
               "log_prob");
}

TEST(VonMisesFisher, DivergenceAgreesWithItsTable) {
  const Table table("vmf_kl");
  for (std::size_t row = 0; row < table.size(); ++row) {
    const double m = table.number(row, "m");
    if (m > 1000) continue;  // the vectors of larger ones take too long
    const double cosine = table.number(row, "cos");
    const auto length = static_cast<std::int64_t>(m);
    torch::Tensor kappa_q =
        number(table.number(row, "kappa_q")).requires_grad_(true);
    torch::Tensor kappa_p =
        number(table.number(row, "kappa_p")).requires_grad_(true);
    const torch::Tensor loc_p =
        cosine * axis(length, 0) +
        std::sqrt((1 - cosine) * (1 + cosine)) * axis(length, 1);
    const torch::Tensor kl =
        kl_divergence(VonMisesFisher(axis(length, 0), kappa_q),
                      VonMisesFisher(loc_p, kappa_p));
    const auto gradients = torch::autograd::grad({kl}, {kappa_q, kappa_p});
    const std::string where = table.describe(row);
    const auto close = [&](const torch::Tensor& got, const char* column,
                           double floor) {
      expect_close(got, number(table.number(row, column)), 1e-10, floor, where);
    };
    close(kl, "kl", 0);
    close(gradients[0], "dkl_dkappa_q", 1e-14);
    close(gradients[1], "dkl_dkappa_p", 1e-14);
  }
}

TEST(VonMisesFisher, DivergenceFromUniformDoesNotSeeDirections) {
  torch::Tensor loc = some_direction(7).requires_grad_(true);
  const VonMisesFisher q(loc, number(12));
  const auto to = [&](const torch::Tensor& direction) {
    return kl_divergence(q, VonMisesFisher(direction, number(0)));
  };
  const torch::Tensor kl = to(axis(7, 0));
  expect_close(kl, to(-axis(7, 3)), 1e-15, 0, "KL");
  expect_close(torch::autograd::grad({kl}, {loc})[0],
               torch::zeros(7, torch::kDouble), 0, 0, "gradient");
  // KL to the uniform law is the loss of entropy.
  expect_close(kl, VonMisesFisher(loc, number(0)).entropy() - q.entropy(),
               1e-12, 0, "entropy");
}

TEST(VonMisesFisher, SecondDerivativesOfSamplesThrow) {
  torch::Tensor kappa = number(2).requires_grad_(true);
  const VonMisesFisher q(axis(3, 0), kappa);
  Generator generator(8);
  const torch::Tensor x = q.rsample(generator);
  const torch::Tensor slope = torch::autograd::grad(
      {x.square().matmul(axis(3, 0))}, {kappa}, {}, true, true)[0];
  expect_error<UnsupportedError>([&] { slope.backward(); },
                                 "second derivative");
}

TEST(VonMisesFisher, RefusesBadDirections) {
  const torch::Tensor kappa = number(1);
  expect_error<ArgumentError>(
      [&] {
        VonMisesFisher(torch::ones({4, 1}, torch::kDouble), kappa);
      },
      "vectors of length >= 2 in its last dimension, but its shape is [4, 1]");
  expect_error<ArgumentError>([&] { VonMisesFisher(number(1), kappa); },
                              "loc must have at least 1 dimension, but its "
                              "shape is []");
  expect_error<DomainError>(
      [&] { VonMisesFisher(torch::zeros(3, torch::kDouble), kappa); },
      "loc must have unit length, but its norm is 0; divide it by its norm");
  torch::Tensor loc = torch::stack({axis(3, 0), axis(3, 1)});
  loc[1][2] = 0.75;
  expect_error<DomainError>([&] { VonMisesFisher(loc, kappa); },
                            "loc must have unit length, but its norm is 1.25 "
                            "at index [1]");
  EXPECT_NO_THROW(VonMisesFisher(loc, kappa, Validate::Off));
  torch::Tensor in_float = torch::arange(35000, torch::kFloat).sin();
  in_float = in_float.reshape({50, 700});
  in_float = in_float / in_float.norm(2, -1, true);
  EXPECT_NO_THROW(VonMisesFisher(in_float, torch::tensor(1.0F)));
}

TEST(VonMisesFisher, RefusesBadPoints) {
  const VonMisesFisher q(axis(3, 0), number(1));
  expect_error<DomainError>([&] { q.log_prob(2 * axis(3, 0)); },
                            "VonMisesFisher.log_prob: value must have unit "
                            "length, but its norm is 2");
  expect_error<ArgumentError>(
      [&] { q.log_prob(axis(4, 0)); },
      "value must end in the dimensions [3], but its shape is [4]");
  expect_error<ArgumentError>(
      [&] {
        q.score_correction(torch::ones(1, torch::kDouble),
                           KappaGradient::Rejection);
      },
      "VonMisesFisher.score_correction: value must end in the dimensions [3]");
}

TEST(VonMisesFisher, DivergenceNeedsOneDimension) {
  expect_error<ArgumentError>(
      [] {
        kl_divergence(VonMisesFisher(axis(3, 0), number(1)),
                      VonMisesFisher(axis(4, 0), number(1)));
      },
      "both directions must have the same dimension");
}

}  // namespace
}  // namespace radir::distributions
