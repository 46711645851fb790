#include "radir/workflows/train_table.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/workflows/search_plan.h"
#include "radir/workflows/table_model.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

TrainTableOptions robot_arm() {
  TrainTableOptions options;
  options.table = "builtin:robot-arm";
  options.target = "distance";
  options.settings.hidden = {5};
  options.settings.epochs = 3;
  options.settings.restarts = 2;
  return options;
}

TEST(TrainTable, ReportsProgressAndWritesAModel) {
  const TemporaryFolder folder;
  TrainTableHooks hooks;
  TrainTableProgress last;
  TrainTableProgress last_held_out;
  hooks.on_progress = [&](const TrainTableProgress& p) {
    const bool fitting = p.stage == TrainTableProgress::Stage::Fitting;
    (fitting ? last : last_held_out) = p;
  };
  const auto result =
      TableTraining::begin(robot_arm(), folder / "run").run(hooks);
  EXPECT_EQ(last.done, 6);
  EXPECT_EQ(last.total, 6);
  EXPECT_EQ(last.epochs, 3);
  EXPECT_EQ(last_held_out.stage, TrainTableProgress::Stage::HoldingOut);
  EXPECT_GT(last_held_out.total, 0);
  EXPECT_EQ(last_held_out.done, last_held_out.total);
  EXPECT_EQ(result.target, "distance");
  EXPECT_EQ(result.likelihood, "gaussian");
  EXPECT_EQ(result.config["epochs"], 3);
  EXPECT_EQ(load_table_model(folder / "run").networks.size(), 2u);

  // A finished run is read, not trained.
  const auto again = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(again.config, result.config);
  EXPECT_EQ(again.nll, result.nll);
  ASSERT_TRUE(result.held_out && again.held_out);
  EXPECT_EQ(to_json(*again.held_out), to_json(*result.held_out));
  EXPECT_EQ(result.metrics["held_out"]["headline"], headline(*result.held_out));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/report.html"));
}

TEST(TrainTable, TheHeldOutScoreLeavesTheModelAsItIs) {
  const TemporaryFolder folder;
  TableTraining::begin(robot_arm(), folder / "scored").run();
  TrainTableOptions options = robot_arm();
  options.holdout = false;
  const auto result = TableTraining::begin(options, folder / "plain").run();
  EXPECT_FALSE(result.held_out);
  EXPECT_FALSE(std::filesystem::exists(folder / "plain/holdout.json"));
  EXPECT_EQ(load_table_model(folder / "plain").networks,
            load_table_model(folder / "scored").networks);
}

TEST(TrainTable, ABudgetThatIsTooShortIsRefusedAndLeavesNothing) {
  const TemporaryFolder folder;
  TrainTableOptions options = robot_arm();
  options.tune = true;
  options.tune_budget = 1e-9;
  expect_error<ArgumentError>(
      [&] { TableTraining::begin(options, folder / "run").run(); },
      "tuning cannot end within 1e-09 s: the smallest search takes up to ");
  EXPECT_FALSE(std::filesystem::exists(folder / "run/config.json"));
}

/// What the budget left of the search is measured once. The plan of the
/// stopped run is replaced by one that no measurement gives.
TEST(TrainTable, AResumedRunKeepsThePlanOfItsBudget) {
  const TemporaryFolder folder;
  TrainTableOptions options = robot_arm();
  options.holdout = false;
  options.tune = true;
  options.tune_budget = 3600;
  TrainTableHooks stop;
  bool tuning = false;
  stop.on_progress = [&](const TrainTableProgress&) { tuning = true; };
  stop.checkpoints.stop_requested = [&] { return tuning; };
  expect_error<Interrupted>(
      [&] { TableTraining::begin(options, folder / "run").run(stop); },
      "stopped");
  const std::string plan = folder / "run/tune-plan.json";
  EXPECT_NE(testing::read_bytes(plan).find("\"divisor\":1"), std::string::npos);
  files::write_file(plan, to_json(SearchPlan{3, 2}));
  const auto result = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(result.config["trials"].size(), 3u + 1u + 1u);
  EXPECT_EQ(result.config["tune_plan"]["divisor"], 2);
  EXPECT_EQ(result.config["trials"][4]["epochs"], 1);
  EXPECT_EQ(result.config["epochs"], 3);
}

TEST(TrainTable, ARunStoppedInTheHeldOutFitResumesToTheSameBytes) {
  const TemporaryFolder folder;
  TrainTableOptions options = robot_arm();
  options.settings.restarts = 1;
  TableTraining::begin(options, folder / "once").run();
  TrainTableHooks stop;
  bool holding_out = false;
  stop.on_progress = [&](const TrainTableProgress& p) {
    holding_out = p.stage == TrainTableProgress::Stage::HoldingOut;
  };
  stop.checkpoints.stop_requested = [&] { return holding_out; };
  expect_error<Interrupted>(
      [&] { TableTraining::begin(options, folder / "run").run(stop); },
      "stopped; resume with: radir train --resume ");
  EXPECT_FALSE(std::filesystem::exists(folder / "run/model.safetensors"));
  TableTraining::resume(folder / "run").run();
  for (const char* file : {"/model.safetensors", "/holdout.json"}) {
    EXPECT_EQ(testing::read_bytes((folder / "run") + file),
              testing::read_bytes((folder / "once") + file))
        << file;
  }
}

TEST(TrainTable, AStoppedRunResumesToTheSameNetworks) {
  const TemporaryFolder folder;
  TableTraining::begin(robot_arm(), folder / "once").run();
  TrainTableHooks stop;
  int asked = 0;
  stop.checkpoints.stop_requested = [&] { return ++asked > 4; };
  expect_error<Interrupted>(
      [&] { TableTraining::begin(robot_arm(), folder / "run").run(stop); },
      "stopped; resume with: radir train --resume ");
  TableTraining::resume(folder / "run").run();
  EXPECT_EQ(load_table_model(folder / "run").networks,
            load_table_model(folder / "once").networks);
}

TEST(TrainTable, InvalidSettingsLeaveNoFolder) {
  const TemporaryFolder folder;
  TrainTableOptions options = robot_arm();
  options.settings.batch = 0;
  expect_error<ArgumentError>(
      [&] { TableTraining::begin(options, folder / "run"); }, "batch must be");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

}  // namespace
}  // namespace radir::workflows
