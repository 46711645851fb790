#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/program.h"
#include "cli/running_program.h"
#include "radir/io/model_file.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

namespace fs = std::filesystem;
using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::read_bytes;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;

class ResumeCommand : public ::testing::Test {
 protected:
  std::string run() const { return folder_ / "run"; }
  std::string model() const { return run() + "/model.safetensors"; }
  std::string checkpoint() const { return run() + "/checkpoint.safetensors"; }

  /// Training that no test sees the end of, unless it asks for fewer epochs.
  std::vector<std::string> train(const std::string& epochs = "100000") const {
    return {"train",
            "builtin:robot-arm",
            "--target",
            "distance",
            "--hidden",
            "10",
            "--epochs",
            epochs,
            "--checkpoint-every",
            "5ms",
            "--out",
            run()};
  }
  static std::string line(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += "'" + word + "' ";
    return text;
  }
  std::string resume() const { return "train --resume '" + run() + "' "; }

  /// The model of the same training in one go.
  std::string uninterrupted(const std::string& epochs) const {
    std::vector<std::string> words = train(epochs);
    words.back() = folder_ / "whole";
    EXPECT_EQ(run_program(line(words)).exit_code, 0);
    return read_bytes(folder_ / "whole/model.safetensors");
  }

  /// Begins a training and stops it once it has a checkpoint.
  void begin(const std::string& epochs = "100000") const {
    RunningProgram program(train(epochs));
    ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
    program.send(SIGTERM);
    ASSERT_EQ(program.wait(), 128 + SIGTERM) << program.err();
  }

  TemporaryFolder folder_;
};

TEST_F(ResumeCommand, SignalsStopItAndItGoesOnToTheSameBytes) {
  {
    RunningProgram program(train("3000"));
    ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
    program.send(SIGINT);
    EXPECT_EQ(program.wait(), 130);
    EXPECT_TRUE(contains(program.err(),
                         "stopped; resume with: radir train --resume " + run()))
        << program.err();
  }
  EXPECT_FALSE(fs::exists(model()));
  const std::string before = read_bytes(checkpoint());
  {
    RunningProgram program(
        {"train", "--resume", run(), "--checkpoint-every", "5ms"});
    while (read_bytes(checkpoint()) == before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    program.send(SIGTERM);
    EXPECT_EQ(program.wait(), 143);
  }
  const ProgramResult finished = run_program(resume() + "--json --threads 1");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["config"]["epochs"], 3000);
  EXPECT_EQ(read_bytes(model()), uninterrupted("3000"));
  EXPECT_FALSE(fs::exists(checkpoint()));
  EXPECT_FALSE(fs::exists(run() + "/lock"));
  const std::string lines = read_bytes(run() + "/metrics.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 200);

  // Once more is no harm.
  const ProgramResult again = run_program(resume() + "--json");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out), Json::parse(finished.out));
  EXPECT_TRUE(contains(again.err, "is already finished")) << again.err;
}

TEST_F(ResumeCommand, ATerminalThatClosesLeavesACheckpoint) {
  std::vector<std::string> words = train();
  words[9] = "1h";  // no checkpoint but that of the signal
  RunningProgram program(words);
  ASSERT_TRUE(program.waits_for(run() + "/config.json")) << program.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGHUP);
  EXPECT_EQ(program.wait(), 128 + SIGHUP) << program.err();
  EXPECT_TRUE(fs::exists(checkpoint()));
}

