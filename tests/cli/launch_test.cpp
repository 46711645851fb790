#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <cstring>
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
  expect_failure("launch", 2,
                 "COMMAND ... is missing (see radir launch --help)");
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

/// Trained parameters: all of the file but its header, which holds times.
std::string tensors(const std::string& model) {
  const std::string bytes = testing::read_bytes(model);
  std::uint64_t header = 0;
  EXPECT_GT(bytes.size(), sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  return bytes.substr(sizeof header + header);
}

// The parameters of one network have the same bits, whoever trains it.
TEST_F(LaunchCommand, ShardsGiveTheSameBitsForAnyNumberOfWorkers) {
  const auto train = [&](const std::string& launch, const std::string& out,
                         const std::string& more) {
    const std::string run = folder_ / out;
    const ProgramResult result =
        run_program(launch +
                    "train builtin:robot-arm --target distance --method rdp "
                    "--hidden 20 --epochs 3 --no-holdout --restarts 2 --out '" +
                    run + "' " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json config = Json::parse(testing::read_bytes(run + "/config.json"));
    EXPECT_EQ(config.value("shards", 0), more.empty() ? 0 : 8) << run;
    return tensors(run + "/model.safetensors");
  };
  const std::string one = train("", "one", "--shards 8 --threads 1");
  EXPECT_EQ(train("", "threads", "--shards 8 --threads 2"), one);
  EXPECT_EQ(train("launch --workers 2 -- ", "two", "--shards 8 --threads 2"),
            one);
  EXPECT_EQ(train("launch --workers 3 -- ", "three", "--shards 8"), one);
  EXPECT_EQ(train("launch --workers 4 -- ", "four", "--shards 8"), one);
  // Restarts that are shared instead have the bits of one process.
  EXPECT_EQ(train("launch --workers 2 -- ", "tasks", ""),
            train("", "plain", ""));
}

TEST_F(LaunchCommand, RefusesShardsThatItCannotShareOut) {
  const std::string train =
      " -- train builtin:robot-arm --target distance --method rdp --epochs 1 ";
  const auto refused = [&](const std::string& line, const std::string& part) {
    const ProgramResult result = run_program(line);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
  };
  refused("launch --workers 4" + train + "--shards 2",
          "--shards 2 can be shared by up to 2 workers, but the job has 4");
  refused("launch --workers 2" + train + "--shards 6",
          "the number of shards must be a power of two");
  refused("launch --workers 2 -- compress --data digits --epochs 1",
          "share it with --shards N");
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
