#include "radir/workflows/train_table.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "radir/core/error.h"
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
  hooks.on_progress = [&](const TrainTableProgress& p) { last = p; };
  const auto result =
      TableTraining::begin(robot_arm(), folder / "run").run(hooks);
  EXPECT_EQ(last.done, 6);
  EXPECT_EQ(last.total, 6);
  EXPECT_EQ(last.epochs, 3);
  EXPECT_EQ(result.target, "distance");
  EXPECT_EQ(result.likelihood, "gaussian");
  EXPECT_EQ(result.config["epochs"], 3);
  EXPECT_EQ(load_table_model(folder / "run").networks.size(), 2u);

  // A finished run is read, not trained.
  const auto again = TableTraining::resume(folder / "run").run();
  EXPECT_EQ(again.config, result.config);
  EXPECT_EQ(again.nll, result.nll);
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
