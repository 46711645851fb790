#include "radir/prune/flops_penalty.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/math/hard_concrete.h"
#include "radir/network/cost.h"
#include "radir/network/spec.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/grouping.h"
#include "support/expect_error.h"

namespace radir::prune {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;

train::Model gated(const network::NetworkSpec& network,
                   const std::vector<bool>& rows) {
  train::ModelSpec spec;
  spec.network = network;
  spec.likelihood.kind = likelihood::Kind::Gaussian;
  spec.weights.clear();
  for (bool row : rows) {
    posterior::HardConcreteOptions options;
    options.weights.grouping =
        row ? posterior::Grouping::Row : posterior::Grouping::Column;
    spec.weights.emplace_back(options);
  }
  return train::Model(spec);
}

/// log alpha of a gate that is open with this probability.
double log_alpha(double probability) {
  return std::log(probability / (1 - probability)) -
         math::kHardConcreteTemperature * math::kHardConcreteLogRatio;
}

/// Means of value and gradient over many estimates, and the standard errors.
struct Means {
  Means(const train::Penalty& penalty, const std::vector<double>& values,
        int estimates = 2000)
      : gradient(values.size()), errors(values.size()) {
    std::vector<double> one;
    for (int i = 0; i < estimates; ++i) {
      value +=
          penalty.evaluate(values, {1, 0, static_cast<std::uint64_t>(i)}, one) /
          estimates;
      for (std::size_t g = 0; g < one.size(); ++g) {
        gradient[g] += one[g] / estimates;
        errors[g] += one[g] * one[g] / estimates;
      }
    }
    for (std::size_t g = 0; g < errors.size(); ++g) {
      const double variance = errors[g] - gradient[g] * gradient[g];
      errors[g] = std::sqrt(std::max(variance, 0.0) / estimates);
    }
  }
  double value = 0;
  std::vector<double> gradient;
  std::vector<double> errors;
};

// A dense layer of two gated inputs, one output and no bias costs their number.
TEST(FlopsPenalty, OfTwoGatesByEnumeration) {
  Dense sum{1};
  sum.bias = false;
  const train::Model model = gated({{2}, {sum}}, {false});
  const std::vector<double> values = {log_alpha(0.3), log_alpha(0.8)};
  const Means above_one(*flops_penalty(model, 1, 1), values);
  EXPECT_NEAR(above_one.value, 0.24, 0.02);
  EXPECT_NEAR(above_one.gradient[0], 0.168, 5 * above_one.errors[0]);
  EXPECT_NEAR(above_one.gradient[1], 0.048, 5 * above_one.errors[1]);
  // Without a target, the gradient of the mean, whatever is drawn.
  std::vector<double> gradient;
  flops_penalty(model, 2, 0)->evaluate(values, {7, 0, 0}, gradient);
  EXPECT_NEAR(gradient[0], 2 * 0.21, 1e-12);
  EXPECT_NEAR(gradient[1], 2 * 0.16, 1e-12);
}

TEST(FlopsPenalty, CountsAsTheCostOfTheNetworkDoes) {
  const train::Model lenet =
      gated(network::lenet5(), {true, true, false, false});
  const auto penalty = flops_penalty(lenet, 1, 0);
  ASSERT_EQ(penalty->parameters().size(), 20u + 50 + 800 + 500);
  std::vector<double> values(1370, 60.0), gradient;
  EXPECT_EQ(penalty->evaluate(values, {1, 0, 0}, gradient), 2308230);
  // Four filters, seven of which all features stay, 66 units.
  for (std::size_t i = 4; i < 20; ++i) values[i] = -60;
  for (std::size_t i = 27; i < 70; ++i) values[i] = -60;
  for (std::size_t i = 870 + 66; i < 1370; ++i) values[i] = -60;
  const auto flops = [](double a, double b, double c, double d) {
    return 14976 * a + 64 * (25 * a + 1) * b + (c + 1) * d + 10 * (d + 1);
  };
  EXPECT_EQ(penalty->evaluate(values, {1, 0, 0}, gradient),
            flops(4, 7, 112, 66));
  values[70] = -60;  // a feature of a filter that stays
  values[869] = 60;  // and one of a filter that is gone
  EXPECT_EQ(penalty->evaluate(values, {1, 0, 0}, gradient),
            flops(4, 7, 111, 66));
}

// Against differences of the mean, by the probabilities, of exact enumeration.
TEST(FlopsPenalty, HasTheGradientOfItsMean) {
  const train::Model model =
      gated({{1, 6, 6},
             {Conv2d{2, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Flatten{}, Dense{2},
              Relu{}, Dense{3}}},
            {true, false, false});
  const auto whole = network::cost(model.spec().network).flops;
  const auto penalty = flops_penalty(model, 1, whole / 2);
  const std::size_t gates = penalty->parameters().size();
  ASSERT_EQ(gates, 2u + 8 + 2);
  std::vector<double> values;
  for (std::size_t i = 0; i < gates; ++i) {
    values.push_back(log_alpha(0.2 + 0.05 * static_cast<double>(i)));
  }
  const auto exact = [&](const std::vector<double>& at) {
    double sum = 0;
    std::vector<double> fixed(gates), unused;
    for (unsigned mask = 0; mask < 1u << gates; ++mask) {
      double probability = 1;
      for (std::size_t i = 0; i < gates; ++i) {
        const double p = math::hard_concrete_open(at[i]).value;
        const bool open = (mask >> i & 1u) != 0;
        probability *= open ? p : 1 - p;
        fixed[i] = open ? 60 : -60;
      }
      sum += probability * penalty->evaluate(fixed, {1, 0, 0}, unused);
    }
    return sum;
  };
  const Means means(*penalty, values);
  EXPECT_NEAR(means.value, exact(values), 0.02 * exact(values));
  for (std::size_t i : {0u, 1u, 4u, 9u, 10u}) {
    std::vector<double> above = values, below = values;
    above[i] += 1e-4;
    below[i] -= 1e-4;
    EXPECT_NEAR(means.gradient[i], (exact(above) - exact(below)) / 2e-4,
                5 * means.errors[i] + 1e-3)
        << i;
  }
}

TEST(FlopsPenalty, NeedsGates) {
  train::ModelSpec spec;
  spec.network = network::lenet300();
  spec.likelihood.kind = likelihood::Kind::Categorical;
  testing::expect_error<UnsupportedError>(
      [&] { flops_penalty(train::Model(spec), 1, 0); },
      "has no hard concrete gates");
}

}  // namespace
}  // namespace radir::prune
