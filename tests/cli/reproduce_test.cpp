#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/running_program.h"
#include "radir/data/builtin_data.h"
#include "radir/data/idx.h"
#include "support/small_uci_set.h"
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

class ReproduceCommand : public ::testing::Test {
 protected:
  std::string run() const { return folder_ / "run"; }
  std::string part(const std::string& name) const {
    return run() + "/checkpoint-" + name + ".safetensors";
  }
  std::string resume(const std::string& what) const {
    return "reproduce " + what + " --resume '" + run() + "' ";
  }

  std::vector<std::string> words(const std::string& what,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"reproduce",    what,    "--data-dir",
                                    folder_.path(), "--out", run()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> uci(const std::string& steps) const {
    return words("uci", {"--sets", "yacht", "--steps", steps,
                         "--checkpoint-every", "20ms"});
  }

  /// Begins a run and stops it once there is a checkpoint of this part.
  void begin_and_stop(const std::vector<std::string>& words,
                      const std::string& name) const {
    RunningProgram program(words);
    ASSERT_TRUE(program.waits_for(part(name))) << program.err();
    program.send(SIGTERM);
    ASSERT_EQ(program.wait(), 128 + SIGTERM) << program.err();
    EXPECT_TRUE(
        contains(program.err(), "stopped; resume with: radir reproduce " +
                                    words[1] + " --resume " + run()))
        << program.err();
  }

  /// What the same run prints that is never stopped.
  Json uninterrupted(std::vector<std::string> words) const {
    std::replace(words.begin(), words.end(), run(), folder_ / "whole");
    std::string line;
    for (const std::string& word : words) line += "'" + word + "' ";
    return document(run_program(line + "--json"));
  }
  /// What a run printed, without the folder and the times.
  static Json document(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    Json json = Json::parse(result.out);
    json.erase("run");
    if (json.contains("runs")) {
      json["median"].erase("seconds");
      for (Json& run : json["runs"]) run.erase("seconds");
    }
    return json;
  }

  TemporaryFolder folder_;
};

TEST_F(ReproduceCommand, UciGoesOnToTheSameTableAfterASignal) {
  testing::write_small_uci_set(folder_);
  begin_and_stop(uci("200"), "yacht-split-0-gaussian-tuning-2-trial-1-1");
  const ProgramResult finished = run_program(resume("uci") + "--json");
  const Json table = document(finished);
  EXPECT_EQ(table, uninterrupted(uci("200")));
  EXPECT_EQ(table["sets"][0]["splits"], 2);
  for (const auto& entry : fs::directory_iterator(run())) {
    EXPECT_TRUE(entry.path().extension() == ".json" ||
                entry.path().filename() == "report.html")
        << entry.path();
  }

  // A finished run prints its table again.
  EXPECT_EQ(run_program(resume("uci") + "--json").out, finished.out);
  const ProgramResult text = run_program(resume("uci"));
  EXPECT_TRUE(contains(text.out, "yacht")) << text.out;
  EXPECT_TRUE(contains(text.out, "run  " + run())) << text.out;
  // A result that was edited is not believed.
  const std::string kept = run() + "/yacht-split-0.json";
  std::string edited = read_bytes(kept);
  const std::size_t digit =
      edited.find_first_of("123456789", edited.find("\"rmse\""));
  ASSERT_NE(digit, std::string::npos) << edited;
  edited[digit] = edited[digit] == '9' ? '8' : '9';
  folder_.write("run/yacht-split-0.json", edited);
  EXPECT_EQ(document(run_program(resume("uci") + "--json")), table);
  EXPECT_NE(read_bytes(kept), edited);
  // A result that is lost is found again, when it can be written.
  const std::string lost = run() + "/yacht-split-1.json";
  fs::remove(lost);
  fs::create_directory(lost);
  const ProgramResult failed = run_program(resume("uci"));
  EXPECT_EQ(failed.exit_code, 4) << failed.err;
  EXPECT_TRUE(contains(failed.err,
                       "resume with: radir reproduce uci --resume " + run()))
      << failed.err;
  fs::remove(lost);
  EXPECT_EQ(document(run_program(resume("uci") + "--json")), table);
  // Its data may move, but must be what it was.
  fs::create_directory(folder_ / "moved");
  fs::rename(folder_ / "uci", folder_ / "moved/uci");
  expect_failure(resume("uci"), 4, "--data-dir");
  const std::string moved = "--data-dir '" + (folder_ / "moved") + "' ";
  EXPECT_EQ(document(run_program(resume("uci") + moved + "--json")), table);
  folder_.write("moved/uci/yacht/n_hidden.txt", "6\n");
  expect_failure(resume("uci") + moved, 4,
                 "uci: has changed since the run was started");
}

TEST_F(ReproduceCommand, LenetGoesOnToTheSameFiguresAfterASignal) {
  fs::create_directory(folder_ / "mnist");
  data::write_idx_folder(folder_ / "mnist",
                         data::make_digits_dataset(20, 10, 1));
  const auto lenet300 = words("lenet300", {"--seeds", "1"});
  begin_and_stop(lenet300, "seed-0-stage-2");
  expect_failure(resume("lenet5"), 2, "radir reproduce lenet300 --resume");
  expect_failure("report '" + run() + "'", 2, "contains a benchmark");
  const ProgramResult finished = run_program(resume("lenet300") + "--json");
  EXPECT_EQ(document(finished), uninterrupted(lenet300));
  EXPECT_EQ(Json::parse(finished.out)["not_the_published_data"][0]["set"],
            "mnist");
  EXPECT_TRUE(contains(read_bytes(run() + "/report.html"),
                       "not the published data: mnist ("));
  EXPECT_TRUE(contains(run_program(resume("lenet300")).out,
                       "\nnot the published data: mnist ("));
  EXPECT_EQ(run_program(resume("lenet300") + "--json").out, finished.out);
}

TEST_F(ReproduceCommand, SaysThatItsDataIsNotThePublished) {
  testing::write_small_uci_set(folder_);
  const std::string line =
      "reproduce uci --sets yacht --steps 20 --data-dir '" + folder_.path() +
      "' --out '";
  const ProgramResult text = run_program(line + run() + "'");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "yacht (not the published data)")) << text.out;
  EXPECT_TRUE(contains(text.out, "\nnot the published data: yacht ("))
      << text.out;
  EXPECT_TRUE(contains(read_bytes(run() + "/report.html"),
                       "not the published data: yacht ("));
  const std::string methods = folder_ / "methods";
  const ProgramResult compared =
      run_program(line + methods + "' --methods map --splits 1 --json");
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(Json::parse(compared.out)["not_the_published_data"][0]["set"],
            "yacht");
  EXPECT_TRUE(contains(read_bytes(methods + "/methods.html"),
                       "not the published data: yacht ("));
}

