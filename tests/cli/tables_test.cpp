#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.h"
#include "support/data_dir.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;
namespace fs = std::filesystem;

/// y = 2 a with a little noise, and a colour that says whether a > 50.
std::string lines(int rows) {
  std::string text = "a,b,colour,y\n";
  for (int i = 0; i < rows; ++i) {
    const int a = i * 37 % 100;
    text += std::to_string(a) + "," + std::to_string(i % 7) + "," +
            (a > 50 ? "red" : "blue") + "," + std::to_string(2 * a + i % 3) +
            "\n";
  }
  return text;
}

class TableCommands : public ::testing::Test {
 protected:
  std::string run_path() const { return folder_ / "run"; }
  std::string table() const { return folder_.write("t.csv", lines(200)); }

  /// Trains for a moment and returns what was printed.
  ProgramResult train(const std::string& target, const std::string& more = "") {
    return run_program("train '" + table() + "' --target " + target +
                       " --epochs 150 --out '" + run_path() + "' " + more);
  }
  std::string model_and_table() const {
    return "'" + run_path() + "' '" + (folder_ / "t.csv") + "' ";
  }

  TemporaryFolder folder_;
};

std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream text(csv);
  for (std::string line; std::getline(text, line);) {
    rows.emplace_back();
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) {
      rows.back().push_back(cell);
    }
  }
  return rows;
}

TEST_F(TableCommands, TrainPredictEvaluateANumber) {
  const ProgramResult trained = train("y", "--json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json document = Json::parse(trained.out);
  EXPECT_EQ(document["config"]["epochs"], 150);
  EXPECT_EQ(document["config"]["data"]["rows"], 200);
  EXPECT_TRUE(document["metrics"]["networks"][0].contains("kl"));
  const Json config =
      Json::parse(testing::read_bytes(run_path() + "/config.json"));
  EXPECT_EQ(config, document["config"]);
  const std::string history =
      testing::read_bytes(run_path() + "/metrics.jsonl");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 150);
  EXPECT_TRUE(
      Json::parse(history.substr(0, history.find('\n'))).contains("nll"));

  const ProgramResult evaluated =
      run_program("evaluate " + model_and_table() + "--json");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json metrics = Json::parse(evaluated.out)["metrics"];
  EXPECT_LT(metrics["rmse"], 6);  // the target spreads by 58
  EXPECT_GT(metrics["log_likelihood"], -4);
  EXPECT_GT(metrics["coverage_90"], 0.8);

  const ProgramResult predicted =
      run_program("predict " + model_and_table() + "--quantiles 0.1 0.9");
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const auto rows = cells(predicted.out);
  ASSERT_EQ(rows.size(), 201u);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"row", "mean", "sd", "epistemic_sd",
                                      "aleatoric_sd", "q10", "q90"}));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::vector<double> values;
    for (const std::string& cell : rows[i]) values.push_back(std::stod(cell));
    EXPECT_EQ(values[0], static_cast<double>(i));
    EXPECT_NEAR(values[2] * values[2],
                values[3] * values[3] + values[4] * values[4],
                1e-9 * values[2] * values[2]);
    EXPECT_LT(values[5], values[1]);
    EXPECT_GT(values[6], values[1]);
  }
  EXPECT_EQ(
      run_program("predict " + model_and_table() + "--quantiles 0.1,0.9").out,
      predicted.out);
  // The same to a file.
  const std::string file = folder_ / "p.csv";
  const ProgramResult written =
      run_program("predict " + model_and_table() +
                  "--quantiles 0.1 0.9 --json --out '" + file + "'");
  EXPECT_EQ(Json::parse(written.out)["rows"], 200);
  EXPECT_EQ(testing::read_bytes(file), predicted.out);
}

