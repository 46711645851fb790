#include "radir/workflows/conformal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "radir/core/error.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/evaluate_table.h"
#include "radir/workflows/inspect.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/train_table.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// y = 2 x with noise that one normal distribution describes badly: of ten
/// rows nine are exact to 0.05, one is not.
std::string heavy_tails(int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::string text = "x,y\n";
  for (int i = 0; i < rows; ++i) {
    const double x = normal(random);
    const double noise = uniform(random) < 0.1 ? 3 : 0.05;
    text += std::to_string(x) + "," +
            std::to_string(2 * x + noise * normal(random)) + "\n";
  }
  return text;
}

TrainTableOptions conformal_options(const std::string& table) {
  TrainTableOptions options;
  options.table = table;
  options.target = "y";
  options.conformal = true;
  options.settings.method = "rdp";
  options.settings.hidden = {10};
  options.settings.steps = 3000;
  return options;
}

std::map<std::string, double> scores_of(const TableModel& model,
                                        const std::string& table) {
  const auto metrics = evaluate_table(model, data::TableSource(table)).metrics;
  return {metrics.begin(), metrics.end()};
}

TEST(Conformal, IntervalsCoverWhereTheNoiseModelIsWrong) {
  const TemporaryFolder folder;
  files::write_file(folder / "train.csv", heavy_tails(2500, 1));
  files::write_file(folder / "test.csv", heavy_tails(5000, 2));
  const auto result =
      TableTraining::begin(conformal_options(folder / "train.csv"),
                           folder / "run")
          .run();
  EXPECT_EQ(result.rows, 1981);
  EXPECT_EQ(result.correction.probabilities().size(), 519u);
  EXPECT_NE(describe(result.correction).find("corrected by 519 rows"),
            std::string::npos);
  ASSERT_TRUE(result.held_out);
  EXPECT_EQ(result.held_out->assessment.rows, 519);

  TableModel model = load_table_model(folder / "run");
  EXPECT_EQ(model.correction.probabilities(),
            result.correction.probabilities());
  auto corrected = scores_of(model, folder / "test.csv");
  model.correction = {};
  auto plain = scores_of(model, folder / "test.csv");
  // Standard errors of 519 and of 5,000 rows: below 0.024 together.
  for (const auto& [level, probability] :
       std::map<std::string, double>{{"50", 0.5}, {"80", 0.8}, {"90", 0.9}}) {
    EXPECT_NEAR(corrected["coverage_" + level], probability, 0.06) << level;
    // The steps of the target are a millionth.
    EXPECT_NEAR(corrected["interval_coverage_" + level],
                corrected["coverage_" + level], 1e-3);
  }
  EXPECT_GT(plain["coverage_50"], 0.8);
  EXPECT_GT(plain["coverage_80"], 0.88);
  EXPECT_LT(corrected["width_50"], plain["width_50"] / 3);
  EXPECT_LT(corrected["calibration_error"], plain["calibration_error"] / 3);
  EXPECT_EQ(corrected["log_likelihood"], plain["log_likelihood"]);
  EXPECT_EQ(corrected["crps"], plain["crps"]);
}

TEST(Conformal, PredictionsAreReadAtCorrectedProbabilities) {
  const TemporaryFolder folder;
  files::write_file(folder / "train.csv", heavy_tails(200, 1));
  TrainTableOptions options = conformal_options(folder / "train.csv");
  options.settings.steps = 300;
  TableTraining::begin(options, folder / "run").run();
  TableModel model = load_table_model(folder / "run");
  const data::Table table =
      data::read_table(files::memory_byte_source("rows", "x\n0.5\n-1\n"));
  const TablePrediction corrected = model.predict(table);
  const likelihood::QuantileCorrection correction = model.correction;
  model.correction = {};
  TablePredictionOptions where;
  for (double& p : where.quantiles) p = correction(p);
  const TablePrediction expected = model.predict(table, where);
  EXPECT_EQ(corrected.quantiles, expected.quantiles);
  EXPECT_EQ(corrected.mean, expected.mean);
  EXPECT_NE(corrected.quantiles, model.predict(table).quantiles);

  // What a pruned network predicts is not what was corrected.
  model.correction = correction;
  EXPECT_FALSE(saved_model(model).conformal.empty());
  EXPECT_TRUE(prune_model(saved_model(model), {}).conformal.empty());
}