TEST_F(ReproduceCommand, TheFolderAndItsSettingsBelongToOneRun) {
  testing::write_small_uci_set(folder_);
  {
    RunningProgram program(uci("1000000"));
    ASSERT_TRUE(
        program.waits_for(part("yacht-split-0-gaussian-tuning-1-trial-1-1")))
        << program.err();
    expect_failure(resume("uci"), 4, "another process is training here");
  }
  expect_failure("reproduce uci --data-dir '" + folder_.path() +
                     "' --sets yacht --out '" + run() + "'",
                 2, "resume it (--resume " + run());
  expect_failure(resume("uci") + "--steps 3", 2,
                 "--steps cannot be used with --resume");
  expect_failure(resume("uci") + "--seed 3", 2, "--seed cannot be used");
  expect_failure("reproduce uci --resume nowhere", 4, "so it is not a run");

  const std::string good = read_bytes(run() + "/config.json");
  const auto damaged = [&](const char* key, const Json& value) {
    Json config = Json::parse(good);
    config["command"]["options"][key] = value;
    folder_.write("run/config.json", config.dump());
  };
  damaged("steps", 1.5);
  expect_failure(resume("uci"), 4,
                 "config.json: options: \"steps\" must be an integer");
  damaged("colour", 1);
  expect_failure(resume("uci"), 4, "\"colour\" is unknown");
  folder_.write("run/config.json",
                R"({"command": {"name": "reproduce uci"}, "program": 1})");
  const ProgramResult result = run_program(resume("uci"));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(contains(result.err, "command: \"options\" is missing"))
      << result.err;
  folder_.write("run/config.json", "{");
  expect_failure(resume("uci"), 4, "is not well-formed JSON");
}

TEST_F(ReproduceCommand, OptionsThatMakeNoSenseLeaveNoFolder) {
  testing::write_small_uci_set(folder_);
  const std::string line = "reproduce uci --data-dir '" + folder_.path() +
                           "' --out '" + run() + "' --sets yacht ";
  expect_failure(line + "--splits -1", 2, "splits must be at least 1");
  expect_failure(line + "--steps -1", 2, "steps must be at least 1");
  fs::create_directory(folder_ / "mnist");
  data::write_idx_folder(folder_ / "mnist",
                         data::make_digits_dataset(20, 10, 1));
  expect_failure("reproduce lenet5 --seeds 0 --data-dir '" + folder_.path() +
                     "' --out '" + run() + "'",
                 2, "seeds must be from 1 to 1000");
  EXPECT_FALSE(fs::exists(run()));
}

}  // namespace
}  // namespace radir