TEST_F(TableCommands, ClassesHaveProbabilities) {
  ASSERT_EQ(train("colour").exit_code, 0);
  const Json metrics = Json::parse(
      run_program("evaluate " + model_and_table() + "--json").out)["metrics"];
  EXPECT_LT(metrics["error"], 0.1);
  EXPECT_GE(metrics["ece"], 0);
  EXPECT_GT(metrics["accuracy"], 0.9);
  EXPECT_GT(metrics["auc"], 0.9);
  const ProgramResult text = run_program("evaluate " + model_and_table());
  for (const char* part :
       {"accuracy", "auc", "actual \\ predicted", "share right"}) {
    EXPECT_TRUE(contains(text.out, part)) << part;
  }
  const Json document =
      Json::parse(run_program("evaluate " + model_and_table() + "--json").out);
  EXPECT_EQ(document["classes"], (Json{"blue", "red"}));
  EXPECT_EQ(document["confusion"].size(), 2u);
  const auto rows = cells(run_program("predict " + model_and_table()).out);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"row", "class", "p(blue)", "p(red)",
                                      "entropy", "mutual_information"}));
  EXPECT_NEAR(std::stod(rows[1][2]) + std::stod(rows[1][3]), 1, 1e-9);
}

// Before the noise had bounds: 1e11 at 10, quantiles in reverse order at 69, a
// search without end at 180, no output at all at 500.
TEST_F(TableCommands, PredictionsFarFromTheDataAreFiniteAndOrdered) {
  ASSERT_EQ(run_program("train builtin:robot-arm --target distance "
                        "--likelihood predicted-noise --epochs 100 --out '" +
                        run_path() + "'")
                .exit_code,
            0);
  std::string text = "shoulder,elbow,wrist,payload,tool\n";
  for (const char* angle : {"10", "69", "180", "500", "1e30"}) {
    for (int column = 0; column < 3; ++column) text += angle + std::string(",");
    text += "1,gripper\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const ProgramResult predicted = run_program(
      "predict '" + run_path() + "' '" + folder_.write("far.csv", text) + "'");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.err, "");
  const auto rows = cells(predicted.out);
  ASSERT_EQ(rows.size(), 6u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::vector<double> values;
    for (const std::string& cell : rows[i]) values.push_back(std::stod(cell));
    ASSERT_EQ(values.size(), 8u);
    for (double value : values) EXPECT_TRUE(std::isfinite(value)) << i;
    EXPECT_LE(values[4], 10.01);  // ten times the spread of the target, 0.3
    EXPECT_LT(values[5], values[6]) << i;
    EXPECT_LT(values[6], values[7]) << i;
  }
}

TEST_F(TableCommands, RowsThatOverflowAreNamedAndTheOthersPredicted) {
  const std::string far =
      folder_.write("far.csv",
                    "a,b,colour,y\n10,2,blue,20\n1e300,2,blue,20\n10,2,red,20\n"
                    "10,-1e300,blue,20\n");
  const std::string model_and_far = "'" + run_path() + "' '" + far + "' ";
  for (const char* target : {"y", "colour"}) {
    SCOPED_TRACE(target);
    ASSERT_EQ(train(target).exit_code, 0);
    const ProgramResult predicted = run_program("predict " + model_and_far);
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    EXPECT_EQ(predicted.err,
              "radir: 2 of 4 rows have no prediction (rows 2 and 4): values "
              "there are too large\n");
    const auto rows = cells(predicted.out);
    ASSERT_EQ(rows.size(), 5u);
    const auto filled = [&](std::size_t row) {
      return std::count_if(
          rows[row].begin(), rows[row].end(),
          [](const std::string& cell) { return cell != "" && cell != "\"\""; });
    };
    const auto columns = static_cast<std::ptrdiff_t>(rows[0].size());
    EXPECT_EQ(filled(1), columns);
    EXPECT_EQ(filled(2), 1);
    EXPECT_EQ(filled(3), columns);
    EXPECT_EQ(filled(4), 1);
    const std::string file = folder_ / "p.csv";
    EXPECT_EQ(Json::parse(run_program("predict " + model_and_far +
                                      "--json --force --out '" + file + "'")
                              .out)["rows_without_prediction"],
              2);

    const ProgramResult evaluated =
        run_program("evaluate " + model_and_far + "--json");
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    EXPECT_EQ(evaluated.err,
              "radir: left out rows 2 and 4: values there are too large\n");
    const Json document = Json::parse(evaluated.out);
    EXPECT_EQ(document["rows_left_out"], 2);
    for (const auto& [name, value] : document["metrics"].items()) {
      EXPECT_TRUE(value.is_number()) << name << ": " << value;
    }
    expect_failure("evaluate '" + run_path() + "' '" +
                       folder_.write("all.csv",
                                     "a,b,colour,y\n"
                                     "1e300,2,blue,20\n") +
                       "'",
                   3, "no row can be scored: in all 1 values are too large");
    fs::remove_all(run_path());
  }
}