TEST(Conformal, RowsSetAsideTeachTheModelNothing) {
  const data::Table table =
      data::read_table(files::memory_byte_source("rows", heavy_tails(100, 1)));
  const ConformalRows rows =
      set_aside(table, "y", data::MissingValues::Refuse, 7);
  EXPECT_EQ(rows.fitted.count, 80);
  EXPECT_EQ(rows.aside.count, 20);
  std::set<std::int64_t> all(rows.fitted.table_rows.begin(),
                             rows.fitted.table_rows.end());
  all.insert(rows.aside.table_rows.begin(), rows.aside.table_rows.end());
  EXPECT_EQ(all.size(), 100u);
  // Not even the scale of a column.
  const auto other = data::TableEncoder::fit(
      table, "y", data::MissingValues::Refuse, rows.fitted.table_rows);
  EXPECT_EQ(rows.encoder.to_json(), other.to_json());
}

TEST(Conformal, RanksOfTheUsualIntervalsAreWhole) {
  for (const auto& [rows, aside] : std::map<int, int>{{95, 19},
                                                      {194, 38},
                                                      {195, 39},
                                                      {277, 39},
                                                      {295, 79},
                                                      {60000, 4999}}) {
    const data::Table table = data::read_table(
        files::memory_byte_source("rows", heavy_tails(rows, 1)));
    const ConformalRows parts =
        set_aside(table, "y", data::MissingValues::Refuse, 7);
    EXPECT_EQ(parts.aside.count, aside);
    EXPECT_EQ(parts.fitted.count, rows - aside);
  }
}

TEST(Conformal, AStoppedRunResumesToTheSameBytes) {
  const TemporaryFolder folder;
  files::write_file(folder / "train.csv", heavy_tails(200, 1));
  TrainTableOptions options = conformal_options(folder / "train.csv");
  options.settings.steps = 300;
  TableTraining::begin(options, folder / "once").run();
  TrainTableHooks stop;
  int asked = 0;
  stop.checkpoints.stop_requested = [&] { return ++asked > 4; };
  expect_error<Interrupted>(
      [&] { TableTraining::begin(options, folder / "run").run(stop); },
      "resume with");
  const auto result = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(testing::read_bytes(folder / "run/model.safetensors"),
            testing::read_bytes(folder / "once/model.safetensors"));
  // Of a finished run it is read.
  const auto again = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(again.correction.probabilities(),
            result.correction.probabilities());
}

TEST(Conformal, SaysWhyItCannotBe) {
  const TemporaryFolder folder;
  files::write_file(folder / "short.csv", heavy_tails(94, 1));
  const auto begin = [&](const TrainTableOptions& options) {
    TableTraining::begin(options, folder / "run");
  };
  expect_error<ArgumentError>(
      [&] { begin(conformal_options(folder / "short.csv")); },
      "18 here, but 90 % intervals need 19");
  TrainTableOptions options = conformal_options(folder / "short.csv");
  options.holdout = false;
  expect_error<ArgumentError>([&] { begin(options); }, "--no-holdout");
  std::string classes = "x,y\n";
  for (int i = 0; i < 200; ++i) {
    classes += std::to_string(i) + (i % 3 == 0 ? ",a\n" : ",b\n");
  }
  files::write_file(folder / "classes.csv", classes);
  expect_error<ArgumentError>(
      [&] { begin(conformal_options(folder / "classes.csv")); },
      "has no quantiles to correct");
}

}  // namespace
}  // namespace radir::workflows
