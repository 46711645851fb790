#include "radir/posterior/gates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "posterior/gate_laws.h"
#include "posterior/posterior_arrays.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "support/expect_error.h"

// What the contract of families does not say about gates.

namespace radir::posterior {
namespace {

using network::WeightShape;
using radir::testing::expect_error;

const WeightShape kOne{1, 1, 1, 1};

double half_square(double mean, double variance) {
  return (mean * mean + variance) / 2;
}

class Gates : public ::testing::TestWithParam<Options> {};

std::vector<Options> all_gates() {
  GroupNormalJeffreysOptions jeffreys;
  jeffreys.initial_gate_noise = 0.3;
  GroupHorseshoeOptions horseshoe;
  horseshoe.initial_gate_noise = 0.3;
  StructuredPruningOptions pruning;
  pruning.initial_gate_noise = 0.5;
  pruning.price = 2;
  GeneralizedDropoutOptions dropout;
  dropout.temperature = 0.5;  // at 0.1 few draws have any gradient
  dropout.beta_b = 1.5;
  dropout.price = 0.5;
  return {jeffreys, horseshoe, pruning, dropout, HardConcreteOptions{}};
}

INSTANTIATE_TEST_SUITE_P(All, Gates, ::testing::ValuesIn(all_gates()),
                         [](const ::testing::TestParamInfo<Options>& one) {
                           std::string name = one.param.family().name();
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

/// The gradient of E[sum W^2] / 2 by differences of the moments, and the mean
/// of many draws of it, as a step takes them.
TEST_P(Gates, StepsHaveUnbiasedGradients) {
  const WeightShape shape{1, 3, 2, 1};
  PosteriorArrays<double> arrays(shape, GetParam());
  arrays.disturb();
  arrays.posterior.after_step(0, arrays.mutable_inputs);
  const auto size = static_cast<std::size_t>(shape.size());
  const bool by_moments = arrays.posterior.noise() == Noise::Activations;
  std::vector<double> mean(size), variance(size, 0.0);
  const std::vector<double> half(size, 0.5);
  constexpr int kDraws = 40000;
  std::vector<std::vector<double>> sums, squares;
  for (const auto& block : arrays.values) {
    sums.emplace_back(block.size());
    squares.emplace_back(block.size());
  }
  for (int draw = 0; draw < kDraws; ++draw) {
    for (auto& block : arrays.gradients) block.assign(block.size(), 0.0);
    const kernels::RandomStream stream{3, 0, static_cast<std::uint64_t>(draw)};
    if (by_moments) {
      arrays.posterior.step_moments(arrays.inputs, stream, mean.data(),
                                    variance.data());
      arrays.posterior.moments_backward(arrays.inputs, mean.data(), half.data(),
                                        arrays.outputs);
    } else {
      arrays.posterior.sample(arrays.inputs, stream, mean.data());
      arrays.posterior.backward(arrays.inputs, mean.data(), mean.data(),
                                arrays.outputs);
    }
    for (std::size_t b = 0; b < sums.size(); ++b) {
      for (std::size_t i = 0; i < sums[b].size(); ++i) {
        sums[b][i] += arrays.gradients[b][i] / kDraws;
        squares[b][i] += std::pow(arrays.gradients[b][i], 2) / kDraws;
      }
    }
  }
  const auto expected = [&] {
    arrays.posterior.moments(arrays.inputs, mean.data(), variance.data());
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += half_square(mean[i], variance[i]);
    }
    return sum;
  };
  for (std::size_t b = 0; b < sums.size(); ++b) {
    for (std::size_t i = 0; i < sums[b].size(); ++i) {
      double& value = arrays.values[b][i];
      const double x0 = value;
      value = x0 + 1e-5;
      const double above = expected();
      value = x0 - 1e-5;
      const double wanted = (above - expected()) / 2e-5;
      value = x0;
      const double error =
          std::sqrt((squares[b][i] - sums[b][i] * sums[b][i]) / kDraws);
      EXPECT_NEAR(sums[b][i], wanted, 5 * error + 1e-7)
          << arrays.posterior.parameter_blocks()[b].name;
    }
  }
}

TEST_P(Gates, RefuseDoubleGrouping) {
  const Family& family = GetParam().family();
  Options options = GetParam();
  class Setter final : public SettingsVisitor {
    void number(const Setting&, double&) override {}
    void integer(const Setting&, std::int64_t&) override {}
    void seed(const Setting&, std::uint64_t&) override {}
    void flag(const Setting&, bool&) override {}
    void text(const Setting&, std::string&) override {}
    void integers(const Setting&, std::vector<std::int64_t>&) override {}
    void optional_number(const Setting&, std::optional<double>&) override {}
    void optional_integer(const Setting&,
                          std::optional<std::int64_t>&) override {}
    void choice_index(const Setting&, const std::vector<const char*>& names,
                      std::size_t& index) override {
      index = names.size() - 1;  // double
    }
  } setter;
  family.visit_settings(setter, options);
  expect_error<UnsupportedError>(
      [&] { WeightPosterior<float>(kOne, options); },
      "has gates of rows or of columns, not of both");
}

TEST_P(Gates, ScoreOneSide) {
  PosteriorArrays<double> arrays({1, 3, 2, 1}, GetParam());
  const UnitScores scores = arrays.posterior.unit_scores(arrays.inputs);
  EXPECT_TRUE(scores.are_gates);
  EXPECT_TRUE(scores.rows.empty());
  EXPECT_EQ(scores.columns.size(), 2u);
}

TEST(GroupNormalJeffreys, MomentsOfAWeight) {
  PosteriorArrays<double> arrays(kOne, GroupNormalJeffreysOptions{});
  // Gate of mean 0.9 and variance 0.05, weight of 0.5 and 0.04.
  arrays.values = {{0.5}, {std::log(0.2)}, {0.9}, {std::log(0.05)}};
  arrays.bind();
  double mean = 0, variance = 0;
  arrays.posterior.moments(arrays.inputs, &mean, &variance);
  EXPECT_NEAR(mean, 0.45, 1e-15);
  EXPECT_NEAR(variance, 0.0469, 1e-15);
  // A weight at the prior costs nothing; the gate as the table says.
  arrays.values = {{0}, {0}, {1}, {-3}};
  arrays.bind();
  EXPECT_NEAR(arrays.posterior.kl(arrays.inputs), 2.107978307711301, 1e-7);
}

TEST(GroupHorseshoe, MomentsOfAWeight) {
  PosteriorArrays<double> arrays(kOne, GroupHorseshoeOptions{});
  // log z has mean 0.1 and variance 0.2; the common factor is 1.
  const double none = -60;
  arrays.values = {{0.5}, {std::log(0.2)}, {0.2}, {std::log(0.4)},
                   {0},   {std::log(0.4)}, {0},   {none},
                   {0},   {none}};
  arrays.bind();
  double mean = 0, variance = 0;
  arrays.posterior.moments(arrays.inputs, &mean, &variance);
  EXPECT_NEAR(mean, 0.610701379080085, 1e-14);
  EXPECT_NEAR(variance, 0.155458277702930, 1e-14);
}

TEST(GroupHorseshoe, NoVarianceIsNegativeByRounding) {
  PosteriorArrays<double> arrays(kOne, GroupHorseshoeOptions{});
  for (int i = 1; i < 100; ++i) {
    const double loc = 0.37 * i, none = -60;
    arrays.values = {{loc},  {none}, {0.01 * i}, {none}, {0.02 * i},
                     {none}, {0},    {none},     {0},    {none}};
    arrays.bind();
    double mean = 0, variance = 0;
    arrays.posterior.moments(arrays.inputs, &mean, &variance);
    EXPECT_GE(variance, 0) << loc;
  }
}

TEST(GroupHorseshoe, DivergenceOfAGate) {
  const auto unit =
      HorseshoeGate{}.cost({-1, std::log(0.5), -1, std::log(0.5)});
  EXPECT_NEAR(unit, 0.472366552741015 + 2.490342957461841, 1e-13);
  const HorseshoeGate common{{}, 1e-5, 1};
  const double inverse = math::kl_lognormal_inverse_gamma(-1.0, 0.5, 0.5, 1.0);
  EXPECT_NEAR(common.cost({-24, 0, -1, std::log(0.5)}) - inverse,
              0.262915407040577, 1e-12);
  const double log_mode = HorseshoeGate::score({0.2, std::log(0.4), 0, -60});
  EXPECT_NEAR(log_mode, 0.1 - 0.1, 1e-15);
}

TEST(GeneralizedDropout, PenaltyIsTheBetaDensityUpToAConstant) {
  const auto density = [](double a, double b, double k) {
    const double x = std::log(k / (1 - k));
    const double most = BetaGate::kMost;
    const double least =
        (1 - a) * std::log(math::logistic(-most)) +
        (1 - b) * std::log(math::logistic(b < 1 ? -most : most));
    const double log_beta =
        std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
    return BetaGate{{}, a, b, 1, 0.1, 0.5}.cost({x}) + least + log_beta;
  };
  EXPECT_NEAR(density(1e-4, 0.5, 0.3), 7.828289105950488, 1e-12);
  EXPECT_NEAR(density(2, 2, 0.3), -0.231111720963387, 1e-12);
  const auto slopes =
      BetaGate{{}, 1e-4, 0.5, 1, 0.1, 0.5}.cost_slopes({std::log(0.3 / 0.7)});
  EXPECT_NEAR(slopes[0], 0.54993, 1e-12);
}

TEST(GeneralizedDropout, ASecondParameterAboveOneClosesOpenGates) {
  const double open = 7.5, closed = -7.5;
  const BetaGate two_humps{{}, 1e-4, 0.5, 1, 0.1, 0.5};
  const BetaGate closing{{}, 1e-4, 2, 1, 0.1, 0.5};
  EXPECT_LT(two_humps.cost_slopes({open})[0], 0);
  EXPECT_GT(closing.cost_slopes({open})[0], 0.99);
  EXPECT_GE(closing.cost({closed}), 0);
  EXPECT_GT(closing.cost({open}), closing.cost({closed}) + 10);
}

TEST(GatePrices, MultiplyWhatGatesCost) {
  const auto cost = [](const Options& options) {
    PosteriorArrays<double> arrays({1, 4, 3, 1}, options);
    return arrays.posterior.kl(arrays.inputs);
  };
  GeneralizedDropoutOptions dropout;
  StructuredPruningOptions pruning;
  const double dropout_cost = cost(dropout), pruning_cost = cost(pruning);
  dropout.price = pruning.price = 3;
  EXPECT_NEAR(cost(dropout), 3 * dropout_cost, 1e-12 * dropout_cost);
  EXPECT_NEAR(cost(pruning), 3 * pruning_cost, 1e-12 * pruning_cost);
}

TEST(HardConcrete, PaysForTheWeightsBehindOpenGates) {
  HardConcreteOptions options;
  options.price = 0.5;
  PosteriorArrays<double> arrays({1, 4, 3, 1}, options);
  // Three gates of four weights each.
  EXPECT_NEAR(arrays.posterior.kl(arrays.inputs),
              3 * 4 * 0.5 * 0.831822183991690, 1e-12);
  // Closed gates are exactly zero without noise.
  arrays.values[1] = {-2.5, 0, 5};
  arrays.bind();
  std::vector<double> weight(12);
  arrays.posterior.point(arrays.inputs, kernels::PointWeight::Mean,
                         weight.data());
  EXPECT_EQ(weight[0], 0);
  EXPECT_NEAR(weight[1], 0.5 * arrays.values[0][1], 1e-15);
  EXPECT_EQ(weight[2], arrays.values[0][2]);
}

}  // namespace
}  // namespace radir::posterior