TEST_F(TableCommands, AnyFamilyCanBeChosen) {
  const auto trained =
      train("y", "--family gaussian --family-options prior_scale=0.5 --json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json config = Json::parse(trained.out)["config"];
  EXPECT_EQ(config["family"], "gaussian");
  EXPECT_EQ(config["family_options"], "prior_scale=0.5");
  const auto evaluated =
      run_program("evaluate " + model_and_table() + "--json");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_LT(Json::parse(evaluated.out)["metrics"]["rmse"].get<double>(), 10);
  expect_failure("train '" + table() + "' --target y --family gausian --out '" +
                     (folder_ / "other") + "'",
                 5, "those known are radial-directional, gaussian");
  EXPECT_FALSE(fs::exists(folder_ / "other"));
}

TEST_F(TableCommands, RestartsAreReportedApart) {
  ASSERT_EQ(train("y", "--restarts 2 --likelihood predicted-noise").exit_code,
            0);
  const Json document =
      Json::parse(run_program("evaluate " + model_and_table() + "--json").out);
  EXPECT_NE(document["metrics"]["rmse"], document["first_network"]["rmse"]);
  EXPECT_TRUE(contains(run_program("evaluate " + model_and_table()).out,
                       "first network"));
}

TEST_F(TableCommands, TuningRecordsEveryTrial) {
  const ProgramResult result =
      run_program("train '" + table() +
                  "' --target y --hidden 5 --epochs 3 --tune --out '" +
                  run_path() + "' --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json config = Json::parse(result.out)["config"];
  // 16 candidates; a third of them, and a third of these, train for longer.
  EXPECT_EQ(config["trials"].size(), 16u + 6u + 2u);
  EXPECT_EQ(config["restarts"], 4);
  double best = -INFINITY;
  for (const Json& trial : config["trials"]) {
    if (trial["round"] != 3) continue;
    best = std::max(best, trial["validation_log_likelihood"].get<double>());
  }
  for (const Json& trial : config["trials"]) {
    if (trial["validation_log_likelihood"] != best) continue;
    EXPECT_EQ(trial["epochs"], 3);
    EXPECT_EQ(trial["direction_gap"], config["direction_gap"]);
    EXPECT_EQ(trial["likelihood"], config["likelihood"]);
  }
}

TEST_F(TableCommands, TuningLooksForWhatItIsAskedForWithinABudget) {
  const std::string line = "train '" + table() +
                           "' --target y --hidden 5 --epochs 3 --out '" +
                           run_path() + "' ";
  const ProgramResult result =
      run_program(line + "--tune --tune-for crps --tune-budget 1h");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "tuned       for crps; the best of 24"));
  EXPECT_TRUE(contains(result.out, "RMSE"));
  EXPECT_TRUE(contains(result.out, "budget      left 16 candidates"));
  const Json config = Json::parse(
      testing::read_bytes((fs::path(run_path()) / "config.json").string()));
  EXPECT_EQ(config["tune_for"], "crps");
  double least = INFINITY;
  for (const Json& trial : config["trials"]) {
    if (trial["round"] != 3) continue;
    least = std::min(least, trial["validation_crps"].get<double>());
  }
  for (const Json& trial : config["trials"]) {
    if (trial["validation_crps"] != least || trial["round"] != 3) continue;
    EXPECT_EQ(trial["likelihood"], config["likelihood"]);
    EXPECT_EQ(trial["kl_weight"], config["kl_weight"]);
  }
  fs::remove_all(run_path());
  const ProgramResult hasty = run_program(line + "--tune --tune-budget 1ms");
  EXPECT_EQ(hasty.exit_code, 2);
  EXPECT_TRUE(contains(hasty.err, "cannot end within 0.001 s")) << hasty.err;
  expect_failure(line + "--tune --tune-for brier", 2, "cannot tune for brier");
  expect_failure(line + "--tune-for rmse", 2, "ask for tuning too (--tune)");
  expect_failure(line + "--tune --tune-budget 5", 2, "is not a duration");
  EXPECT_FALSE(fs::exists(run_path()));
}

