#include "radir/workflows/train_targets.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "radir/core/error.h"
#include "radir/workflows/evaluate_table.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/target_models.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;

/// Two targets of a and b; v is missing in every fifth row.
std::string two_targets() {
  std::string text = "a,b,u,v\n";
  for (int i = 0; i < 60; ++i) {
    const int a = i * 37 % 100;
    const int b = i * 53 % 60;
    text += std::to_string(a) + "," + std::to_string(b) + "," +
            std::to_string(a + b) + "," +
            (i % 5 == 0 ? "" : std::to_string(a - b)) + "\n";
  }
  return text;
}

class TrainTargets : public ::testing::Test {
 protected:
  TrainTableOptions options() const {
    TrainTableOptions options;
    options.table = folder_.write("t.csv", two_targets());
    options.settings.method = "rdp";
    options.settings.hidden = {4};
    options.settings.epochs = 5;
    options.holdout = false;
    return options;
  }
  TableModel alone(const std::string& target, const std::string& other) const {
    TrainTableOptions one = options();
    one.target = target;
    one.exclude = {other};
    const std::string run = folder_ / ("alone-" + target);
    TableTraining::begin(one, run).run();
    return load_table_model(run);
  }

  TemporaryFolder folder_;
};

TEST_F(TrainTargets, EachPredictsAsIfItWereTheOnlyOne) {
  std::vector<std::string> notes;
  TargetsTraining training = TargetsTraining::begin(
      options(), {"u", "v"}, folder_ / "run",
      [&](const std::string& note) { notes.push_back(note); });
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "v: ignored 12 of 60 rows with a missing target");
  std::vector<std::size_t> begun;
  TrainTargetsHooks hooks;
  hooks.on_target = [&](std::size_t place, const auto& columns) {
    begun.push_back(place);
    EXPECT_EQ(columns.size(), 4u);
  };
  const TrainTargetsResult result = training.run(hooks);
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1}));
  ASSERT_EQ(result.targets.size(), 2u);
  EXPECT_EQ(result.targets[1].target, "v");
  EXPECT_EQ(result.targets[1].rows, 48);
  EXPECT_TRUE(std::filesystem::exists(result.report));

  const auto models = load_target_models(folder_ / "run");
  ASSERT_EQ(models.size(), 2u);
  std::vector<TablePrediction> together;
  predict_table(models_of(models), folder_ / "t.csv", {},
                [&](std::int64_t, const std::vector<TablePrediction>& all) {
                  together = all;
                });
  const auto scores = evaluate_table(models_of(models), folder_ / "t.csv");
  const std::vector<std::string> targets = {"u", "v"};
  for (std::size_t i = 0; i < 2; ++i) {
    const TableModel model = alone(targets[i], targets[1 - i]);
    EXPECT_EQ(models[i].model.networks, model.networks);
    predict_table(model, folder_ / "t.csv", {},
                  [&](std::int64_t, const TablePrediction& one) {
                    EXPECT_EQ(together[i].mean, one.mean);
                    EXPECT_EQ(together[i].quantiles, one.quantiles);
                  });
    EXPECT_EQ(scores[i].metrics,
              evaluate_table(model, folder_ / "t.csv").metrics);
  }
  EXPECT_EQ(scores[0].dropped, 0);
  EXPECT_EQ(scores[1].dropped, 12);
}

TEST_F(TrainTargets, AStoppedRunDoesNotTrainAgainWhatIsFinished) {
  TargetsTraining::begin(options(), {"u", "v"}, folder_ / "once").run();
  TrainTargetsHooks stop;
  bool second = false;
  stop.on_target = [&](std::size_t place, const auto&) { second = place == 1; };
  stop.training.checkpoints.stop_requested = [&] { return second; };
  stop.training.checkpoints.resume_words = "--data new.csv";
  expect_error<Interrupted>(
      [&] {
        TargetsTraining::begin(options(), {"u", "v"}, folder_ / "run")
            .run(stop);
      },
      "/run --data new.csv");
  EXPECT_EQ(target_scores(folder_ / "run").rows.size(), 2u);
  expect_error<IoError>([&] { load_target_models(folder_ / "run"); },
                        "its target \"v\" is not finished");

  std::vector<std::size_t> columns;
  TrainTargetsHooks hooks;
  hooks.on_target = [&](std::size_t, const auto& read) {
    columns.push_back(read.size());
  };
  TargetsTraining::resume(folder_ / "run").run(hooks);
  EXPECT_EQ(columns, (std::vector<std::size_t>{0, 4}));
  for (const char* target : {"u", "v"}) {
    const std::string model =
        std::string("/targets/") + target + "/model.safetensors";
    EXPECT_EQ(testing::read_bytes((folder_ / "run") + model),
              testing::read_bytes((folder_ / "once") + model));
  }
}

TEST_F(TrainTargets, ModelsThatReadAColumnInTwoWaysAreNotUsedTogether) {
  const TableModel number = alone("u", "v");
  TrainTableOptions one = options();
  one.target = "v";
  one.categorical = {"b"};
  TableTraining::begin(one, folder_ / "categories").run();
  const TableModel category = load_table_model(folder_ / "categories");
  expect_error<IoError>(
      [&] {
        evaluate_table({&number, &category}, folder_ / "t.csv");
      },
      "t.csv: the models read the column \"b\" in different ways");
}

TEST_F(TrainTargets, ARunThatIsGoneIsNamed) {
  TargetsTraining::begin(options(), {"u", "v"}, folder_ / "run");
  std::filesystem::remove_all(folder_ / "run/targets/v");
  expect_error<IoError>([&] { TargetsTraining::resume(folder_ / "run"); },
                        "was stopped before any training; remove the folder");
  std::filesystem::remove_all(folder_ / "run");
  TargetsTraining::begin(options(), {"u", "v"}, folder_ / "run").run();
  std::filesystem::remove_all(folder_ / "run/targets/v");
  expect_error<IoError>([&] { TargetsTraining::resume(folder_ / "run"); },
                        "the run of its target \"v\" is gone");
}

TEST_F(TrainTargets, AResumeThatFailsLosesNothing) {
  TargetsTraining::begin(options(), {"u", "v"}, folder_ / "run");
  const std::string other = folder_.write("other.csv", "a,b,w,v\n1,2,3,4\n");
  expect_error<ArgumentError>(
      [&] { TargetsTraining::resume(folder_ / "run", nullptr, other).run(); },
      "target \"u\": ");
  TargetsTraining::resume(folder_ / "run").run();
  EXPECT_EQ(load_target_models(folder_ / "run").size(), 2u);
}

TEST_F(TrainTargets, InvalidTargetsLeaveNoFolder) {
  TrainTableOptions weighted = options();
  weighted.weights = "v";
  expect_error<ArgumentError>(
      [&] {
        TargetsTraining::begin(weighted, {"u", "v"}, folder_ / "run");
      },
      "so it cannot hold weights");
  TrainTableOptions log = options();
  log.settings.target_scale = TargetScale::Logarithm;
  // v has values below 0; the run of u was begun by then.
  expect_error<IoError>(
      [&] {
        TargetsTraining::begin(log, {"u", "v"}, folder_ / "run");
      },
      "target \"v\": ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

}  // namespace
}  // namespace radir::workflows
