#include "radir/bench/sbc_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using posterior::GaussianOptions;
using posterior::Grouping;
using posterior::RadialDirectionalOptions;
using testing::expect_error;

train::ModelSpec spec_of(const posterior::Options& weights) {
  train::ModelSpec spec;
  spec.network = network::multilayer_perceptron(3, {4}, 1);
  spec.weights = {weights};
  return spec;
}

RadialDirectionalOptions uniform_directions(Grouping grouping) {
  RadialDirectionalOptions options;
  options.grouping = grouping;
  options.direction_prior = posterior::DirectionPrior::Uniform;
  options.degrees_of_freedom = 10;
  options.global_scale.reset();
  options.local_scale = 2;
  return options;
}

/// Means over prior draws of the squares of the first layer's weights and
/// biases.
struct MeanSquares {
  double weight = 0;
  double bias = 0;
};

MeanSquares mean_squares(const posterior::Options& weights) {
  const train::Model model(spec_of(weights));
  constexpr int kDraws = 4000;
  MeanSquares result;
  for (int i = 0; i < kDraws; ++i) {
    kernels::PhiloxEngine random({1, 2, 3}, static_cast<std::uint32_t>(i));
    const auto layer = draw_prior(model, random).layers.front();
    EXPECT_EQ(layer.weight.size(), 12u);
    EXPECT_EQ(layer.bias.size(), 4u);
    for (const float w : layer.weight) {
      result.weight += static_cast<double>(w * w) / 12 / kDraws;
    }
    for (const float b : layer.bias) {
      result.bias += static_cast<double>(b * b) / 4 / kDraws;
    }
  }
  return result;
}

TEST(SbcNetwork, PriorDrawsHaveTheVarianceOfThePrior) {
  GaussianOptions gaussian;
  gaussian.prior_scale = 0.5;
  EXPECT_NEAR(mean_squares(gaussian).weight, 0.25, 0.01);
  EXPECT_NEAR(mean_squares(gaussian).bias, 1, 0.04);
  // A squared radius has mean 2^2 10/(10 - 2) = 5, shared by the weights of a
  // group: 3 in a row, 4 in a column; rows and columns are independent.
  EXPECT_NEAR(mean_squares(uniform_directions(Grouping::Row)).weight, 5.0 / 3,
              0.1);
  EXPECT_NEAR(mean_squares(uniform_directions(Grouping::Column)).weight,
              5.0 / 4, 0.1);
  EXPECT_NEAR(mean_squares(uniform_directions(Grouping::Double)).weight,
              25.0 / 12, 0.2);
}

TEST(SbcNetwork, RejectsPriorsThatAreNone) {
  const auto draw = [](const posterior::Options& weights) {
    kernels::PhiloxEngine random({1, 2, 3}, 0);
    draw_prior(train::Model(spec_of(weights)), random);
  };
  expect_error<UnsupportedError>([&] { draw(RadialDirectionalOptions{}); },
                                 "direction_prior=uniform");
  GaussianOptions learnt;
  learnt.learn_prior = true;
  expect_error<UnsupportedError>([&] { draw(learnt); }, "learn_prior=false");
  expect_error<UnsupportedError>([&] { draw(posterior::PointOptions{}); },
                                 "no prior to draw from");
}

/// A linear network of one input and known noise, more or less: its posterior
/// is found by the variational fit, so ranks must be nearly uniform.
TEST(SbcNetwork, AVariationalFitOfALinearModelIsNearlyExact) {
  SbcProblem problem;
  problem.spec.network = network::multilayer_perceptron(1, {}, 1);
  problem.spec.weights = {GaussianOptions{}};
  problem.rows = 20;
  problem.probes = {0, 1};
  EXPECT_EQ(problem.quantities(),
            (std::vector<std::string>{"f(0)", "f(1)", "noise"}));
  train::TrainerOptions options;
  options.epochs = 1500;
  options.batch_size = 20;
  options.optimizer.learning_rate = 0.02;
  options.learning_rate.kind = train::LearningRateSchedule::Kind::Cosine;
  const SbcFit fit = variational_fit(options);
  const auto quantities = simulation_based_calibration(
      problem.quantities(), 100, 5,
      [&](std::int64_t i) { return simulate(problem, fit, 0, i); });
  // 5 bins of 20; the share of an outer bin has a standard error of 0.04.
  for (const SbcQuantity& quantity : quantities) {
    EXPECT_GT(quantity.p_value, 1e-3) << quantity.name;
    EXPECT_NEAR(quantity.spread, 1, 0.2) << quantity.name;
    EXPECT_NEAR(quantity.mean_rank, 0.5, 0.12) << quantity.name;
  }
}

TEST(SbcNetwork, RunsEveryMethodAndDependsOnTheSeedAlone) {
  BenchSbcOptions options;
  options.simulations = 10;
  options.bins = 2;
  options.steps = 20;
  const auto results = bench_sbc(options);
  ASSERT_EQ(results.size(), 4u);
  ASSERT_EQ(results[0].quantities.size(), 4u);
  EXPECT_EQ(results[0].quantities[1].name, "f(0.5, -0.5)");
  ThreadPool pool(2);
  options.methods = {"rdp"};
  const auto again = bench_sbc(options, &pool);
  ASSERT_EQ(again.size(), 1u);
  for (std::size_t q = 0; q < 4; ++q) {
    EXPECT_EQ(again[0].quantities[q].histogram,
              results[1].quantities[q].histogram);
  }
  options.methods = {"gauss"};
  expect_error<ArgumentError>([&] { bench_sbc(options); },
                              "there is no method \"gauss\"");
  options.steps = 0;
  expect_error<ArgumentError>([&] { bench_sbc(options); }, "steps");
}

}  // namespace
}  // namespace radir::bench