/// A table with weights trains the model of the table with copies of its rows.
TEST_F(TableCommands, WeightsCountRows) {
  std::string weighted = "x,w,y,k\n";
  std::string copied = "x,y,k\n";
  for (int i = 0; i < 60; ++i) {
    const std::string x = std::to_string(0.1 * i);
    const std::string rest =
        std::to_string(std::sin(0.1 * i)) + (i % 6 == 0 ? ",rare" : ",common");
    weighted += x + "," + std::to_string(i % 3) + "," + rest + "\n";
    for (int copy = 0; copy < i % 3; ++copy) copied += x + "," + rest + "\n";
  }
  const std::string with_weights = folder_.write("weighted.csv", weighted);
  const std::string with_copies = folder_.write("copied.csv", copied);
  int runs = 0;
  const auto trained = [&](const std::string& words) {
    const std::string run = folder_ / ("weights-" + std::to_string(++runs));
    const ProgramResult result = run_program(
        "train " + words + " --method rdp --epochs 3 --out '" + run + "'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const ProgramResult predicted =
        run_program("predict '" + run + "' '" + with_copies + "'");
    EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
    return predicted.out;
  };
  const std::string copies = trained("'" + with_copies + "' --target y");
  EXPECT_EQ(trained("'" + with_weights + "' --target y --weights w"), copies);
  EXPECT_EQ(
      trained("'" + with_weights + "' --target y --weights 2 --include x,k"),
      copies);
  EXPECT_NE(trained("'" + with_weights + "' --target y --exclude w"), copies);
  // 10 of 60 rows are rare; each counts five times, once more by hand.
  const std::string classes = "'" + with_weights + "' --target k --exclude w ";
  EXPECT_EQ(trained(classes + "--class-weights balanced"),
            trained(classes + "--class-weights rare=5"));
  EXPECT_NE(trained(classes + "--class-weights balanced"), trained(classes));
  const std::string bad = "train '" + with_weights + "' --target y ";
  expect_failure(bad + "--weights y", 2, "is the target");
  expect_failure(bad + "--weights x", 2, "row 2: the weight \"0.1\"");
  expect_failure(bad + "--weights v", 2, "v");
  expect_failure(bad + "--weights w --conformal", 2, "--conformal guarantees");
  expect_failure(bad + "--class-weights balanced", 2, "has no classes");
}

TEST_F(TableCommands, ConformalIntervalsAreReadElsewhere) {
  const ProgramResult trained = train("y", "--conformal --method rdp");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, "corrected by 39 rows"));
  const auto corrected = run_program("predict " + model_and_table());
  ASSERT_EQ(corrected.exit_code, 0) << corrected.err;
  EXPECT_EQ(cells(corrected.out).size(), 201u);
  const auto scores = run_program("evaluate --json " + model_and_table());
  const Json metrics = Json::parse(scores.out)["metrics"];
  EXPECT_GT(metrics["coverage_90"], 0.8);
  expect_failure("train '" + table() + "' --target y --conformal --no-holdout",
                 2, "--conformal needs held-out rows");
  const auto pruned = run_program("prune '" + run_path() + "' --out '" +
                                  (folder_ / "small") + "'");
  EXPECT_TRUE(contains(pruned.err, "are not corrected")) << pruned.err;
}

TEST_F(TableCommands, MissingValuesFollowThePolicy) {
  const std::string holes =
      folder_.write("holes.csv", lines(30) + "1,,red,2\n");
  const std::string command =
      "train '" + holes + "' --target y --epochs 2 --out '" + run_path() + "'";
  expect_failure(command + " --missing refuse", 4,
                 "holes.csv: row 31, column \"b\"");
  EXPECT_FALSE(fs::exists(run_path()));
  ASSERT_EQ(run_program(command + " --missing drop").exit_code, 0);
  EXPECT_TRUE(
      contains(run_program("predict '" + run_path() + "' '" + holes + "'").out,
               "\n31,,,,,,,\n"));
}

