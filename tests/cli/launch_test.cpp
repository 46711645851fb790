#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "cli/running_program.h"
#include "support/small_uci_set.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::RunningProgram;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::json;

class LaunchCommand : public ::testing::Test {
 protected:
  LaunchCommand() { testing::write_small_uci_set(folder_); }

  std::string uci(const std::string& out, const std::string& more = "") const {
    return "reproduce uci --sets yacht --steps 50 --data-dir '" +
           folder_.path() + "' --out '" + (folder_ / out) + "' " + more;
  }
  static Json table(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    Json json = Json::parse(result.out);
    json.erase("run");
    return json;
  }

  TemporaryFolder folder_;
};

TEST_F(LaunchCommand, WorkersMakeTheTableOfOneProcess) {
  const Json wanted = table(run_program(uci("one", "--json")));
  const ProgramResult several =
      run_program("launch --workers 3 -- " + uci("three", "--json"));
  EXPECT_EQ(table(several), wanted);
  // A run of several is resumed by one, and the reverse.
  const std::string resume = "reproduce uci --json --resume '";
  EXPECT_EQ(table(run_program(resume + (folder_ / "three") + "'")), wanted);
  EXPECT_EQ(table(run_program("launch --workers 2 -- " + resume +
                              (folder_ / "one") + "'")),
            wanted);
}

TEST_F(LaunchCommand, FailsWithTheMessagesOfItsWorkers) {
  const ProgramResult result =
      run_program("launch --workers 2 -- reproduce uci --sets nowhere");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_TRUE(contains(result.err, "[1] radir: ")) << result.err;
  EXPECT_TRUE(contains(result.err, "worker 1 ended with exit code 4"))
      << result.err;
}

TEST_F(LaunchCommand, RefusesWhatItCannotRun) {
  expect_failure("launch", 2, "command is required");
  expect_failure("launch -- launch -- version", 2,
                 "launch cannot start itself");
  expect_failure("launch --workers 0 -- version", 2, "--workers");
  expect_failure("launch --lease 0s -- version", 2, "--lease: \"0s\" is not");
  expect_failure("launch --address 192.0.2.1 -- version", 4,
                 "store: cannot listen on 192.0.2.1:0");
}

TEST_F(LaunchCommand, ASignalStopsAllWorkers) {
  const std::string out = folder_ / "stopped";
  RunningProgram program({"launch", "--workers", "2", "--", "reproduce", "uci",
                          "--sets", "yacht", "--steps", "1000000", "--data-dir",
                          folder_.path(), "--out", out, "--checkpoint-every",
                          "20ms"});
  ASSERT_TRUE(program.waits_for(
      out +
      "/checkpoint-yacht-split-0-gaussian-tuning-1-trial-1-1.safetensors"))
      << program.err();
  program.send(SIGTERM);
  EXPECT_EQ(program.wait(), 128 + SIGTERM) << program.err();
  EXPECT_TRUE(contains(program.err(), "stopped; resume with: radir reproduce"))
      << program.err();
}

/// One worker of a job that somebody else starts.
std::string worker(const std::string& more) {
  return "export MASTER_ADDR=127.0.0.1 MASTER_PORT=1 RANK=1 WORLD_SIZE=2 "
         "RADIR_JOB_TIMEOUT=0.2 RADIR_JOB_TOKEN=0123456789abcdef " +
         more;
}

TEST_F(LaunchCommand, AWorkerSaysWhatItsEnvironmentLacks) {
  const auto refused = [&](const std::string& more, int code,
                           const std::string& part) {
    const ProgramResult result = run_program(uci("run"), "", worker(more));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
  };
  refused("", 4, "there is no store of a job at 127.0.0.1:1");
  refused("RANK=2", 2, "RANK is 2, but must be less than WORLD_SIZE, 2");
  refused("RADIR_JOB_TOKEN=", 2, "RADIR_JOB_TOKEN must be a secret");
  refused("MASTER_PORT=x", 2, "MASTER_PORT must be an integer");
}

}  // namespace
}  // namespace radir