TEST_F(ResumeCommand, ASecondSignalEndsItAtOnce) {
  // Its steps and its checkpoints take long.
  RunningProgram program({"train", "builtin:robot-arm", "--target", "distance",
                          "--hidden", "1000,1000", "--batch", "2000",
                          "--threads", "1", "--checkpoint-every", "1ms",
                          "--out", run()});
  ASSERT_TRUE(program.waits_for_temporary_of(checkpoint())) << program.err();
  // Signals that come before the first is handled count as one.
  while (!program.has_ended()) {
    program.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(program.wait(), 130);
  EXPECT_FALSE(contains(program.err(), "resume with")) << program.err();
}

TEST_F(ResumeCommand, FindsATableThatMoved) {
  const std::string table = folder_.write("t.csv", testing::wave_table(0, 60));
  const std::string words =
      "train '" + table + "' --target y --method rdp --epochs 300 --out '";
  ASSERT_EQ(run_program(words + (folder_ / "whole") + "'").exit_code, 0);
  RunningProgram program({"train", table, "--target", "y", "--method", "rdp",
                          "--epochs", "300", "--checkpoint-every", "1ms",
                          "--out", run()});
  ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
  program.send(SIGKILL);
  program.wait();
  if (fs::exists(model())) GTEST_SKIP() << "the training was faster";
  fs::rename(table, folder_ / "moved.csv");
  expect_failure(resume(), 4, "if it was moved, add --data and its new path");
  const std::string other =
      folder_.write("other.csv", testing::wave_table(1, 61));
  EXPECT_EQ(run_program(resume() + "--data '" + other + "'").exit_code, 4);
  const ProgramResult result =
      run_program(resume() + "--data '" + (folder_ / "moved.csv") + "'");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(io::read_model(model()).networks,
            io::read_model(folder_ / "whole/model.safetensors").networks);
  expect_failure("train --data '" + table + "' --target y", 2,
                 "a new run takes its table as an argument");
}

TEST_F(ResumeCommand, AHintSaysAgainWhereTheTableIs) {
  const std::string table = folder_.write("t.csv", testing::wave_table(0, 60));
  const std::string moved = folder_ / "it moved.csv";
  RunningProgram first({"train", table, "--target", "y", "--method", "rdp",
                        "--epochs", "1000000", "--checkpoint-every", "5ms",
                        "--out", run()});
  ASSERT_TRUE(first.waits_for(checkpoint())) << first.err();
  first.send(SIGKILL);
  first.wait();
  fs::rename(table, moved);
  const auto before = fs::last_write_time(checkpoint());
  RunningProgram second({"train", "--resume", run(), "--data", moved,
                         "--checkpoint-every", "5ms"});
  while (!second.has_ended() && fs::last_write_time(checkpoint()) == before) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  second.send(SIGTERM);
  EXPECT_EQ(second.wait(), 128 + SIGTERM);
  EXPECT_TRUE(contains(second.err(), "resume with: radir train --resume " +
                                         run() + " --data '" + moved + "'"))
      << second.err();
}

TEST_F(ResumeCommand, OneProcessAtATimeUsesAFolder) {
  RunningProgram program(train());
  ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
  expect_failure(resume(), 4, "another process is training here");
  expect_failure(line(train()), 2, "contains a run; resume it");
}

TEST_F(ResumeCommand, TakesItsSettingsFromTheRun) {
  begin();
  expect_failure(resume() + "--epochs 3", 2,
                 "--epochs cannot be used with --resume");
  expect_failure(resume() + "--seed 3", 2, "--seed cannot be used");
  expect_failure(resume() + "t.csv", 2, "table cannot be used");
  expect_failure("train --resume nowhere", 4, "so it is not a run");
  expect_failure("train", 2, "a table and its --target are required");
  for (const char* bad : {"30", "0s", "-3s", "s", "3 s", "5d", "99999999h"}) {
    expect_failure(resume() + "--checkpoint-every='" + std::string(bad) + "'",
                   2, "is not a duration");
  }
}

TEST_F(ResumeCommand, RefusesATableThatChanged) {
  std::string text = "a,y\n";
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(i % 7) + "," + std::to_string(i) + "\n";
  }
  const std::string table = folder_.write("t.csv", text);
  {
    RunningProgram program({"train", table, "--target", "y", "--epochs",
                            "1000000", "--checkpoint-every", "5ms", "--out",
                            run()});
    ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
    program.send(SIGTERM);
    ASSERT_EQ(program.wait(), 143) << program.err();
  }
  folder_.write("t.csv", text + "3,4\n");
  expect_failure(resume(), 4, "t.csv: has changed since the run was started");
}

TEST_F(ResumeCommand, SaysWhenAnotherVersionBeganTheRun) {
  begin("5000");
  Json config = Json::parse(read_bytes(run() + "/config.json"));
  config["program"] = "0.0.1";
  folder_.write("run/config.json", config.dump());
  const ProgramResult result = run_program(resume());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.err, "was started by radir \"0.0.1\""))
      << result.err;
}

TEST_F(ResumeCommand, ExplainsDamage) {
  begin();
  const std::string good = read_bytes(checkpoint());
  folder_.write("run/checkpoint.safetensors", good.substr(0, good.size() / 2));
  expect_failure(resume(), 4, "checkpoint.safetensors");
  folder_.write("run/checkpoint.safetensors", good);
  Json config = Json::parse(read_bytes(run() + "/config.json"));
  config["data"] = 3;
  folder_.write("run/config.json", config.dump());
  expect_failure(resume(), 4, "has changed since the run was started");
  config["command"]["settings"]["batch"] = 0;
  folder_.write("run/config.json", config.dump());
  expect_failure(resume(), 4, "settings: batch must be from 1 to");
  folder_.write("run/config.json", "{\"command\": {\"name\": \"train\"}}");
  const ProgramResult result = run_program(resume());
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(contains(result.err, "config.json.command: \"table\" is missing"))
      << result.err;
  folder_.write("run/config.json", "{");
  expect_failure(resume(), 4, "config.json is not well-formed JSON");
  folder_.write("run/config.json", std::string(100000, '['));
  expect_failure(resume(), 4, "config.json is nested deeper than 32 levels");
  folder_.write("run/config.json", "{\"command\": {\"name\": \"compress\"}}");
  expect_failure(resume(), 2, "radir compress --resume");
}

