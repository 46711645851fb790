#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <sstream>

#include "radir/core/error.h"
#include "support/expect_error.h"
#include "torch/distributions/cases.h"
#include "torch/distributions/checks.h"

// What holds for every family, run over the list of cases.cpp.

namespace radir::testing {
namespace {

using namespace radir::distributions;
using Shape = Distribution::Shape;

constexpr int64_t kDraws = 40000;

/// The parameter with `shape` in front, all elements equal.
torch::Tensor repeated(const torch::Tensor& parameter, Shape shape) {
  const torch::IntArrayRef own = parameter.sizes();
  shape.insert(shape.end(), own.begin(), own.end());
  return parameter.expand(shape).clone();
}

Tensors repeated(const Tensors& parameters, const Shape& shape) {
  Tensors result;
  for (const torch::Tensor& p : parameters) {
    result.push_back(repeated(p, shape));
  }
  return result;
}

Tensors converted(const Tensors& tensors, torch::Dtype dtype) {
  Tensors result;
  for (const torch::Tensor& x : tensors) result.push_back(x.to(dtype));
  return result;
}

Shape operator+(const Shape& a, const Shape& b) {
  Shape joined = a;
  joined.insert(joined.end(), b.begin(), b.end());
  return joined;
}

class DistributionContract : public ::testing::TestWithParam<Case> {};

TEST_P(DistributionContract, ShapesFollowBatchAndEvent) {
  const Case& c = GetParam();
  Tensors parameters = repeated(c.parameters, {3, 1});
  parameters.back() = repeated(c.parameters.back(), {2});
  const auto d = c.make(parameters, Validate::On);
  const Shape batch = c.parameters.size() == 1 ? Shape{2} : Shape{3, 2};
  const Shape event = c.parameters[0].sizes().vec();
  EXPECT_EQ(d->batch_shape(), batch);
  EXPECT_EQ(d->event_shape(), event);
  Generator generator(1);
  const torch::Tensor x = d->rsample(generator, {5, 4});
  EXPECT_EQ(x.sizes().vec(), (Shape{5, 4} + batch + event));
  EXPECT_EQ(d->log_prob(x).sizes().vec(), (Shape{5, 4} + batch));
  EXPECT_EQ(d->log_prob(x[0][0]).sizes().vec(), batch);
  EXPECT_EQ(d->rsample(generator).sizes().vec(), batch + event);
  EXPECT_EQ(d->rsample(generator, {0}).sizes().vec(),
            (Shape{0} + batch + event));
  EXPECT_EQ(d->mean().sizes().vec(), batch + event);
  EXPECT_EQ(d->variance().sizes().vec(), batch + event);
  EXPECT_EQ(d->entropy().sizes().vec(), batch);
}

TEST_P(DistributionContract, BatchMayBeEmpty) {
  const Case& c = GetParam();
  const auto d = c.make(repeated(c.parameters, {0}), Validate::On);
  Generator generator(1);
  const torch::Tensor x = d->rsample(generator, {5});
  EXPECT_EQ(x.sizes().vec(), (Shape{5, 0} + d->event_shape()));
  EXPECT_EQ(d->log_prob(x).sizes().vec(), (Shape{5, 0}));
  EXPECT_EQ(d->entropy().sizes().vec(), Shape{0});
}

TEST_P(DistributionContract, BatchEqualsItsMembers) {
  const Case& c = GetParam();
  Tensors parameters;
  for (const torch::Tensor& p : c.parameters) {
    parameters.push_back(torch::stack({p, 0.5 * p + 0.2}));
  }
  const auto batch = c.make(parameters, Validate::On);
  Generator generator(2);
  const torch::Tensor x = batch->sample(generator, {3});
  for (int64_t i = 0; i < 2; ++i) {
    Tensors own;
    for (const torch::Tensor& p : parameters) own.push_back(p[i]);
    const auto member = c.make(own, Validate::On);
    expect_close(batch->log_prob(x).select(1, i),
                 member->log_prob(x.select(1, i)), 1e-14, 0, "log_prob");
    expect_close(batch->mean()[i], member->mean(), 1e-14, 0, "mean");
    expect_close(batch->variance()[i], member->variance(), 1e-14, 0,
                 "variance");
    expect_close(batch->entropy()[i], member->entropy(), 1e-14, 1e-15,
                 "entropy");
  }
}

TEST_P(DistributionContract, DensityIntegratesToOneAndToItsEntropy) {
  const Case& c = GetParam();
  const auto d = c.make(c.parameters, Validate::Off);
  const Quadrature rule = c.quadrature(c.parameters);
  const torch::Tensor log_density = d->log_prob(rule.points);
  const torch::Tensor mass = (log_density + rule.log_weights).exp();
  EXPECT_NEAR(mass.sum().item<double>(), 1, 1e-10);
  const torch::Tensor present = mass > 0;
  const torch::Tensor entropy =
      -(mass * log_density).masked_select(present).sum();
  expect_close(d->entropy(), entropy, 1e-9, 1e-9, "entropy");
}

TEST_P(DistributionContract, DrawsFollowTheDistributionFunction) {
  const Case& c = GetParam();
  Generator generator(3);
  expect_uniform(c.probability(c.distribution()->sample(generator, {kDraws}),
                               c.parameters),
                 "double");
  const auto in_float =
      c.make(converted(c.parameters, torch::kFloat), Validate::On);
  const torch::Tensor x = in_float->sample(generator, {kDraws});
  ASSERT_EQ(x.scalar_type(), torch::kFloat);
  expect_uniform(c.probability(x.to(torch::kDouble), c.parameters), "float");
}

TEST_P(DistributionContract, DrawsHaveTheMomentsAndTheEntropy) {
  const Case& c = GetParam();
  const auto d = c.distribution();
  Generator generator(4);
  const torch::Tensor x = d->sample(generator, {kDraws});
  expect_mean(-d->log_prob(x), d->entropy(), "entropy");
  const torch::Tensor mean = d->mean(), variance = d->variance();
  if (!torch::isfinite(variance).all().item<bool>()) {
    EXPECT_TRUE(torch::isinf(variance).all().item<bool>());
    return;
  }
  expect_mean(x, mean, "mean");
  expect_mean((x - mean).square(), variance, "variance");
}

TEST_P(DistributionContract, GradientsAgreeWithDifferences) {
  const Case& c = GetParam();
  Generator generator(5);
  const torch::Tensor x = c.distribution()->sample(generator, {6});
  const auto make = [&](const Tensors& parameters) {
    return c.make(parameters, Validate::Off);
  };
  Tensors with_value = c.parameters;
  with_value.push_back(x);
  expect_gradients(
      [&](const Tensors& inputs) {
        return make(inputs)->log_prob(inputs.back());
      },
      with_value, "log_prob");
  expect_gradients(
      [&](const Tensors& inputs) { return make(inputs)->entropy(); },
      c.parameters, "entropy");
  if (!torch::isfinite(c.distribution()->variance()).all().item<bool>()) return;
  expect_gradients([&](const Tensors& inputs) { return make(inputs)->mean(); },
                   c.parameters, "mean");
  expect_gradients(
      [&](const Tensors& inputs) { return make(inputs)->variance(); },
      c.parameters, "variance");
}

// E[-log p(x)] is the entropy, so the gradient through the draws has the mean
// that the entropy's own gradient says.
TEST_P(DistributionContract, ReparameterisedGradientAgreesWithAnalyticOne) {
  const Case& c = GetParam();
  Tensors leaves = repeated(c.parameters, {kDraws});
  for (torch::Tensor& p : leaves) p.requires_grad_(true);
  const auto d = c.make(leaves, Validate::Off);
  Generator generator(6);
  const torch::Tensor surprise = -d->log_prob(d->rsample(generator));
  const Tensors sampled = torch::autograd::grad({surprise.sum()}, leaves);

  Tensors single = repeated(c.parameters, {});
  for (torch::Tensor& p : single) p.requires_grad_(true);
  const Tensors analytic =
      torch::autograd::grad({c.make(single, Validate::Off)->entropy().sum()},
                            single, {}, false, false,
                            /*allow_unused=*/true);
  for (std::size_t k = 0; k < single.size(); ++k) {
    const torch::Tensor want =
        analytic[k].defined() ? analytic[k] : torch::zeros_like(single[k]);
    expect_mean(sampled[k], want, "parameter " + std::to_string(k));
  }
}

TEST_P(DistributionContract, FloatAgreesWithDouble) {
  const Case& c = GetParam();
  const Tensors rounded = converted(c.parameters, torch::kFloat);
  const auto in_float = c.make(rounded, Validate::On);
  const auto in_double =
      c.make(converted(rounded, torch::kDouble), Validate::On);
  Generator generator(7);
  const torch::Tensor x = in_float->sample(generator, {50});
  const auto compare = [](const torch::Tensor& got, const torch::Tensor& want,
                          const char* what) {
    EXPECT_EQ(got.scalar_type(), torch::kFloat) << what;
    expect_close(got, want, 2e-6, 2e-6, what);
  };
  const auto off = c.make(converted(rounded, torch::kDouble), Validate::Off);
  compare(in_float->log_prob(x), off->log_prob(x.to(torch::kDouble)),
          "log_prob");
  compare(in_float->mean(), in_double->mean(), "mean");
  compare(in_float->variance(), in_double->variance(), "variance");
  compare(in_float->entropy(), in_double->entropy(), "entropy");
}

TEST_P(DistributionContract, SamplesDependOnTheGeneratorAlone) {
  const auto d = GetParam().distribution();
  Generator one(8), same(8), other(9), other_stream(8, 1);
  const torch::Tensor x = d->sample(one, {20});
  EXPECT_TRUE(x.equal(d->sample(same, {20})));
  EXPECT_FALSE(x.equal(d->sample(one, {20})));
  EXPECT_FALSE(x.equal(d->sample(other, {20})));
  EXPECT_FALSE(x.equal(d->sample(other_stream, {20})));
  EXPECT_EQ(one.position().step, 2u);
  Generator resumed(same.position());
  EXPECT_TRUE(d->sample(same, {20}).equal(d->sample(resumed, {20})));
}

TEST_P(DistributionContract, SampleHasNoGradientAndRsampleHas) {
  Tensors leaves = repeated(GetParam().parameters, {2});
  for (torch::Tensor& p : leaves) p.requires_grad_(true);
  const auto d = GetParam().make(leaves, Validate::On);
  Generator generator(10);
  EXPECT_FALSE(d->sample(generator).requires_grad());
  EXPECT_TRUE(d->rsample(generator).requires_grad());
}

TEST_P(DistributionContract, RefusesBadTensors) {
  const Case& c = GetParam();
  const auto make = [&](std::size_t k, const torch::Tensor& bad) {
    Tensors parameters = c.parameters;
    parameters[k] = bad;
    c.make(parameters, Validate::Off);
  };
  const std::size_t last = c.parameters.size() - 1;
  const torch::Tensor good = c.parameters[last];
  expect_error<ArgumentError>([&] { make(last, good.to(torch::kLong)); },
                              "must be a float or double tensor, but its dtype "
                              "is Long");
  expect_error<ArgumentError>([&] { make(last, torch::Tensor()); },
                              "is an undefined tensor");
  expect_error<UnsupportedError>(
      [&] { make(last, good.to(torch::device(torch::kMeta))); },
      "is on device meta");
  expect_error<ArgumentError>(
      [&] { make(last, good.reshape({1}).to_sparse()); },
      "must be a dense tensor");
  if (last > 0) {
    expect_error<ArgumentError>([&] { make(last, good.to(torch::kFloat)); },
                                "has dtype Float, but the other tensors have "
                                "Double");
    Tensors clashing = repeated(c.parameters, {3});
    clashing[last] = repeated(good, {2});
    expect_error<ArgumentError>([&] { c.make(clashing, Validate::Off); },
                                "shapes [3] and [2] do not broadcast");
  }
}

TEST_P(DistributionContract, RefusesBadValuesUnlessToldNotToLook) {
  const Case& c = GetParam();
  const std::size_t last = c.parameters.size() - 1;
  for (const double bad : {-0.25, std::nan(""), HUGE_VAL}) {
    Tensors parameters = c.parameters;
    parameters[last] = torch::tensor({1.0, 1.0, 1.0, bad}, torch::kDouble);
    std::ostringstream found;
    found << "but got " << bad << " at index [3]; if it is a raw parameter, "
          << "pass it through softplus first.";
    expect_error<DomainError>([&] { c.make(parameters, Validate::On); },
                              found.str());
    EXPECT_NO_THROW(c.make(parameters, Validate::Off));
  }
  Tensors scalar = c.parameters;
  scalar[last] = torch::tensor(-0.25, torch::kDouble);
  expect_error<DomainError>([&] { c.make(scalar, Validate::On); },
                            "but got -0.25; if it is a raw parameter");
}

TEST_P(DistributionContract, LogProbRefusesBadPoints) {
  const Case& c = GetParam();
  const auto d = c.make(repeated(c.parameters, {3}), Validate::On);
  Generator generator(11);
  const torch::Tensor x = d->sample(generator);
  expect_error<ArgumentError>([&] { d->log_prob(x.to(torch::kFloat)); },
                              "log_prob: value has dtype Float");
  expect_error<ArgumentError>([&] { d->log_prob(x.to(torch::kLong)); },
                              "log_prob: value must be a float or double");
  expect_error<ArgumentError>(
      [&] {
        d->log_prob(torch::cat({x, x}));
      },
      "do not broadcast");
  torch::Tensor bad = x.clone();
  bad.flatten()[-1] = std::nan("");
  expect_error<DomainError>([&] { d->log_prob(bad); }, "but got nan");
}

TEST_P(DistributionContract, RefusesNegativeSampleShape) {
  Generator generator(12);
  expect_error<ArgumentError>(
      [&] {
        GetParam().distribution()->sample(generator, {4, -1});
      },
      "sample_shape must not have negative sizes, but got [4, -1]");
}

TEST_P(DistributionContract, PrintsItsParameters) {
  const Case& c = GetParam();
  std::ostringstream scalar, batch;
  scalar << *c.distribution();
  batch << *c.make(repeated(c.parameters, {3}), Validate::On);
  std::ostringstream value;
  value << c.parameters.back().item<double>();
  EXPECT_NE(scalar.str().find(": " + value.str() + ")"), std::string::npos)
      << scalar.str();
  EXPECT_NE(batch.str().find(": [3"), std::string::npos) << batch.str();
}

INSTANTIATE_TEST_SUITE_P(Families, DistributionContract,
                         ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

class KlContract : public ::testing::TestWithParam<KlCase> {};

TEST_P(KlContract, AgreesWithMonteCarlo) {
  const KlCase& c = GetParam();
  const auto q = c.q.distribution(), p = c.p.distribution();
  Generator generator(20);
  const torch::Tensor x = q->sample(generator, {kDraws});
  const torch::Tensor kl = c.kl(*q, *p);
  EXPECT_GT(kl.item<double>(), 0);
  expect_mean(q->log_prob(x) - p->log_prob(x), kl, "KL");
}

TEST_P(KlContract, GradientsAgreeWithDifferences) {
  const KlCase& c = GetParam();
  Tensors inputs = c.q.parameters;
  for (const torch::Tensor& x : c.p.parameters) {
    // The uniform law is the edge of its family: not differentiated there.
    inputs.push_back((x == 0).all().item<bool>() ? x + 0.5 : x);
  }
  const std::size_t count = c.q.parameters.size();
  expect_gradients(
      [&](const Tensors& all) {
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(count);
        const auto q = c.q.make({all.begin(), middle}, Validate::Off);
        const auto p = c.p.make({middle, all.end()}, Validate::Off);
        return c.kl(*q, *p);
      },
      inputs, "KL");
}

TEST_P(KlContract, IsZeroForEqualLawsAlone) {
  const KlCase& c = GetParam();
  const auto q = c.q.distribution(), p = c.p.distribution();
  EXPECT_GT(c.kl(*q, *p).item<double>(), 1e-3);
  if (!c.one_family) return;
  EXPECT_EQ(c.kl(*q, *q).item<double>(), 0);
  EXPECT_EQ(c.kl(*p, *p).item<double>(), 0);
}

TEST_P(KlContract, IsNeverNegative) {
  const KlCase& c = GetParam();
  const auto p = c.p.distribution();
  for (const double factor : {0.1, 0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0}) {
    Tensors moved = c.q.parameters;
    moved.back() = moved.back() * factor;
    EXPECT_GE(c.kl(*c.q.make(moved, Validate::On), *p).item<double>(), 0)
        << factor;
  }
}

TEST_P(KlContract, FloatAgreesWithDouble) {
  const KlCase& c = GetParam();
  const Tensors q = converted(c.q.parameters, torch::kFloat);
  const Tensors p = converted(c.p.parameters, torch::kFloat);
  const torch::Tensor in_float =
      c.kl(*c.q.make(q, Validate::On), *c.p.make(p, Validate::On));
  const torch::Tensor in_double =
      c.kl(*c.q.make(converted(q, torch::kDouble), Validate::On),
           *c.p.make(converted(p, torch::kDouble), Validate::On));
  EXPECT_EQ(in_float.scalar_type(), torch::kFloat);
  expect_close(in_float, in_double, 2e-6, 0, "KL");
}

TEST_P(KlContract, BroadcastsAndRefusesWhatDoesNotFit) {
  const KlCase& c = GetParam();
  const auto q = c.q.make(repeated(c.q.parameters, {3, 1}), Validate::On);
  const auto p = c.p.make(repeated(c.p.parameters, {2}), Validate::On);
  EXPECT_EQ(c.kl(*q, *p).sizes().vec(), (Shape{3, 2}));
  const auto clashing =
      c.p.make(repeated(c.p.parameters, {4, 5}), Validate::On);
  expect_error<ArgumentError>([&] { c.kl(*q, *clashing); },
                              "kl_divergence: shapes [3, 1] and [4, 5]");
  const auto in_float =
      c.p.make(converted(c.p.parameters, torch::kFloat), Validate::On);
  expect_error<ArgumentError>([&] { c.kl(*q, *in_float); },
                              "both must have the same one");
}

INSTANTIATE_TEST_SUITE_P(Pairs, KlContract, ::testing::ValuesIn(all_kl_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace radir::testing
