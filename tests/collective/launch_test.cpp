#include "radir/collective/launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "radir/collective/store.h"
#include "radir/collective/store_server.h"
#include "support/expect_error.h"

namespace radir::collective {
namespace {

using ::radir::testing::expect_error;

/// Workers that are shells.
class Launch : public ::testing::Test {
 protected:
  int run(const std::string& script, int workers = 3) {
    options_.workers = workers;
    options_.program = "/bin/sh";
    options_.arguments = {"-c", script};
    options_.on_line = [this](int rank, bool /*first*/,
                              const std::string& line) {
      lines_.push_back(std::to_string(rank) + ": " + line);
    };
    options_.on_event = [this](const std::string& event) {
      events_.push_back(event);
    };
    const int code = launch(options_);
    std::sort(lines_.begin(), lines_.end());
    return code;
  }

  LaunchOptions options_;
  std::vector<std::string> lines_;
  std::vector<std::string> events_;
};

TEST_F(Launch, TellsEachWorkerWhoItIs) {
  EXPECT_EQ(run("echo \"$RANK of $WORLD_SIZE at $MASTER_ADDR\" >&2; "
                "printf last >&2; test ${#RADIR_JOB_TOKEN} -ge 16"),
            0);
  const std::vector<std::string> wanted = {"0: 0 of 3 at 127.0.0.1", "0: last",
                                           "1: 1 of 3 at 127.0.0.1", "1: last",
                                           "2: 2 of 3 at 127.0.0.1", "2: last"};
  EXPECT_EQ(lines_, wanted);
  EXPECT_TRUE(events_.empty());
}

TEST_F(Launch, EndsWithTheCodeOfTheWorkerThatFailed) {
  EXPECT_EQ(run("test $RANK != 1 || exit 7; sleep 0.2; echo done >&2"), 7);
  // The others are left to finish.
  EXPECT_EQ(lines_, (std::vector<std::string>{"0: done", "2: done"}));
  EXPECT_EQ(events_,
            std::vector<std::string>{"worker 1 ended with exit code 7"});
}

TEST_F(Launch, AKilledWorkerIsAFailureUnlessTheOthersFinish) {
  EXPECT_EQ(run("test $RANK != 1 || kill -9 $$"), 128 + SIGKILL);
  EXPECT_EQ(events_,
            std::vector<std::string>{"worker 1 was killed by signal 9"});
}

TEST_F(Launch, StartsKilledWorkersAgain) {
  options_.restarts = 3;
  EXPECT_EQ(run("kill -9 $$", 1), 128 + SIGKILL);
  EXPECT_EQ(events_.size(), 4u);
  EXPECT_EQ(events_.front(),
            "worker 0 was killed by signal 9; it is started again");
}

TEST_F(Launch, PassesASignalOnOnce) {
  options_.signal = [&] { return lines_.size() >= 3 ? SIGTERM : 0; };
  EXPECT_EQ(run("trap 'echo got >&2; exit 9' TERM; echo begun >&2; "
                "while :; do sleep 0.02; done"),
            9);
  EXPECT_EQ(lines_, (std::vector<std::string>{"0: begun", "0: got", "1: begun",
                                              "1: got", "2: begun", "2: got"}));
}

TEST_F(Launch, KillsAWorkerThatHangsWhenTheWorkIsDone) {
  options_.grace = std::chrono::milliseconds(200);
  options_.restarts = 1;
  StoreAddress address;
  address.token = random_token();
  options_.job.address = address;
  std::unique_ptr<Store> store;
  options_.signal = [&] {
    if (!store && !lines_.empty()) {
      address.port = std::stoi(lines_.front().substr(3));
      store = connect_store(address, Milliseconds(5000));
      store->set(kFinishedKey, "");
    }
    return 0;
  };
  EXPECT_EQ(run("test $RANK = 1 || exit 0; echo $MASTER_PORT >&2; "
                "exec sleep 600"),
            0);
  EXPECT_EQ(events_,
            std::vector<std::string>{"worker 1 was killed by signal 9"});
}

TEST_F(Launch, RefusesWhatItCannotStart) {
  options_.workers = 0;
  expect_error<ArgumentError>([&] { launch(options_); },
                              "the number of workers must be from 1 to 1000");
  options_.workers = 1;
  options_.program = "/not/there";
  EXPECT_EQ(launch(options_), 127);
}

}  // namespace
}  // namespace radir::collective
