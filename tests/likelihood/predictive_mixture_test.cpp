#include "radir/likelihood/predictive_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;

PredictiveMixture mixture() {
  return PredictiveMixture({{0, 1}, {3, 0.5}, {-1, 2, 12}, {0.2, 1, 40}});
}

/// Integral of f over [-100, 100] by Simpson's rule.
template <typename F>
double integral(F f) {
  constexpr int kIntervals = 40000;
  constexpr double kWidth = 200.0 / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const int weight = i == 0 || i == kIntervals ? 1 : i % 2 == 0 ? 2 : 4;
    sum += weight * f(-100 + i * kWidth);
  }
  return sum * kWidth / 3;
}

TEST(PredictiveMixture, MomentsAreThoseOfItsDensity) {
  const PredictiveMixture p = mixture();
  const auto density = [&](double x) { return std::exp(p.log_density(x)); };
  EXPECT_NEAR(integral(density), 1, 1e-9);
  const double mean = integral([&](double x) { return x * density(x); });
  const double variance =
      integral([&](double x) { return (x - mean) * (x - mean) * density(x); });
  EXPECT_NEAR(p.mean(), mean, 1e-9);
  EXPECT_NEAR(p.standard_deviation(), std::sqrt(variance), 1e-8);
  EXPECT_NEAR(p.epistemic_deviation() * p.epistemic_deviation() +
                  p.aleatoric_deviation() * p.aleatoric_deviation(),
              variance, 1e-8);
}

TEST(PredictiveMixture, DistributionFunctionIsTheIntegralOfTheDensity) {
  const PredictiveMixture p = mixture();
  for (double x : {-6.0, -3.0, -1.0, 0.0, 0.5, 2.0, 3.5, 6.0}) {
    const double expected = integral(
        [&](double t) { return t <= x ? std::exp(p.log_density(t)) : 0.0; });
    // The integrand's step costs half an interval times the density: 1e-3.
    EXPECT_NEAR(p.cdf(x), expected, 1.5e-3) << x;
  }
}

TEST(PredictiveMixture, StudentsDistributionIsAsCloseAsStated) {
  // Exact quantiles of Student's t from tables to ten digits.
  struct Row {
    double degrees, value, probability, error;
  };
  const Row rows[] = {
      {5, 2.0150483733, 0.95, 1e-3},    {5, 4.0321429836, 0.995, 1e-3},
      {12, 1.7822875556, 0.95, 1.3e-4}, {12, 3.0545395894, 0.995, 1.3e-4},
      {40, 1.6838510133, 0.95, 1e-5},   {40, 2.7044592674, 0.995, 1e-5}};
  for (const Row& row : rows) {
    const PredictiveMixture p({{0, 1, row.degrees}});
    EXPECT_NEAR(p.cdf(row.value), row.probability, row.error) << row.degrees;
    EXPECT_NEAR(p.cdf(-row.value), 1 - row.probability, row.error);
  }
}

TEST(PredictiveMixture, QuantilesInvertTheDistributionFunction) {
  const PredictiveMixture p = mixture();
  for (double probability : {1e-6, 0.05, 0.5, 0.7, 0.95, 0.999}) {
    EXPECT_NEAR(p.cdf(p.quantile(probability)), probability, 1e-9);
  }
  expect_error<DomainError>([&] { p.quantile(0); }, "between 0 and 1");
  expect_error<DomainError>([&] { p.quantile(1); }, "between 0 and 1");
}

