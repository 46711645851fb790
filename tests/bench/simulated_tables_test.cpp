#include "radir/bench/simulated_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using likelihood::MixtureComponent;
using likelihood::PredictiveMixture;
using testing::expect_error;

/// Of y = location + scale sinh(u), a substitution under which even the tails
/// of Student's t end soon: the integral of the density by the trapezium rule.
double integral(const MixtureComponent& truth) {
  const PredictiveMixture density({truth});
  constexpr double kStep = 0.01;
  double sum = 0;
  for (double u = -15; u <= 15; u += kStep) {
    const double y = truth.location + truth.scale * std::sinh(u);
    sum += std::exp(density.log_density(y)) * truth.scale * std::cosh(u);
  }
  return sum * kStep;
}

double variance(const MixtureComponent& truth) {
  const double deviation = PredictiveMixture({truth}).standard_deviation();
  return deviation * deviation;
}

TEST(SimulatedTables, DensitiesIntegrateToOne) {
  for (const SimulatedProcess& process : simulated_processes()) {
    for (const Region region : process.regions) {
      for (const auto& truth : simulate_test(process, region, 20, 1).truth) {
        EXPECT_NEAR(integral(truth), 1, 1e-9) << process.name;
      }
    }
  }
}

TEST(SimulatedTables, TargetsHaveTheMeanAndTheQuantilesOfTheDensity) {
  constexpr std::int64_t kRows = 20000;
  for (const SimulatedProcess& process : simulated_processes()) {
    const SimulatedRows rows = simulate_training(process, kRows, 3);
    double standardised = 0;
    std::array<std::int64_t, 10> deciles = {};
    for (std::size_t i = 0; i < rows.targets.size(); ++i) {
      const MixtureComponent& truth = rows.truth[i];
      standardised +=
          (rows.targets[i] - truth.location) / std::sqrt(variance(truth));
      const double below = PredictiveMixture({truth}).cdf(rows.targets[i]);
      ++deciles[std::min<std::size_t>(9, static_cast<std::size_t>(10 * below))];
    }
    // Four standard errors; the distribution function of Student's t with 3
    // degrees of freedom is off by up to 8e-4, at either end of a decile.
    EXPECT_NEAR(standardised / kRows, 0, 4 / std::sqrt(double{kRows}))
        << process.name;
    for (const std::int64_t count : deciles) {
      EXPECT_NEAR(static_cast<double>(count) / kRows, 0.1,
                  4 * std::sqrt(0.09 / kRows) + 2e-3)
          << process.name;
    }
  }
}

TEST(SimulatedTables, MeansAreTheFormulas) {
  const double x[] = {0.5, 0.25, 0.75, 0.5, 1};
  const auto mean = [&](const char* name) {
    return find_process(name).target(x).location;
  };
  EXPECT_DOUBLE_EQ(mean("linear"), 1 + 1 - 0.375 + 0.75 - 0.25);
  EXPECT_DOUBLE_EQ(mean("sine-gap"), std::sin(0.5));
  EXPECT_NEAR(mean("friedman-10"),
              10 * std::sin(std::acos(-1.0) / 8) + 1.25 + 5 + 5, 1e-12);
  EXPECT_EQ(mean("friedman-10"), mean("friedman-30"));
  EXPECT_DOUBLE_EQ(mean("heteroscedastic"), std::sin(1.0) + 0.125);
  EXPECT_DOUBLE_EQ(mean("heavy-tails"), 3 + 0.5 - 0.75);
}

TEST(SimulatedTables, RegionsAreWhereTheyShouldBe) {
  const SimulatedProcess& sine = find_process("sine-gap");
  for (const double x : simulate_training(sine, 1000, 0).inputs) {
    EXPECT_TRUE(std::abs(x) <= 3 && (x <= 0.5 || x >= 2.5)) << x;
  }
  for (const double x : simulate_test(sine, Region::Gap, 1000, 0).inputs) {
    EXPECT_TRUE(x > 0.5 && x < 2.5) << x;
  }
  for (const double x : simulate_test(sine, Region::Outside, 1000, 0).inputs) {
    EXPECT_TRUE(std::abs(x) > 3 && std::abs(x) < 4.5) << x;
  }
  const SimulatedProcess& linear = find_process("linear");
  for (const double x : simulate_test(linear, Region::Outside, 99, 0).inputs) {
    EXPECT_TRUE(std::abs(x) > 1 && std::abs(x) < 2) << x;
  }
}

TEST(SimulatedTables, MoreRowsBeginWithTheSameOnes) {
  for (const SimulatedProcess& process : simulated_processes()) {
    const SimulatedRows few = simulate_training(process, 5, 7);
    const SimulatedRows many = simulate_training(process, 50, 7);
    ASSERT_EQ(few.count(), 5);
    for (std::size_t i = 0; i < few.targets.size(); ++i) {
      EXPECT_EQ(few.targets[i], many.targets[i]) << process.name;
    }
    EXPECT_NE(few.targets, simulate_training(process, 5, 8).targets);
    EXPECT_NE(few.targets,
              simulate_test(process, Region::Inside, 5, 7).targets);
    const data::Table table = few.table();
    EXPECT_EQ(table.columns().size(),
              static_cast<std::size_t>(process.inputs) + 1);
    EXPECT_EQ(table.column("y").number(4), few.targets[4]);
    EXPECT_EQ(table.column("x1").number(1),
              few.inputs[static_cast<std::size_t>(process.inputs)]);
  }
}

TEST(SimulatedTables, RejectsWhatIsNotThere) {
  expect_error<ArgumentError>([] { find_process("friedman10"); },
                              "did you mean \"friedman-10\"?");
  const SimulatedProcess& friedman = find_process("friedman-10");
  expect_error<ArgumentError>(
      [&] { simulate_test(friedman, Region::Gap, 5, 0); },
      "friedman-10 has no region gap");
  expect_error<ArgumentError>([&] { simulate_training(friedman, 0, 0); },
                              "rows must be from 1");
}

}  // namespace
}  // namespace radir::bench
