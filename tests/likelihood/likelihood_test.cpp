#include "radir/likelihood/likelihood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "radir/likelihood/gaussian.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;

/// A batch with outputs of a network, [output][stride], and targets for it.
struct Example {
  static constexpr std::int64_t kBatch = 3;
  static constexpr std::int64_t kStride = 16;  ///< kernels write full vectors

  explicit Example(const Likelihood& likelihood)
      : num_outputs(likelihood.output_size(2)),
        own(likelihood.parameter_names().size()) {
    for (std::int64_t i = 0; i < num_outputs * kStride; ++i) {
      outputs.push_back(std::sin(1.7 * static_cast<double>(i + 1)));
    }
    likelihood.initialize(7, own.data());
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] += 0.3 * static_cast<double>(i);
    }
  }

  kernels::LikelihoodData<double> data(double* gradient, double scale) const {
    kernels::LikelihoodData<double> result;
    result.outputs = outputs.data();
    result.num_outputs = num_outputs;
    result.batch = kBatch;
    result.stride = kStride;
    result.gradient = gradient;
    result.scale = scale;
    return result;
  }

  double loss(const Likelihood& likelihood) const {
    std::vector<double> ignored(own.size());
    return likelihood.loss(data(nullptr, 1), targets(), own.data(),
                           ignored.data());
  }

  Targets<double> targets() const { return {values.data(), labels.data()}; }

  std::int64_t num_outputs;
  std::vector<double> outputs;
  std::vector<double> own;
  std::vector<double> values = {0.3, -1.2, 0.8, 0.1, 2.0, -0.5};
  std::vector<std::int64_t> labels = {1, 0, 1};
};

/// d f / d x by central differences.
template <typename F>
double slope(double& x, const F& f) {
  constexpr double kStep = 1e-5;
  const double at = x;
  x = at + kStep;
  const double above = f();
  x = at - kStep;
  const double below = f();
  x = at;
  return (above - below) / (2 * kStep);
}

/// Every registered kind, with priors that are not the default.
class LikelihoodContract : public ::testing::TestWithParam<Kind> {
 protected:
  LikelihoodContract() : likelihood_(make_likelihood({GetParam(), 2.5, 0.7})) {}

  std::unique_ptr<const Likelihood> likelihood_;
};

TEST_P(LikelihoodContract, TheGradientOfTheLossIsItsSlope) {
  constexpr double kScale = 0.25;
  Example example(*likelihood_);
  std::vector<double> gradient(example.outputs.size());
  std::vector<double> own_gradient(example.own.size(), 10);
  likelihood_->loss(example.data(gradient.data(), kScale), example.targets(),
                    example.own.data(), own_gradient.data());
  const auto loss = [&] { return kScale * example.loss(*likelihood_); };
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], slope(example.outputs[i], loss), 1e-8) << i;
  }
  // Added to what was there.
  for (std::size_t i = 0; i < own_gradient.size(); ++i) {
    EXPECT_NEAR(own_gradient[i], 10 + slope(example.own[i], loss), 1e-8) << i;
  }
}

TEST_P(LikelihoodContract, TheGradientOfTheKlIsItsSlope) {
  Example example(*likelihood_);
  const auto kl = [&] { return likelihood_->kl(example.own.data()); };
  EXPECT_GE(kl(), 0);
  std::vector<double> gradient(example.own.size(), 1);
  likelihood_->kl_backward(example.own.data(), 0.5, gradient.data());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], 1 + 0.5 * slope(example.own[i], kl), 1e-7) << i;
  }
}

TEST_P(LikelihoodContract, ProbabilitiesAddUpToOne) {
  const Example example(*likelihood_);
  const std::int64_t size =
      likelihood_->output_size(likelihood_->has_labels() ? 3 : 1);
  const Draws<double> draws = {example.outputs.data(), size, 2, size};
  double sums[2] = {0, 0};
  const auto add = [&](const Targets<double>& target, double width) {
    double logs[2];
    likelihood_->log_likelihoods(draws, target, example.own.data(), logs);
    for (int d = 0; d < 2; ++d) sums[d] += width * std::exp(logs[d]);
  };
  if (likelihood_->has_labels()) {
    for (std::int64_t label = 0; label < size; ++label) {
      add({nullptr, &label}, 1);
    }
  } else {
    // Student's t with 12 degrees of freedom has no more outside.
    constexpr double kWidth = 0.01;
    for (double y = -60; y < 60; y += kWidth) add({&y, nullptr}, kWidth);
  }
  EXPECT_NEAR(sums[0], 1, 1e-8);
  EXPECT_NEAR(sums[1], 1, 1e-8);
}

TEST_P(LikelihoodContract, PredictionsAgreeWithTheLogLikelihood) {
  const Example example(*likelihood_);
  const std::int64_t size =
      likelihood_->output_size(likelihood_->has_labels() ? 3 : 1);
  const std::vector<float> outputs(example.outputs.begin(),
                                   example.outputs.end());
  const Draws<float> draws = {outputs.data(), size, 1, 0};
  double log_likelihood = 0;
  std::vector<MixtureComponent> components;
  if (likelihood_->has_labels()) {
    const std::int64_t label = 2;
    likelihood_->log_likelihoods(draws, {nullptr, &label}, nullptr,
                                 &log_likelihood);
    EXPECT_NEAR(std::log(likelihood_->predict_class(draws).probabilities[2]),
                log_likelihood, 1e-12);
    expect_error<UnsupportedError>(
        [&] { likelihood_->add_components(draws, nullptr, components); },
        "classes, not numbers");
    return;
  }
  const float target = 0.75;
  likelihood_->log_likelihoods(draws, {&target, nullptr}, example.own.data(),
                               &log_likelihood);
  likelihood_->add_components(draws, example.own.data(), components);
  ASSERT_FALSE(components.empty());
  EXPECT_NEAR(PredictiveMixture(components).log_density(0.75), log_likelihood,
              1e-12);
  expect_error<UnsupportedError>([&] { likelihood_->predict_class(draws); },
                                 "numbers, not classes");
}