/// Quantiles of very different components are finite and in order, and what
/// they should be wherever the distribution function rises.
TEST(PredictiveMixture, QuantilesAreFiniteAndOrderedForAnyComponents) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<MixtureComponent>> mixtures = {
      {{0, 1}, {3, 0.5}, {-1, 2, 12}},
      {{0, 1}, {1, 1e30}},
      {{0, 1e-5}, {1e30, 1e-5}},
      {{1e30, 1e-5}, {1e30, 3}},
      {{-1e30, 1, 5}, {0, 1e-3, 5}, {1e30, 1e15, 5}},
      {{1e9, 3e9}, {-4e9, 2e5}, {7, 1}},
      {{1e200, 1e180}, {-1e200, 1}},
      {{kLargest, kLargest, 2.5}, {-kLargest, kLargest}},
      {{kLargest, kSmallest}, {-kLargest, kSmallest}},
      {{0, kSmallest}, {1e-310, kSmallest, 2.001}},
      {{0, 1e-300}, {1e300, 1e-300}},
      {{5, 1e-20}},
      {{0, 1, 2.0000001}}};
  for (std::size_t m = 0; m < mixtures.size(); ++m) {
    SCOPED_TRACE(m);
    const PredictiveMixture p(mixtures[m]);
    EXPECT_TRUE(std::isfinite(p.mean()));
    EXPECT_TRUE(std::isfinite(p.standard_deviation()));
    EXPECT_GE(p.epistemic_deviation(), 0);
    EXPECT_GE(p.aleatoric_deviation(), 0);
    double last = -kLargest;
    for (double probability :
         {1e-300, 1e-12, 1e-4, 0.05, 0.25, 0.2500000001, 0.4999999, 0.5,
          0.5000001, 0.75, 0.95, 0.9999, 1 - 1e-12}) {
      const double value = p.quantile(probability);
      ASSERT_TRUE(std::isfinite(value)) << probability;
      EXPECT_GE(value, last) << probability;
      if (value < kLargest) {
        EXPECT_GE(p.cdf(value), probability);
      }
      last = value;
    }
  }
}

TEST(PredictiveMixture, MomentsOfHugeNumbersDoNotOverflow) {
  const PredictiveMixture p({{1e200, 2e199}, {-1e200, 2e199}});
  EXPECT_EQ(p.mean(), 0);
  EXPECT_NEAR(p.epistemic_deviation() / 1e200, 1, 1e-15);
  EXPECT_NEAR(p.aleatoric_deviation() / 2e199, 1, 1e-15);
  EXPECT_NEAR(p.standard_deviation() / 1e200, std::sqrt(1.04), 1e-15);
}

TEST(PredictiveMixture, CrpsOfANormalLawIsTheKnownOne) {
  // Equal components are one normal distribution; sigma (z (2 Phi(z) - 1) + 2
  // phi(z)
  // - 1/sqrt(pi)) (Gneiting and Raftery 2007, eq. 21).
  const double z = 0.7, sigma = 2;
  const double phi = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
  const double cdf = std::erfc(-z / std::sqrt(2.0)) / 2;
  const double expected =
      sigma * (z * (2 * cdf - 1) + 2 * phi - 1 / std::sqrt(M_PI));
  for (std::size_t count : {2, 10, 200}) {
    const PredictiveMixture p(
        std::vector<MixtureComponent>(count, {1.0, sigma}));
    EXPECT_NEAR(p.crps(1 + z * sigma), expected, 1e-12) << count;
  }
}

TEST(PredictiveMixture, CrpsIsTheIntegralOfTheSquaredDifference) {
  const PredictiveMixture p({{0, 1}, {3, 0.5}});
  const double value = 0.8;
  const double distance = integral([&](double x) {
    return std::abs(x - value) * std::exp(p.log_density(x));
  });
  const double whole = integral([&](double x) {
    const double difference = p.cdf(x) - (x >= value ? 1 : 0);
    return difference * difference;
  });
  // The integral is E|X - value| - E|X - X'|/2 with X and X' from the same
  // component half of the time; ours are always from different ones.
  const double same = (1 + 0.5) / 2 * 2 / std::sqrt(M_PI);
  const double different = 4 * (distance - whole) - same;
  EXPECT_NEAR(p.crps(value), distance - different / 2, 5e-3);
}

TEST(PredictiveMixture, CrpsOfPartsWithWeightsIsExact) {
  const double normal = std::numeric_limits<double>::infinity();
  const PredictiveMixture p({{0, 1, normal, 0.9}, {10, 1, normal, 0.1}});
  for (const double value : {0.0, 4.0, 10.0}) {
    const double whole = integral([&](double x) {
      const double difference = p.cdf(x) - (x >= value ? 1 : 0);
      return difference * difference;
    });
    EXPECT_NEAR(p.crps(value), whole, 5e-3) << value;
  }
}

