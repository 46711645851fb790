#include "radir/workflows/table_predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "radir/data/builtin_data.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/table_fit.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

/// Whose exact CRPS goes over all pairs.
constexpr std::int64_t kSamples = 64;

using Metrics = std::map<std::string, double>;

Metrics map_of(const std::vector<std::pair<std::string, double>>& metrics) {
  return {metrics.begin(), metrics.end()};
}

/// Over all draws of every row, as the definitions say.
Metrics exact_metrics(const TableModel& model, const data::EncodedRows& rows) {
  const data::ColumnCode& code = model.encoder.target();
  TablePredictor predictor(model, kSamples, 3);
  likelihood::RegressionScores scores;
  predictor.regression(rows, [&](std::int64_t row,
                                 const likelihood::PredictiveMixture& p) {
    const double target =
        code.mean +
        code.scale *
            static_cast<double>(rows.targets[static_cast<std::size_t>(row)]);
    likelihood::RegressionScore score;
    score.log_density = p.log_density(target);
    if (code.resolution > 0) {
      score.log_interval_density =
          p.log_interval_density(target, code.resolution);
    }
    score.residual = target - p.mean();
    score.crps = p.crps(target);
    score.probability = p.cdf(target);
    for (std::size_t l = 0; l < score.widths.size(); ++l) {
      const double tail = (1 - likelihood::kIntervalLevels[l] / 100.0) / 2;
      score.widths[l] = p.quantile(1 - tail) - p.quantile(tail);
    }
    scores.add(score);
  });
  return map_of(scores.metrics());
}

Metrics fast_metrics(const TableModel& model, const data::EncodedRows& rows) {
  TablePredictor predictor(model, kSamples, 3);
  TableScores scores(model.encoder);
  EXPECT_TRUE(scores.add(predictor, rows).empty());
  return map_of(scores.metrics());
}

TableSettings settings_of(likelihood::Kind noise, std::int64_t restarts) {
  TableSettings settings;
  settings.method = "rdp";
  settings.hidden = {20};
  settings.steps = 300;
  settings.noise = noise;
  settings.restarts = restarts;
  return settings;
}

TEST(TablePredictor, ScoresAreThoseOfAllDraws) {
  const data::Table train = data::make_robot_arm_table(600, 1);
  const data::Table test = data::make_robot_arm_table(300, 2);
  const auto encoder = data::TableEncoder::fit(train, "distance");
  const data::EncodedRows rows = encoder.encode(train, true);
  const data::EncodedRows test_rows = encoder.encode(test, true);
  for (auto noise :
       {likelihood::Kind::Gaussian, likelihood::Kind::TwoNormals,
        likelihood::Kind::PredictedNoise, likelihood::Kind::Mixture}) {
    for (std::int64_t restarts : {1, 2}) {
      SCOPED_TRACE(likelihood::to_string(noise));
      const TableModel model =
          fit_networks(encoder, rows, settings_of(noise, restarts));
      const Metrics fast = fast_metrics(model, test_rows);
      for (const auto& [name, value] : exact_metrics(model, test_rows)) {
        // The partners of a draw are those of a sample where there are more
        // draws than 64.
        const double bound = name == "crps" ? 1e-4 : 1e-6;
        EXPECT_NEAR(fast.at(name), value, bound) << name;
      }
    }
  }
}

TEST(TablePredictor, RowsWithoutAScoreAreTold) {
  const data::Table table = data::make_robot_arm_table(100, 1);
  const auto encoder = data::TableEncoder::fit(table, "distance");
  data::EncodedRows rows = encoder.encode(table, true);
  auto settings = settings_of(likelihood::Kind::Gaussian, 1);
  settings.steps = 10;
  const TableModel model = fit_networks(encoder, rows, settings);
  const auto width = static_cast<std::size_t>(encoder.input_size());
  rows.inputs[20 * width + 1] = INFINITY;
  rows.inputs[21 * width] = NAN;
  rows.targets[40] = NAN;
  rows.targets[99] = 3e38f;
  std::vector<int> scored(100, 0);
  TablePredictor predictor(model, 20, 3);
  const auto left_out = predictor.scores(
      rows, {}, [&](std::int64_t row, const likelihood::RegressionScore& s) {
        EXPECT_TRUE(s.is_finite());
        ++scored[static_cast<std::size_t>(row)];
      });
  EXPECT_EQ(left_out, (std::vector<std::int64_t>{20, 21, 40}));
  for (std::size_t row = 0; row < scored.size(); ++row) {
    EXPECT_EQ(scored[row], row == 20 || row == 21 || row == 40 ? 0 : 1);
  }
}

TEST(TablePredictor, ScoresAreThoseOfNumbers) {
  const data::Table table = data::make_robot_arm_table(100, 1);
  const auto encoder = data::TableEncoder::fit(table, "tool");
  const data::EncodedRows rows = encoder.encode(table, true);
  auto settings = settings_of(likelihood::Kind::Gaussian, 1);
  settings.steps = 10;
  const TableModel model = fit_networks(encoder, rows, settings);
  TablePredictor predictor(model, 5, 1);
  testing::expect_error<ArgumentError>(
      [&] { predictor.scores(rows, {}, nullptr); }, "predicts classes");
}

}  // namespace
}  // namespace radir::workflows