TEST_F(ResumeCommand, ExplainsDamageToAFinishedRun) {
  ASSERT_EQ(run_program(line(train("2"))).exit_code, 0);
  const auto expect_damage = [&](const std::string& part) {
    const ProgramResult result = run_program(resume());
    EXPECT_EQ(result.exit_code, 4) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(contains(result.err, part)) << result.err;
  };
  const std::string good = read_bytes(run() + "/config.json");
  Json config = Json::parse(good);
  config["data"]["rows"] = 1.5;
  folder_.write("run/config.json", config.dump());
  expect_damage("config.json.data: \"rows\" must be an integer");
  folder_.write("run/config.json", good);
  io::SavedModel saved = io::read_model(model());
  saved.metrics = R"({"networks": []})";
  io::write_model(model(), saved);
  expect_damage("\"networks\" is empty");
}

// `ulimit -f` counts blocks of 512 bytes.
TEST_F(ResumeCommand, AFullDiskCostsNothingThatIsDone) {
  const std::string whole = uninterrupted("300");
  const ProgramResult limited =
      run_program(line(train("300")), "", "ulimit -f 16");
  EXPECT_EQ(limited.exit_code, 4) << limited.err;
  EXPECT_TRUE(
      contains(limited.err, "the checkpoint was not written: cannot write"))
      << limited.err;
  EXPECT_TRUE(contains(limited.err, "largest size allowed")) << limited.err;
  EXPECT_TRUE(
      contains(limited.err, "fix this, then finish with: radir train --resume"))
      << limited.err;
  EXPECT_FALSE(fs::exists(model()));

  const ProgramResult finished = run_program(resume());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(read_bytes(model()), whole);
}

TEST_F(ResumeCommand, AFolderThatVanishesIsMadeAgain) {
  RunningProgram program(train("3000"));
  ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
  fs::rename(run(), folder_ / "elsewhere");
  ASSERT_EQ(program.wait(), 0) << program.err();
  EXPECT_TRUE(contains(program.err(), "no such file or folder"))
      << program.err();
  EXPECT_TRUE(fs::exists(model()));
  EXPECT_TRUE(fs::exists(run() + "/config.json"));
}

TEST_F(ResumeCommand, ATrainingThatFailsAtOnceLeavesNoFolder) {
  expect_failure(line(train("100")) + " --learning-rate 1e30 --json", 3,
                 "finite");
  EXPECT_FALSE(fs::exists(run()));
}

/// A stopped run on a table of its own is not resumed on another.
TEST_F(ResumeCommand, RefusesATableThatIsNotTheSame) {
  const auto lines = [](const std::string& head, double scale) {
    std::string text = head + "\n";
    for (int i = 0; i < 40; ++i) {
      text += std::to_string(i) + "," + std::to_string(i * 7 % 5) + "," +
              std::to_string(scale * (2 * i + i % 3)) + "\n";
    }
    return text;
  };
  const std::string table = folder_.write("t.csv", lines("a,b,y", 1));
  {
    RunningProgram program({"train", table, "--target", "y", "--epochs",
                            "1000000", "--method", "rdp", "--checkpoint-every",
                            "5ms", "--out", run()});
    ASSERT_TRUE(program.waits_for(checkpoint())) << program.err();
    program.send(SIGTERM);
    ASSERT_EQ(program.wait(), 143) << program.err();
  }
  folder_.write("t.csv", lines("b,a,y", 1));
  expect_failure(resume(), 4, "the encoding has changed since the run");
  folder_.write("t.csv", lines("a,b,y", 4));
  expect_failure(resume(), 4, "t.csv: has changed since the run");
  folder_.write("t.csv", lines("a,b,y", 1));
  const ProgramResult other =
      run_program(resume(), "", "export RADIR_ISA=generic");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(contains(other.err, "which rounds differently; resume it with"))
      << other.err;
}

}  // namespace
}  // namespace radir
