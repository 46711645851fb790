#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "radir/core/error.h"
#include "radir/torch/distributions/distributions.h"
#include "support/expect_error.h"
#include "torch/distributions/checks.h"

// Limits, known values and messages of single families.

namespace radir::distributions {
namespace {

using testing::expect_close;
using testing::expect_error;
using testing::number;

torch::Tensor doubles(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), torch::kDouble);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(InverseGamma, MomentsAreInfiniteWhereTheyDiverge) {
  const InverseGamma d(doubles({0.5, 1, 1.5, 2, 4}), number(3));
  expect_close(d.mean(), doubles({kInfinity, kInfinity, 6, 3, 1}), 1e-15, 0,
               "mean");
  expect_close(d.variance(),
               doubles({kInfinity, kInfinity, kInfinity, kInfinity, 0.5}),
               1e-15, 0, "variance");
}

TEST(InverseGamma, DivergentMomentsHaveNoGradient) {
  torch::Tensor concentration = doubles({0.5, 1.5}).requires_grad_(true);
  const InverseGamma d(concentration, number(3));
  (d.mean() + d.variance()).sum().backward();
  EXPECT_TRUE(torch::isfinite(concentration.grad()).all().item<bool>());
}

TEST(HalfCauchy, MomentsAreInfinite) {
  const HalfCauchy d(doubles({0.1, 2}));
  expect_close(d.mean(), doubles({kInfinity, kInfinity}), 0, 0, "mean");
  expect_close(d.variance(), doubles({kInfinity, kInfinity}), 0, 0, "variance");
}

TEST(HalfCauchy, IncludesZeroInItsSupport) {
  const HalfCauchy d(number(2));
  expect_close(d.log_prob(number(0)), number(-std::log(M_PI)), 1e-15, 0,
               "log_prob");
}

// For large shapes k, x/l = 1 - (gamma + G)/k with variance pi^2 / (6 k^2).
TEST(Weibull, VarianceKeepsItsDigitsForLargeShapes) {
  const double k = 1e6;
  const Weibull d(number(1), number(k));
  EXPECT_NEAR(d.variance().item<double>() * k * k, M_PI * M_PI / 6, 1e-5);
}

TEST(Weibull, OfShapeOneIsExponential) {
  const Weibull d(number(2), number(1));
  expect_close(d.mean(), number(2), 1e-15, 0, "mean");
  expect_close(d.variance(), number(4), 1e-14, 0, "variance");
  expect_close(d.entropy(), number(1 + std::log(2)), 1e-15, 0, "entropy");
  expect_close(d.log_prob(number(3)), number(-1.5 - std::log(2)), 1e-15, 0,
               "log_prob");
}

// log p of Gamma(a, a) at its mean is log sqrt(a / 2 pi) - 1/(12 a) + ...;
// summing terms of size a log a would leave 1e-7 of it in double.
TEST(Gamma, LogProbKeepsItsDigitsForLargeConcentrations) {
  const double a = 1e9;
  const Gamma d(number(a), number(a));
  expect_close(d.log_prob(number(1)),
               number(0.5 * std::log(a / (2 * M_PI)) - 1 / (12 * a)), 1e-14, 0,
               "log_prob");
}

TEST(Gamma, DrawsOfTinyConcentrationArePositive) {
  const Gamma d(torch::full({1000}, 1e-3F), torch::tensor(1.0F));
  Generator generator(1);
  const torch::Tensor x = d.sample(generator);
  EXPECT_GE(x.min().item<float>(), std::numeric_limits<float>::min());
  EXPECT_TRUE(torch::isfinite(d.log_prob(x)).all().item<bool>());
}

// Both divergences have their minimum over q at variance 1/a; for a = 1/2 it is
// (1 - log 2)/2.
TEST(KlDivergence, OfLogNormalsHasItsKnownMinimum) {
  const double minimum = (1 - std::log(2)) / 2;
  const torch::Tensor scale = number(std::sqrt(2.0));
  const double theta = 0.3, b = 1.7;
  expect_close(kl_divergence(LogNormal(number(std::log(theta / 2) - 1), scale),
                             Gamma(number(0.5), number(1 / theta))),
               number(minimum), 1e-14, 0, "Gamma");
  expect_close(kl_divergence(LogNormal(number(std::log(2 * b) + 1), scale),
                             InverseGamma(number(0.5), number(b))),
               number(minimum), 1e-14, 0, "InverseGamma");
}

TEST(Distribution, PrintsNamesAndValuesOrShapes) {
  std::ostringstream text;
  text << Normal(number(0.5), torch::ones({3, 2}, torch::kDouble)) << " "
       << Gamma(number(2), number(1.5));
  EXPECT_EQ(text.str(),
            "Normal(loc: 0.5, scale: [3, 2]) "
            "Gamma(concentration: 2, rate: 1.5)");
}

TEST(Distribution, RefusesValuesOutsideTheSupport) {
  const torch::Tensor bad = doubles({1, -2});
  expect_error<DomainError>(
      [&] { Gamma(number(1), number(1)).log_prob(bad); },
      "Gamma.log_prob: value must be finite and > 0, but got -2 at index [1].");
  expect_error<DomainError>(
      [&] { InverseGamma(number(1), number(1)).log_prob(bad); },
      "InverseGamma.log_prob: value must be finite and > 0, but got -2");
  expect_error<DomainError>(
      [&] { LogNormal(number(1), number(1)).log_prob(bad); },
      "LogNormal.log_prob: value must be finite and > 0, but got -2");
  expect_error<DomainError>(
      [&] { Weibull(number(1), number(1)).log_prob(bad); },
      "Weibull.log_prob: value must be finite and > 0, but got -2");
  expect_error<DomainError>(
      [&] { HalfCauchy(number(1)).log_prob(bad); },
      "HalfCauchy.log_prob: value must be finite and >= 0, but got -2");
  expect_error<DomainError>([&] { Normal(number(kInfinity), number(1)); },
                            "Normal: loc must be finite, but got inf.");
}

TEST(Distribution, BadIndexHasAllItsCoordinates) {
  torch::Tensor scale = torch::ones({2, 3}, torch::kDouble);
  scale[1][2] = 0;
  expect_error<DomainError>([&] { Normal(number(0), scale); },
                            "scale must be finite and > 0, but got 0 at index "
                            "[1, 2]; if it is a raw parameter");
}

TEST(Distribution, SecondDerivativesOfAnalyticNodesThrow) {
  torch::Tensor rate = number(2).requires_grad_(true);
  const Gamma d(number(3), rate);
  const torch::Tensor slope = torch::autograd::grad(
      {d.log_prob(number(1))}, {rate}, {}, /*retain_graph=*/true,
      /*create_graph=*/true)[0];
  EXPECT_DOUBLE_EQ(slope.item<double>(), 0.5);
  expect_error<UnsupportedError>([&] { slope.backward(); },
                                 "second derivative");
}

TEST(Distribution, SecondDerivativesOfPlainOperationsWork) {
  torch::Tensor scale = number(2).requires_grad_(true);
  const torch::Tensor slope = torch::autograd::grad(
      {Normal(number(0), scale).entropy()}, {scale}, {}, true, true)[0];
  slope.backward();
  EXPECT_DOUBLE_EQ(scale.grad().item<double>(), -0.25);
}

// Copies share tensors and nothing else.
TEST(Distribution, IsACopyableValue) {
  Normal a(number(0), number(1));
  const Normal b = a;
  a = Normal(number(5), number(1));
  EXPECT_EQ(b.loc().item<double>(), 0);
  EXPECT_EQ(a.loc().item<double>(), 5);
}

}  // namespace
}  // namespace radir::distributions
