#include <gtest/gtest.h>
#include <torch/torch.h>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "torch/distributions/cases.h"
#include "torch/distributions/checks.h"

// Distribution functions, their inverses and standard deviations, run over the
// list of cases.cpp.

namespace radir::testing {
namespace {

using namespace radir::distributions;

class CdfContract : public ::testing::TestWithParam<Case> {};

/// Points where the density is not negligible.
torch::Tensor points(const Case& c) {
  Generator generator(3);
  return c.distribution()->sample(generator, {20});
}

TEST_P(CdfContract, StddevIsTheRootOfTheVariance) {
  const auto d = GetParam().distribution();
  const torch::Tensor want = d->variance().sqrt();
  EXPECT_TRUE(d->stddev().equal(want));
  EXPECT_EQ(d->stddev().sizes(), d->mean().sizes());
}

TEST_P(CdfContract, IsTheProbabilityBelowAPoint) {
  const Case& c = GetParam();
  if (!c.has_cdf) GTEST_SKIP() << "no closed form";
  const auto d = c.distribution();
  const torch::Tensor x = points(c);
  expect_close(d->cdf(x), c.probability(x, c.parameters), 1e-13, 0, "cdf");
  Tensors stretched;
  for (const torch::Tensor& p : c.parameters) {
    stretched.push_back(p.expand({2, 1}));
  }
  const auto batch = c.make(stretched, Validate::On);
  EXPECT_EQ(batch->cdf(x).sizes(), torch::IntArrayRef({2, 20}));
}

TEST_P(CdfContract, ItsSlopeIsTheDensity) {
  const Case& c = GetParam();
  if (!c.has_cdf) GTEST_SKIP() << "no closed form";
  const auto d = c.distribution();
  const torch::Tensor x = points(c);
  const torch::Tensor h = 1e-4 * x.abs().clamp_max(1);
  // One step of Richardson's extrapolation.
  const auto slope = [&](double step) {
    return (d->cdf(x + step * h) - d->cdf(x - step * h)) / (2 * step * h);
  };
  expect_close((4 * slope(1) - slope(2)) / 3, d->log_prob(x).exp(), 1e-6, 1e-8,
               "slope");
}

TEST_P(CdfContract, ItsGradientsAgreeWithDifferences) {
  const Case& c = GetParam();
  if (!c.has_cdf) GTEST_SKIP() << "no closed form";
  Tensors inputs = c.parameters;
  inputs.push_back(points(c).slice(0, 0, 6));
  expect_gradients(
      [&](const Tensors& x) { return c.make(x, Validate::Off)->cdf(x.back()); },
      inputs, "cdf");
  if (!c.has_icdf) return;
  inputs.back() = torch::tensor({0.03, 0.4, 0.9}, torch::kDouble);
  expect_gradients(
      [&](const Tensors& x) {
        return c.make(x, Validate::Off)->icdf(x.back());
      },
      inputs, "icdf");
}

TEST_P(CdfContract, TheInverseGivesTheProbabilityBack) {
  const Case& c = GetParam();
  if (!c.has_icdf) GTEST_SKIP() << "no closed form";
  const auto d = c.distribution();
  const torch::Tensor p = torch::tensor(
      {1e-12, 1e-5, 0.01, 0.3, 0.5, 0.77, 0.999, 1 - 1e-7}, torch::kDouble);
  expect_close(d->cdf(d->icdf(p)), p, 1e-10, 0, "cdf(icdf(p))");
}

TEST_P(CdfContract, FloatAgreesWithDouble) {
  const Case& c = GetParam();
  if (!c.has_cdf) GTEST_SKIP() << "no closed form";
  Tensors in_float;
  for (const torch::Tensor& p : c.parameters) {
    in_float.push_back(p.to(torch::kFloat));
  }
  const torch::Tensor x = points(c);
  const torch::Tensor got =
      c.make(in_float, Validate::On)->cdf(x.to(torch::kFloat));
  EXPECT_EQ(got.scalar_type(), torch::kFloat);
  expect_close(got, c.distribution()->cdf(x), 0, 1e-5, "cdf");
}

TEST_P(CdfContract, SaysWhatItRefuses) {
  const Case& c = GetParam();
  const auto d = c.distribution();
  if (!c.has_cdf) {
    expect_error<UnsupportedError>([&] { d->cdf(points(c)); },
                                   ".cdf: there is no closed form");
  } else {
    expect_error<DomainError>([&] { d->cdf(number(HUGE_VAL)); },
                              ".cdf: value must be");
  }
  if (!c.has_icdf) {
    expect_error<UnsupportedError>([&] { d->icdf(number(0.5)); },
                                   ".icdf: there is no closed form");
    return;
  }
  for (const double bad : {0.0, 1.0, -0.5, std::nan("")}) {
    expect_error<DomainError>([&] { d->icdf(number(bad)); },
                              ".icdf: probability must be > 0 and < 1");
  }
  expect_error<ArgumentError>([&] { d->icdf(number(0.5).to(torch::kFloat)); },
                              "has dtype Float");
}

INSTANTIATE_TEST_SUITE_P(Families, CdfContract,
                         ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace radir::testing
