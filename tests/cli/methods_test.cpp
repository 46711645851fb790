#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "cli/running_program.h"
#include "radir/io/onnx.h"
#include "support/small_uci_set.h"
#include "support/temporary_folder.h"

// Every method of `radir train` that fits, from a table to an exported network.

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::TemporaryFolder;
using ::radir::testing::wave_table;
using Json = nlohmann::json;

class MethodCommands : public ::testing::Test {
 protected:
  std::vector<std::string> train(const std::string& run,
                                 const std::string& target,
                                 const std::string& method) const {
    return {"train",    folder_.write("t.csv", wave_table(0, 200)),
            "--target", target,
            "--method", method,
            "--steps",  "3000",
            "--hidden", "20",
            "--out",    folder_ / run};
  }
  static std::string line(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }
  std::string in(const std::string& name) const {
    return "'" + (folder_ / name) + "' ";
  }

  TemporaryFolder folder_;
};

class MethodCommand : public MethodCommands,
                      public ::testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> train(const std::string& run,
                                 const std::string& target) const {
    return MethodCommands::train(run, target, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(All, MethodCommand,
                         ::testing::Values("rdp", "vi", "map", "ensemble",
                                           "dropout", "vmg", "pbp"),
                         [](const auto& one) { return one.param; });

TEST_P(MethodCommand, GoesFromATableToAnExportedNetwork) {
  const ProgramResult trained = run_program(line(train("run", "y")));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_TRUE(contains(trained.out, std::string("method      ") + GetParam()))
      << trained.out;

  folder_.write("new.csv", wave_table(200, 400));
  const ProgramResult scores =
      run_program("evaluate " + in("run") + in("new.csv") + "--json");
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  const Json metrics = Json::parse(scores.out)["metrics"];
  // The noise has a standard deviation of 0.12; the target of 0.75.
  EXPECT_LT(metrics["rmse"], 0.3);
  EXPECT_GT(metrics["log_likelihood"], -0.6);

  const ProgramResult predicted =
      run_program("predict " + in("run") + in("new.csv"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_TRUE(contains(predicted.out, "epistemic_sd"));
  const ProgramResult inspected = run_program("inspect " + in("run"));
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;

  if (!io::has_onnx()) return;
  const ProgramResult exported =
      run_program("export " + in("run") + "--onnx " + in("mean.onnx"));
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(io::read_onnx(folder_ / "mean.onnx").layers.size(), 2u);
}

TEST_P(MethodCommand, AStoppedRunComesToTheSameBytes) {
  ASSERT_EQ(run_program(line(train("all", "y"))).exit_code, 0);
  std::vector<std::string> words = train("part", "y");
  words.insert(words.end(), {"--checkpoint-every", "5ms"});
  {
    RunningProgram program(words);
    // It may be quicker than its first checkpoint.
    program.waits_for(folder_ / "part/checkpoint-1.safetensors");
    program.send(SIGTERM);
    program.wait();
  }
  const ProgramResult resumed = run_program("train --resume " + in("part"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_bytes(folder_ / "part/model.safetensors"),
            read_bytes(folder_ / "all/model.safetensors"));
}

TEST_P(MethodCommand, Classes) {
  const std::string command = line(train("run", "sign"));
  if (std::string(GetParam()) == "pbp") {
    expect_failure(command, 5, "the method pbp supports a numeric target");
    return;
  }
  ASSERT_EQ(run_program(command).exit_code, 0);
  folder_.write("new.csv", wave_table(200, 400));
  const ProgramResult scores =
      run_program("evaluate " + in("run") + in("new.csv") + "--json");
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  // The column y tells the class.
  EXPECT_LT(Json::parse(scores.out)["metrics"]["error"], 0.1);
}

TEST_P(MethodCommand, IsTunedWithTheSameNumberOfTrials) {
  std::vector<std::string> words = train("run", "y");
  words[6] = "--epochs";
  words[7] = "2";
  const ProgramResult trained = run_program(line(words) + "--tune --json");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json config = Json::parse(trained.out)["config"];
  EXPECT_EQ(config["trials"].size(), 24u);
  const std::string name = GetParam();
  EXPECT_EQ(config["method"], name);
  EXPECT_EQ(config["restarts"], name == "ensemble" ? 5 : 4);
}

TEST_F(MethodCommands, AreComparedOnUciSets) {
  testing::write_small_uci_set(folder_);
  const std::string command =
      "reproduce uci --sets yacht --quick --steps 30 "
      "--data-dir " +
      in("") + "--out " + in("run");
  const ProgramResult compared =
      run_program(command + "--methods rdp,vmg --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const Json methods = Json::parse(compared.out)["methods"];
  ASSERT_EQ(methods.size(), 2u);
  EXPECT_EQ(methods[0]["method"], "rdp");
  EXPECT_EQ(methods[1]["published"]["VMG"], -1.30);
  EXPECT_TRUE(methods[1].contains("less_rdp"));
  EXPECT_TRUE(contains(read_bytes(folder_ / "run/methods.html"), "vmg"));
  const ProgramResult again =
      run_program("reproduce uci --resume " + in("run"));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "less rdp"));
  expect_failure(command + "--methods vii", 5, "there is no method \"vii\"");
}

TEST_F(MethodCommands, WhatDoesNotGoTogetherIsRefused) {
  expect_failure(
      line(train("run", "y", "pbp")) + "--likelihood predicted-noise", 5,
      "not the predicted-noise likelihood");
  expect_failure(line(train("run", "y", "dropout")) + "--family gaussian", 2,
                 "the method dropout has the family dropout, not gaussian");
  expect_failure(line(train("run", "y", "vmg")) + "--family-options rate=0.1",
                 2, "rate");
  expect_failure(line(train("run", "y", "dropout")) + "--family-options rate=1",
                 2, "rate");
  expect_failure(line(train("run", "y", "droput")), 5, "dropout");
  ASSERT_EQ(run_program(line(train("many", "y", "ensemble"))).exit_code, 0);
  expect_failure("prune " + in("many") + "--out " + in("small"), 5,
                 "a mixture of 5 sets of weights");
}

TEST_F(MethodCommands, PresetsAreChangedByTheOptionsBesideThem) {
  const std::string table = "'" + folder_.write("t.csv", wave_table(0, 200));
  const std::string train = "train " + table + "' --target y ";
  const std::string out = " --out " + in("run");
  const ProgramResult done =
      run_program(train + "--hidden 5 --batch 50 --epochs 3 --preset article" +
                  out + " --json");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Json settings = Json::parse(done.out).at("config");
  EXPECT_EQ(settings.at("noise_shape"), 6);
  EXPECT_EQ(settings.at("learning_rate"), 1e-3);
  EXPECT_EQ(settings.at("batch"), 50);
  EXPECT_EQ(settings.at("epochs"), 3);
  expect_failure(train + "--preset artcle" + out, 5, "no preset \"artcle\"");
}

}  // namespace
}  // namespace radir
