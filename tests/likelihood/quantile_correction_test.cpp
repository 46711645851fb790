#include "radir/likelihood/quantile_correction.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "radir/core/error.h"
#include "radir/likelihood/regression_scores.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;

TEST(QuantileCorrection, RoundsRanksAwayFromTheMiddle) {
  std::vector<double> sorted;
  for (int i = 1; i <= 19; ++i) sorted.push_back(i * i / 400.0);
  const QuantileCorrection correction(
      std::vector<double>(sorted.rbegin(), sorted.rend()));
  EXPECT_EQ(correction.probabilities(), sorted);
  EXPECT_EQ(correction(0.05), sorted[0]);
  EXPECT_EQ(correction(0.95), sorted[18]);
  EXPECT_EQ(correction(0.5), sorted[9]);
  EXPECT_EQ(correction(0.12), sorted[1]);   // rank 2.4
  EXPECT_EQ(correction(0.88), sorted[17]);  // rank 17.6
  EXPECT_TRUE(correction.is_guaranteed(0.05));
  EXPECT_TRUE(correction.is_guaranteed(0.95));
  EXPECT_FALSE(correction.is_guaranteed(0.04));
  EXPECT_FALSE(correction.is_guaranteed(0.96));
  // Beyond the held-out rows it goes on to 0 and 1.
  EXPECT_NEAR(correction(0.025), sorted[0] / 2, 1e-15);
  EXPECT_NEAR(correction(0.975), (1 + sorted[18]) / 2, 1e-15);
  double before = 0;
  for (int i = 1; i < 1000; ++i) {
    EXPECT_GE(correction(i / 1000.0), before) << i;
    before = correction(i / 1000.0);
  }
}

TEST(QuantileCorrection, WithoutOneNothingChanges) {
  const QuantileCorrection none;
  EXPECT_TRUE(none.is_none());
  EXPECT_FALSE(none.is_guaranteed(0.5));
  EXPECT_EQ(none(0.05), 0.05);
  EXPECT_EQ(none(0.999), 0.999);
}

TEST(QuantileCorrection, StaysInsideOfWhatDoublesTellApart) {
  const QuantileCorrection correction(std::vector<double>{0, 0, 1, 1});
  EXPECT_GT(correction(1e-6), 0);
  EXPECT_GT(correction(0.2), 0);
  EXPECT_LT(correction(0.8), 1);
  EXPECT_LT(correction(1 - 1e-6), 1);
  const PredictiveMixture normal({{0, 1}});
  EXPECT_TRUE(std::isfinite(normal.quantile(correction(0.8))));
}

TEST(QuantileCorrection, RejectsWhatIsNoProbability) {
  expect_error<ArgumentError>([] { QuantileCorrection(std::vector<double>()); },
                              "needs a probability");
  expect_error<DomainError>(
      [] {
        QuantileCorrection(std::vector<double>{0.5, 1.5});
      },
      "between 0 and 1, but is 1.5");
  expect_error<DomainError>(
      [] { QuantileCorrection(std::vector<double>{std::nan("")}); },
      "between 0 and 1");
}

/// The guarantee: over many draws of calibration rows and a new row, whatever
/// the model says.
TEST(QuantileCorrection, CoversAtLeastWhatItSaysForAnyModel) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform;
  constexpr int kRows = 30;
  constexpr int kRounds = 40000;
  // A model that is far too certain: its probabilities crowd at 0 and 1.
  const auto predicted = [&] {
    const double u = uniform(random);
    return u < 0.5 ? 4 * u * u * u : 1 - 4 * (1 - u) * (1 - u) * (1 - u);
  };
  int inside = 0, below = 0, raw = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> held_out(kRows);
    for (double& p : held_out) p = predicted();
    const QuantileCorrection correction(held_out);
    const double next = predicted();
    inside += next >= correction(0.1) && next <= correction(0.9) ? 1 : 0;
    below += next <= correction(0.75) ? 1 : 0;
    raw += next >= 0.1 && next <= 0.9 ? 1 : 0;
  }
  const double error = 5 * 0.4 / std::sqrt(kRounds);  // 5 standard errors
  EXPECT_GT(inside / double{kRounds}, 0.8 - error);
  EXPECT_LT(inside / double{kRounds}, 0.8 + 2.0 / (kRows + 1) + error);
  EXPECT_GT(below / double{kRounds}, 0.75 - error);
  EXPECT_LT(below / double{kRounds}, 0.75 + 1.0 / (kRows + 1) + error);
  EXPECT_LT(raw / double{kRounds}, 0.6);
}

TEST(QuantileCorrection, ScoresAreThoseOfCorrectedIntervals) {
  const PredictiveMixture normal({{0, 1}});
  // Noise of standard deviation 2 where the model says 1.
  std::vector<double> held_out;
  RegressionScores raw;
  for (int i = 1; i < 400; ++i) {
    const double target = 2 * normal.quantile(i / 400.0);
    held_out.push_back(normal.cdf(target));
    raw.add(score(normal, target));
  }
  const QuantileCorrection correction(held_out);
  RegressionScores corrected(correction);
  for (int i = 1; i < 1000; ++i) {
    const double target = 2 * normal.quantile(i / 1000.0);
    corrected.add(score(normal, target, correction));
  }
  const auto plain = raw.metrics(), after = corrected.metrics();
  std::map<std::string, double> before(plain.begin(), plain.end());
  std::map<std::string, double> found(after.begin(), after.end());
  EXPECT_NEAR(before["coverage_90"], 0.589, 0.01);
  EXPECT_NEAR(found["coverage_90"], 0.9, 0.005);
  EXPECT_NEAR(found["coverage_50"], 0.5, 0.005);
  EXPECT_NEAR(found["width_90"], 2 * before["width_90"], 0.05);
  EXPECT_NEAR(found["width_95"], 2 * before["width_95"], 0.1);
  EXPECT_LT(found["calibration_error"], 0.003);
  EXPECT_GT(before["calibration_error"], 0.05);
}

}  // namespace
}  // namespace radir::likelihood