TEST_F(TableCommands, BadInputIsOneLineAndLeavesNothing) {
  const std::string good = table();
  const auto train_on = [&](const std::string& name, const std::string& text,
                            const std::string& target = "y") {
    return "train '" + folder_.write(name, text) + "' --target " + target +
           " --out '" + run_path() + "'";
  };
  expect_failure(train_on("typo.csv", lines(20), "colur"), 2,
                 "did you mean \"colour\"?");
  expect_failure(train_on("ragged.csv", "a,y\n1,2\n3,4\n5\n"), 4, "row 3");
  expect_failure(train_on("text.csv", "a,y\n1,2\n3,4\n5,6\n7,8\n9,10\nx,12\n"),
                 4, "column 1 \"a\"");
  expect_failure(train_on("empty.csv", ""), 4, "empty.csv");
  expect_failure(train_on("all.csv", "a,y\n,1\n,2\n3,\n") + " --missing drop",
                 4, "every row has a missing value");
  expect_failure(train_on("cut.csv.gz", std::string("\x1f\x8b\x08\0", 4)), 4,
                 "cut.csv.gz");
  expect_failure(
      "train '" + good + "' --target y --out '" + folder_.path() + "'", 2,
      "already exists");
  expect_failure(
      "train '" + good + "' --target y --hidden 0 --out '" + run_path() + "'",
      2, "hidden must be >= 1");
  expect_failure("train '" + good + "' --target y --categorical bb --out '" +
                     run_path() + "'",
                 2, "\"bb\"");
  EXPECT_FALSE(fs::exists(run_path()));
}

TEST_F(TableCommands, ModelsAndTablesThatDoNotFitAreExplained) {
  ASSERT_EQ(train("y").exit_code, 0);
  const auto predict = [&](const std::string& text) {
    return "predict '" + run_path() + "' '" + folder_.write("u.csv", text) +
           "' --out '" + (folder_ / "p.csv") + "'";
  };
  expect_failure(predict("a,colour\n1,red\n2,blue\n"), 4, "column \"b\"");
  expect_failure(predict("a,b,colour\n1,2,red\n1,x,red\n1,2,red\n"), 4,
                 "row 2 (line 3), column 2 \"b\" is numeric, but holds \"x\"");
  EXPECT_FALSE(fs::exists(folder_ / "p.csv"));
  const ProgramResult extra =
      run_program(predict("a,b,colour,z\n1,2,red,5\n1,3,red,6\n"));
  EXPECT_EQ(extra.exit_code, 0);
  EXPECT_TRUE(contains(extra.err, "does not use: \"z\"")) << extra.err;
  expect_failure("predict " + model_and_table() + "--quantiles 1.5", 2,
                 "above 0 and below 1");
  expect_failure("predict " + model_and_table() + "--json", 2, "--out");
  expect_failure("evaluate '" + folder_.path() + "' x.csv", 4,
                 "no model.safetensors");
  folder_.write("broken.safetensors", "hello");
  expect_failure("evaluate '" + (folder_ / "broken.safetensors") + "' x.csv", 4,
                 "broken.safetensors");
}

TEST(TableHelp, OptionsOfTheSettingsHaveDefaultsAndRanges) {
  const std::string help = run_program("train --help").out;
  for (const char* part :
       {"--learning-rate X=0.01", "Learning rate of Adam (> 0)",
        "--grouping NAME=auto", "auto, row, column or double", "--restarts N=0",
        "(from 0 to 1000)", "--missing NAME=indicator"}) {
    EXPECT_TRUE(contains(help, part)) << part;
  }
  expect_failure(
      "train t.csv --target y --grouping rows", 2,
      "--grouping must be auto, row, column or double, but is \"rows\"");
  expect_failure("train t.csv --target y --missing men", 2,
                 "did you mean \"mean\"?");
}

TEST(TableHelp, HasExamplesAndTheCommonOptions) {
  for (const char* command :
       {"train", "predict", "evaluate", "reproduce uci"}) {
    const ProgramResult result = run_program(command + std::string(" --help"));
    EXPECT_EQ(result.exit_code, 0) << command;
    for (const char* part : {"--seed", "--threads", "--json"}) {
      EXPECT_TRUE(contains(result.out, part)) << command << " " << part;
    }
    EXPECT_TRUE(
        contains(result.out, std::string("Example:\n  radir ") + command));
  }
}

TEST(ReproduceUci, ExplainsWhatIsMissing) {
  expect_failure("reproduce uci --data-dir /nowhere", 4, "/nowhere");
}

}  // namespace
}  // namespace radir
