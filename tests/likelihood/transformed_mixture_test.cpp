#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "radir/core/error.h"
#include "radir/likelihood/draw_columns.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/regression_scores.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;

const TargetTransform kLogarithm = TargetTransform::logarithm(0.5, 40);

/// Reaches beyond both bends: g(40) is 4.4.
std::vector<MixtureComponent> components() {
  return {{0.3, 0.4}, {2.5, 0.5, 60}, {4.1, 0.3, 200, 2}, {1.0, 0.8}};
}

PredictiveMixture mixture() {
  return PredictiveMixture(components(), kLogarithm);
}

/// Integral from -60 to 400 by Simpson's rule.
template <typename F>
double integral(F f) {
  constexpr int kIntervals = 200000;
  constexpr double kLow = -60, kWidth = 460.0 / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const int weight = i == 0 || i == kIntervals ? 1 : i % 2 == 0 ? 2 : 4;
    sum += weight * f(kLow + i * kWidth);
  }
  return sum * kWidth / 3;
}

TEST(TransformedMixture, MomentsAreThoseOfItsDensity) {
  const PredictiveMixture p = mixture();
  const auto density = [&](double x) { return std::exp(p.log_density(x)); };
  // Simpson's rule is off by the square of its step at a bend: 5e-6.
  EXPECT_NEAR(integral(density), 1, 2e-6);
  const double mean = integral([&](double x) { return x * density(x); });
  const double variance =
      integral([&](double x) { return (x - mean) * (x - mean) * density(x); });
  // t distributions of 60 and 200 degrees of freedom count as normal ones.
  EXPECT_NEAR(p.mean() / mean, 1, 1e-3);
  EXPECT_NEAR(p.standard_deviation() / std::sqrt(variance), 1, 2e-3);
  EXPECT_NEAR(p.epistemic_deviation() * p.epistemic_deviation() +
                  p.aleatoric_deviation() * p.aleatoric_deviation(),
              p.standard_deviation() * p.standard_deviation(), 1e-9);
}

TEST(TransformedMixture, QuantilesInvertTheDistributionFunction) {
  const PredictiveMixture p = mixture();
  const PredictiveMixture transformed(components());
  double before = -1e9;
  for (double probability : {1e-6, 0.05, 0.5, 0.7, 0.95, 0.999}) {
    const double quantile = p.quantile(probability);
    EXPECT_NEAR(p.cdf(quantile), probability, 1e-9);
    EXPECT_GT(quantile, before);
    before = quantile;
    EXPECT_DOUBLE_EQ(quantile,
                     kLogarithm.invert(transformed.quantile(probability)));
  }
}

TEST(TransformedMixture, DistributionFunctionIsTheIntegralOfTheDensity) {
  const PredictiveMixture p = mixture();
  for (double x : {-0.2, 0.7, 5.0, 38.0, 90.0}) {
    const double step = 1e-4;
    const double slope = (p.cdf(x + step) - p.cdf(x - step)) / (2 * step);
    EXPECT_NEAR(slope / std::exp(p.log_density(x)), 1, 2e-3) << x;
  }
}

TEST(TransformedMixture, DensityOfAnIntervalIsTheMeanDensity) {
  const PredictiveMixture p = mixture();
  for (double x : {0.7, 5.0, 39.9, 90.0}) {
    const double width = 0.4;
    const double expected =
        (p.cdf(x + width / 2) - p.cdf(x - width / 2)) / width;
    EXPECT_NEAR(p.log_interval_density(x, width), std::log(expected), 1e-6);
    EXPECT_NEAR(p.log_interval_density(x, 1e-7), p.log_density(x), 1e-4);
  }
}

TEST(TransformedMixture, CrpsIsTheDistanceOfDistributionFunctions) {
  const PredictiveMixture p = mixture();
  for (double value : {-1.0, 0.3, 3.0, 39.0, 150.0}) {
    const double expected = integral([&](double x) {
      const double distance = p.cdf(x) - (x >= value ? 1 : 0);
      return distance * distance;
    });
    // Simpson's rule is off by half a step at the value: 1e-3.
    EXPECT_NEAR(p.crps(value), expected, 1.5e-3) << value;
  }
}

// On a nearly straight part all is as without the transform.
TEST(TransformedMixture, AgreesWithAPlainOneWhereTheTransformIsALine) {
  const auto straight = TargetTransform::logarithm(1e8, 1e7);
  std::vector<MixtureComponent> scaled = components();
  for (MixtureComponent& c : scaled) {
    c.location /= 1e8;
    c.scale /= 1e8;
  }
  const PredictiveMixture p(scaled, straight);
  const PredictiveMixture plain(components());
  EXPECT_NEAR(p.mean(), plain.mean(), 1e-5);
  EXPECT_NEAR(p.standard_deviation(), plain.standard_deviation(), 1e-5);
  EXPECT_NEAR(p.epistemic_deviation(), plain.epistemic_deviation(), 1e-5);
  for (double x : {-1.0, 1.5, 4.0}) {
    EXPECT_NEAR(p.log_density(x), plain.log_density(x), 1e-5);
    // The plain score goes over pairs of different draws.
    const double exact = integral([&](double y) {
      const double distance = plain.cdf(y) - (y >= x ? 1 : 0);
      return distance * distance;
    });
    EXPECT_NEAR(p.crps(x), exact, 1.5e-3);
  }
}

TEST(TransformedMixture, ScoresAreThoseOfTheDistribution) {
  const PredictiveMixture p = mixture();
  EXPECT_FALSE(columns_of(p).has_value());
  const RegressionScore found = score(p, 3.0, {}, 0.01);
  EXPECT_DOUBLE_EQ(found.log_density, p.log_density(3));
  EXPECT_DOUBLE_EQ(found.residual, 3 - p.mean());
  EXPECT_DOUBLE_EQ(found.probability, p.cdf(3));
  EXPECT_DOUBLE_EQ(found.crps, p.crps(3));
  EXPECT_DOUBLE_EQ(found.widths[2], p.quantile(0.95) - p.quantile(0.05));
}

TEST(TransformedMixture, KnowsTheMeanOfADraw) {
  const PredictiveMixture p = mixture();
  double mean = 0;
  for (const MixtureComponent& c : p.components()) {
    mean += c.weight / 5 * p.draw_mean(c);
  }
  EXPECT_NEAR(mean, p.mean(), 1e-12);
  const PredictiveMixture plain({{3, 1, 50, 1, 0.5}});
  EXPECT_EQ(plain.draw_mean(plain.components().front()), 2.5);
}

TEST(TransformedMixture, RefusesPartsOfDraws) {
  expect_error<ArgumentError>(
      [] {
        PredictiveMixture({{3, 1, 50, 1, 0.5}}, kLogarithm);
      },
      "its offset must be 0, but is 0.5");
}

}  // namespace
}  // namespace radir::likelihood
