#include "radir/bench/calibration_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/bench/simulated_tables.h"
#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using likelihood::MixtureComponent;
using likelihood::PredictiveMixture;

constexpr std::int64_t kRows = 4000;

/// Scores of predictions that `predict` makes from the true distribution.
template <typename Predict>
CalibrationScores scores_of(const SimulatedProcess& process, Predict predict) {
  const SimulatedRows rows = simulate_test(process, Region::Inside, kRows, 11);
  CalibrationSums sums;
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    sums.add(predict(rows.truth[i]), rows.targets[i], rows.truth[i]);
  }
  return sums.scores();
}

TEST(CalibrationScores, TheTruthIsCalibrated) {
  for (const SimulatedProcess& process : simulated_processes()) {
    const CalibrationScores scores =
        scores_of(process, [](const MixtureComponent& truth) {
          return PredictiveMixture({truth});
        });
    EXPECT_EQ(scores.divergence, 0) << process.name;
    EXPECT_EQ(scores.mean_error, 0) << process.name;
    EXPECT_EQ(scores.epistemic_sd, 0) << process.name;
    EXPECT_EQ(scores.mean_coverage, 1) << process.name;
    for (std::size_t l = 0; l < scores.coverage.size(); ++l) {
      const double level = likelihood::kIntervalLevels[l] / 100.0;
      // Four standard errors, and the error of the distribution function.
      EXPECT_NEAR(scores.coverage[l], level,
                  4 * std::sqrt(level * (1 - level) / kRows) + 2e-3)
          << process.name;
    }
  }
}

TEST(CalibrationScores, AreThoseOfTheNormalDistribution) {
  const SimulatedProcess& linear = find_process("linear");  // noise of 0.5
  const CalibrationScores truth = scores_of(
      linear, [](const MixtureComponent& t) { return PredictiveMixture({t}); });
  EXPECT_NEAR(truth.rmse, 0.5, 0.03);
  EXPECT_NEAR(truth.log_likelihood, -0.5 - std::log(0.5 * 2.50662827), 0.05);
  // E of the 90 % interval score is 2 sd phi(z) / 0.05 at z = 1.645: 4.125 sd.
  EXPECT_NEAR(truth.interval_score, 0.5 * 4.1254, 0.08);

  // A prediction of half the noise: KL = log(1/2) + (4 - 1)/2 = 0.807 nats, and
  // the 95 % interval has the probability of +-0.98 standard deviations.
  const CalibrationScores narrow =
      scores_of(linear, [](const MixtureComponent& t) {
        return PredictiveMixture({{t.location, t.scale / 2}});
      });
  EXPECT_NEAR(narrow.divergence, 1.5 - std::log(2), 0.1);
  EXPECT_NEAR(narrow.divergence, truth.log_likelihood - narrow.log_likelihood,
              1e-12);
  EXPECT_NEAR(narrow.coverage[3], 0.673, 0.03);
  EXPECT_GT(narrow.interval_score, truth.interval_score);

  // Two components 0.3 to either side of a mean that is 0.1 too high.
  const CalibrationScores shifted =
      scores_of(linear, [](const MixtureComponent& t) {
        return PredictiveMixture(
            {{t.location + 0.4, t.scale}, {t.location - 0.2, t.scale}});
      });
  EXPECT_NEAR(shifted.mean_error, 0.1, 1e-9);
  EXPECT_NEAR(shifted.epistemic_sd, 0.3, 1e-9);
  EXPECT_NEAR(shifted.rmse, std::hypot(0.5, 0.1), 0.03);
}

TEST(CalibrationScores, TheIntervalOfTheMeanHoldsTheTrueMean) {
  const SimulatedProcess& linear = find_process("linear");
  // Of ten rows, nine are off by 1.6 of the deviations that are claimed and one
  // by 1.7, beyond the 1.645 of a 90 % interval.
  std::int64_t row = 0;
  const CalibrationScores scores =
      scores_of(linear, [&](const MixtureComponent& t) {
        const double off = 0.3 * (row++ % 10 == 0 ? 1.7 : -1.6);
        return PredictiveMixture({{t.location + off + 0.3, t.scale},
                                  {t.location + off - 0.3, t.scale}});
      });
  EXPECT_NEAR(scores.mean_coverage, 0.9, 1e-12);
}

TEST(CalibrationScores, NeedRows) {
  testing::expect_error<ArgumentError>([] { CalibrationSums().scores(); },
                                       "no predictions");
}

}  // namespace
}  // namespace radir::bench
