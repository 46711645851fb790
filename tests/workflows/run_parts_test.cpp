#include "radir/workflows/run_parts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "radir/workflows/shared_run.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::TemporaryFolder;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kParts = 12;

/// A job in this process, whose workers are threads.
class SharedWork : public ::testing::Test {
 protected:
  SharedWork() {
    settings_.size = 2;
    settings_.timeout = std::chrono::seconds(20);
    settings_.lease = std::chrono::milliseconds(300);
    settings_.address.token = collective::random_token();
    server_.emplace(settings_.address);
    settings_.address.port = server_->port();
    settings_.has_store = true;
  }

  collective::JobSettings worker(int rank) const {
    collective::JobSettings settings = settings_;
    settings.rank = rank;
    return settings;
  }

  std::string path() const { return folder_ / "run"; }

  static Json config(int seed = 1) {
    return {{"data", {{"fingerprint", "f"}}},
            {"command",
             {{"name", "test"},
              {"options", {{"seed", seed}, {"data_dir", "anywhere"}}}}}};
  }

  /// Does all parts with the others; counts those that were done here.
  int work(int rank) {
    collective::Job job(worker(rank));
    SharedRun shared(job);
    const io::RunFolder folder = shared.begin(path(), config());
    CheckpointOptions options;
    options.shared = &shared;
    const ResumableRun run(folder, options);
    std::atomic<int> done{0};
    std::vector<ResumableRun> parts;
    for (std::int64_t i = 0; i < kParts; ++i) {
      parts.push_back(run.part("task-" + std::to_string(i)));
    }
    PartsWork work;
    work.count = kParts;
    work.part = [&](std::int64_t i) {
      return &parts[static_cast<std::size_t>(i)];
    };
    work.run = [&](std::int64_t i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      work.part(i)->keep_result("{}");
      ++done;
    };
    work.take_over = [&](std::int64_t i) {
      return work.part(i)->result().has_value();
    };
    ThreadPool pool(2);
    run_parts(work, &pool);
    shared.finish([&] { ++finished_; });
    return done;
  }

  TemporaryFolder folder_;
  collective::JobSettings settings_;
  std::optional<collective::StoreServer> server_;
  std::atomic<int> finished_{0};
};

TEST_F(SharedWork, EachPartIsDoneByOneWorker) {
  std::atomic<int> done{0};
  std::thread other([&] { done += work(1); });
  done += work(0);
  other.join();
  EXPECT_EQ(done, kParts);
  EXPECT_EQ(finished_, 1);
  EXPECT_FALSE(std::filesystem::exists(path() + "/lock"));
  // A worker that comes late has nothing to do.
  EXPECT_THROW(work(1), FinishedElsewhere);
}

TEST_F(SharedWork, ThePartOfADeadWorkerIsTakenAgain) {
  // It takes a part and is never heard of again.
  ASSERT_TRUE(server_->store().lease("part task-3", "dead",
                                     std::chrono::milliseconds(500)));
  EXPECT_EQ(work(0), kParts);
  EXPECT_EQ(finished_, 1);
}

TEST_F(SharedWork, TheFolderIsTheirsAlone) {
  collective::Job first(worker(0));
  SharedRun shared(first);
  const io::RunFolder folder = shared.begin(path(), config());
  expect_error<IoError>([&] { io::RunFolder::open(path()); },
                        "another process is training here");
  const io::RunFolder joined = io::RunFolder::join(path());
  EXPECT_EQ(joined.config(), folder.config());
}

TEST_F(SharedWork, WorkersOfAnotherRunAreRefused) {
  collective::Job first(worker(0));
  collective::Job second(worker(1));
  SharedRun(first).check_same(config(1));
  Json moved = config(1);
  moved["command"]["options"]["data_dir"] = "elsewhere";
  SharedRun(second).check_same(moved);
  expect_error<ArgumentError>(
      [&] { SharedRun(second).check_same(config(2)); },
      "worker 1: the setting seed is 2, but the job's is 1; give all workers "
      "the same command line");
  Json other_data = config(1);
  other_data["data"]["fingerprint"] = "g";
  expect_error<ArgumentError>(
      [&] { SharedRun(second).check_same(other_data); },
      "the fingerprint of the data is g, but the job's is f; give all workers "
      "the same data");
}

TEST_F(SharedWork, AFailureEndsTheWorker) {
  collective::Job job(worker(0));
  SharedRun shared(job);
  const io::RunFolder folder = shared.begin(path(), config());
  CheckpointOptions options;
  options.shared = &shared;
  const ResumableRun part = ResumableRun(folder, options).part("task");
  PartsWork work;
  work.count = 3;
  work.part = [&](std::int64_t) { return &part; };
  work.run = [](std::int64_t) { throw NumericalError("not finite"); };
  ThreadPool pool(2);
  expect_error<NumericalError>([&] { run_parts(work, &pool); }, "not finite");
  // Its lease is free at once.
  EXPECT_TRUE(server_->store().lease("part task", "other",
                                     std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace radir::workflows