TEST_P(LikelihoodContract, SizesFitEachOther) {
  for (std::int64_t targets : {2, 3, 10}) {
    EXPECT_EQ(likelihood_->target_size(likelihood_->output_size(targets)),
              likelihood_->has_labels() ? 1 : targets);
  }
  std::set<std::string> names;
  for (const char* name : likelihood_->parameter_names()) {
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_NE(likelihood_->describe_outputs("height"), "");
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const auto& choice : kind_choices()) kinds.push_back(choice.first);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, LikelihoodContract,
                         ::testing::ValuesIn(all_kinds()),
                         [](const auto& instance) {
                           std::string name = to_string(instance.param);
                           name.erase(
                               std::remove(name.begin(), name.end(), '-'),
                               name.end());
                           return name;
                         });

TEST(Likelihood, KindsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::set<Kind> kinds;
  for (const auto& [kind, name] : kind_choices()) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(kinds.insert(kind).second) << name;
    EXPECT_STREQ(to_string(kind), name);
  }
  EXPECT_EQ(kind_choices().front().first, Options().kind);
}

TEST(Likelihood, OutputsMustFit) {
  expect_error<ArgumentError>(
      [] { make_likelihood({Kind::PredictedNoise})->target_size(3); },
      "two outputs per target, but has 3");
  expect_error<ArgumentError>(
      [] { make_likelihood({Kind::Categorical})->target_size(1); },
      "at least two outputs, but has 1");
  expect_error<ArgumentError>(
      [] {
        make_likelihood({Kind::Gaussian, 0, 1});
      },
      "must be > 0, but are 0 and 1");
}

// From any start, a full step leads to the optimum of q(tau) for the outputs.
TEST_P(LikelihoodContract, AFullStepOfTheOwnParametersEndsWhereTheirSlopeIs0) {
  for (double kl_weight : {1.0, 0.3}) {
    Example example(*likelihood_);
    OwnStep step;
    step.examples = 40;
    step.numbers = 40.0 * static_cast<double>(
                              likelihood_->target_size(example.num_outputs));
    step.kl_weight = kl_weight;
    step.rate = 1;
    const auto gradient = [&] {
      std::vector<double> outputs(example.outputs.size());
      std::vector<double> own(example.own.size());
      likelihood_->loss(example.data(outputs.data(), 1.0 / Example::kBatch),
                        example.targets(), example.own.data(), own.data());
      likelihood_->kl_backward(example.own.data(), kl_weight / step.examples,
                               own.data());
      return own;
    };
    const std::vector<double> before = example.own;
    if (!likelihood_->own_step(gradient().data(), step, example.own.data())) {
      EXPECT_EQ(example.own, before);
      continue;
    }
    for (double slope : gradient()) EXPECT_NEAR(slope, 0, 1e-12);
    // Half a step covers half of the way of the rate.
    const double end = std::exp(example.own[1]);
    example.own[1] = std::log(1.1 * end);
    step.rate = 0.5;
    likelihood_->own_step(gradient().data(), step, example.own.data());
    EXPECT_NEAR(std::exp(example.own[1]), 1.05 * end, 1e-9 * end);
  }
}

TEST(Likelihood, TheStepOfThePrecisionIsDefinedFromAnyStart) {
  const auto likelihood = make_likelihood({Kind::Gaussian, 2, 5});
  OwnStep step;
  step.examples = step.numbers = 20;
  step.rate = 0.01;
  for (double shape : {1e-3, 2.0, 1e6}) {
    for (double rate : {1e-6, 5.0, 1e6}) {
      for (double kl_weight : {0.0, 1.0}) {
        step.kl_weight = kl_weight;
        double own[] = {std::log(shape), std::log(rate)};
        const double gradient[] = {0, 0.3};
        EXPECT_TRUE(likelihood->own_step(gradient, step, own));
        EXPECT_TRUE(std::isfinite(own[0]) && std::isfinite(own[1]))
            << shape << " " << rate << " " << kl_weight;
      }
    }
  }
}

TEST(Likelihood, PredictedNoiseIsBounded) {
  const auto likelihood = make_likelihood({Kind::PredictedNoise});
  const float target = 3;
  for (const auto& [output, noise] :
       {std::pair(1e30f, 10.0), std::pair(50.f, 10.0), std::pair(-90.f, 1e-5),
        std::pair(-1e30f, 1e-5), std::pair(2.f, std::exp(1.0))}) {
    SCOPED_TRACE(output);
    const float outputs[] = {3, output};
    const Draws<float> draws = {outputs, 2, 1, 0};
    std::vector<MixtureComponent> components;
    likelihood->add_components(draws, nullptr, components);
    EXPECT_NEAR(components[0].scale, noise, 1e-6 * noise);
    double log_likelihood = 0;
    likelihood->log_likelihoods(draws, {&target, nullptr}, nullptr,
                                &log_likelihood);
    EXPECT_NEAR(log_likelihood, -std::log(noise * std::sqrt(2 * M_PI)), 1e-6);
  }
}

TEST(Likelihood, ThePrecisionStartsAtOneWithItsBestShape) {
  double own[2];
  make_likelihood({Kind::Gaussian, 2, 5})->initialize(20, own);
  EXPECT_NEAR(precision_of(own).shape, 12, 1e-12);
  EXPECT_EQ(precision_of(own).shape, precision_of(own).rate);
}

}  // namespace
}  // namespace radir::likelihood