TEST(PredictiveMixture, RefusesWhatIsNoDistribution) {
  expect_error<ArgumentError>(
      [] { PredictiveMixture(std::vector<MixtureComponent>()); },
      "at least one");
  expect_error<ArgumentError>([] { PredictiveMixture({{0, 0}}); }, "above 0");
  expect_error<ArgumentError>(
      [] {
        PredictiveMixture({{0, 1, 2}});
      },
      "more than 2 degrees");
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const MixtureComponent& c :
       {MixtureComponent{infinity, 1}, MixtureComponent{-infinity, 1},
        MixtureComponent{nan, 1}, MixtureComponent{0, infinity},
        MixtureComponent{0, nan}, MixtureComponent{0, 1, nan}}) {
    expect_error<ArgumentError>(
        [&] {
          PredictiveMixture({{0, 1}, c});
        },
        "must have a finite location, a finite scale above 0");
  }
}

// A weight of two is the same component twice.
TEST(PredictiveMixture, WeightsCountComponents) {
  MixtureComponent heavy = {3, 0.5};
  heavy.weight = 2;
  const PredictiveMixture weighted({{0, 1}, heavy, {-1, 2, 12}});
  const PredictiveMixture repeated({{0, 1}, {3, 0.5}, {3, 0.5}, {-1, 2, 12}});
  EXPECT_NEAR(weighted.mean(), repeated.mean(), 1e-15);
  EXPECT_NEAR(weighted.epistemic_deviation(), repeated.epistemic_deviation(),
              1e-15);
  EXPECT_NEAR(weighted.aleatoric_deviation(), repeated.aleatoric_deviation(),
              1e-15);
  for (double x : {-4.0, 0.3, 2.9, 7.0}) {
    EXPECT_NEAR(weighted.log_density(x), repeated.log_density(x), 1e-14);
    EXPECT_NEAR(weighted.cdf(x), repeated.cdf(x), 1e-15);
    EXPECT_NEAR(weighted.log_interval_density(x, 0.5),
                repeated.log_interval_density(x, 0.5), 1e-14);
  }
  EXPECT_NEAR(weighted.quantile(0.8), repeated.quantile(0.8), 1e-8);
}

// Two draws of two parts each: what lies between the parts of a draw is noise.
TEST(PredictiveMixture, TheSpreadWithinADrawIsNoise) {
  const auto part = [](double location, double weight, double offset) {
    MixtureComponent c = {location, 0.5};
    c.weight = weight;
    c.offset = offset;
    return c;
  };
  // Means 1 and 3.
  const PredictiveMixture p(
      {part(0, 0.75, -1), part(4, 0.25, 3), part(2, 0.5, -1), part(4, 0.5, 1)});
  EXPECT_NEAR(p.mean(), 2, 1e-15);
  EXPECT_NEAR(p.epistemic_deviation(), 1, 1e-15);
  EXPECT_NEAR(p.aleatoric_deviation(), std::sqrt(0.25 + (3 + 1) / 2.0), 1e-15);
}

TEST(PredictiveMixture, RefusesWeightsThatAreNone) {
  MixtureComponent c;
  c.weight = 0;
  expect_error<ArgumentError>(
      [&] {
        PredictiveMixture({c, c});
      },
      "positive, finite sum, but it is 0");
  c.weight = -1;
  expect_error<ArgumentError>([&] { PredictiveMixture({c}); }, "but is -1");
}

TEST(PredictiveMixture, IntervalsAreTheirMeanDensity) {
  const PredictiveMixture p({{0, 1, 60}, {2, 0.5, 60}, {1, 3, 60}});
  for (const double value : {-4.0, 0.0, 1.7, 6.0}) {
    for (const double width : {0.01, 0.3, 2.0}) {
      const double expected =
          (p.cdf(value + width / 2) - p.cdf(value - width / 2)) / width;
      EXPECT_NEAR(p.log_interval_density(value, width), std::log(expected),
                  1e-6)
          << value << " " << width;
    }
    // A narrow one is the density.
    EXPECT_NEAR(p.log_interval_density(value, 1e-7), p.log_density(value),
                1e-6);
  }
  const PredictiveMixture normal({{0, 1}});
  // Far out, where the probability of an interval is no double.
  const double far = normal.log_interval_density(60, 1);
  EXPECT_NEAR(far, normal.log_density(59.5) - std::log(59.5), 1e-3);
  EXPECT_NEAR(normal.log_interval_density(-60, 1), far, 1e-9);
  // At most one over the width.
  EXPECT_NEAR(PredictiveMixture({{5, 1e-20}}).log_interval_density(5, 0.5),
              std::log(2), 1e-12);
}

}  // namespace
}  // namespace radir::likelihood
