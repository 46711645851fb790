#include "radir/workflows/job_sharded_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "radir/collective/launch.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/shared_run.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using collective::Milliseconds;
using ::radir::testing::expect_error;

constexpr std::int64_t kShards = 8;
constexpr std::int64_t kCount = 5;
/// Enough to go through memory, where there is any.
constexpr std::int64_t kLargeCount = 20000;
constexpr const char* kTraining = "fit";

/// Numbers whose sum depends on the order of addition.
float number_of(std::int64_t step, std::int64_t shard, std::int64_t i) {
  const auto mixed =
      static_cast<std::uint32_t>(step * 7919 + shard * 104729 + i * 1299709) *
      2654435761u;
  return static_cast<float>(mixed >> 8) / 3.0f - 1e6f;
}

void add_tree(std::int64_t step, std::int64_t first, std::int64_t number,
              std::int64_t count, float* sum) {
  if (number == 1) {
    for (std::int64_t i = 0; i < count; ++i) {
      sum[i] = number_of(step, first, i);
    }
    return;
  }
  std::vector<float> right(static_cast<std::size_t>(count));
  add_tree(step, first, number / 2, count, sum);
  add_tree(step, first + number / 2, number / 2, count, right.data());
  train::add_to(right.data(), count, sum);
}

/// A job whose workers are threads of this process.
class JobShardedSumTest : public ::testing::Test {
 protected:
  JobShardedSumTest() {
    settings_.has_store = true;
    settings_.timeout = std::chrono::seconds(20);
    settings_.lease = std::chrono::seconds(2);
    settings_.address.token = collective::random_token();
    server_ = std::make_unique<collective::StoreServer>(settings_.address);
    settings_.address.port = server_->port();
  }

  std::unique_ptr<collective::Job> worker(int rank) {
    collective::JobSettings settings = settings_;
    settings.rank = rank;
    return std::make_unique<collective::Job>(settings);
  }

  /// How often a worker joined, as the log of the members has it.
  int joined(int rank) {
    const std::string member = std::to_string(rank) + ".";
    int times = 0;
    for (int i = 0;; ++i) {
      const auto entry =
          server_->store().get("members/log/" + std::to_string(i));
      if (!entry) return times;
      if (entry->front() != '-' && entry->find(member) == 1) ++times;
    }
  }

  void wait_until_joined(int rank, std::int64_t times) {
    const auto end = std::chrono::steady_clock::now() + settings_.timeout;
    while (joined(rank) < times) {
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "worker " << rank << " does not join";
        return;
      }
      std::this_thread::sleep_for(Milliseconds(1));
    }
  }

  /// Trains to the end, or until `dies_at`; the number of shards it computed.
  /// `before_sum` is called in each step.
  std::int64_t train(
      JobShardedSum& sum, std::int64_t dies_at = -1,
      std::int64_t count = kCount,
      const std::function<void(std::int64_t)>& before_sum = [](std::int64_t) {
      }) {
    std::int64_t step = 0;
    std::int64_t shards = 0;
    std::vector<float> found(static_cast<std::size_t>(count));
    std::vector<float> wanted(found.size());
    const auto save = [&] {
      RADIR_CHECK(!is_full_, IoError, "the disk is full");
      saved_ = step;
    };
    for (;;) {
      try {
        for (; step < steps_; ++step) {
          sum.begin_step(kTraining, step, save);
          if (step == dies_at) return shards;
          before_sum(step);
          sum.add_up(
              count,
              [&](std::int64_t first, std::int64_t number, float* out) {
                EXPECT_EQ(first % number, 0);
                shards += number;
                add_tree(step, first, number, count, out);
              },
              found.data());
          add_tree(step, 0, kShards, count, wanted.data());
          EXPECT_EQ(found, wanted) << "step " << step;
          at_ = step;
        }
        sum.end(kTraining, save);
        return shards;
      } catch (const Rejoin&) {
        step = saved_;
      }
    }
  }

  /// Shards computed by each worker; the last dies at a step.
  std::vector<std::int64_t> train_all(int workers, std::int64_t dies_at = -1,
                                      std::int64_t count = kCount) {
    settings_.size = workers;
    std::vector<std::int64_t> shards(static_cast<std::size_t>(workers));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < workers; ++rank) {
      threads.emplace_back([&, rank] {
        const auto job = worker(rank);
        JobShardedSum sum(*job, kShards, nullptr, nullptr);
        shards[static_cast<std::size_t>(rank)] =
            train(sum, rank == workers - 1 ? dies_at : -1, count);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return shards;
  }

  collective::JobSettings settings_;
  std::unique_ptr<collective::StoreServer> server_;
  std::int64_t steps_ = 20;
  std::atomic<std::int64_t> saved_{0};
  std::atomic<std::int64_t> at_{0};
  std::atomic<bool> is_full_{false};
};

TEST_F(JobShardedSumTest, AnyNumberOfWorkersSharesTheShards) {
  const int workers = 3;
  const std::vector<std::int64_t> shards = train_all(workers);
  std::int64_t all = 0;
  for (const std::int64_t own : shards) {
    EXPECT_GE(own, steps_ * (kShards / workers));
    all += own;
  }
  EXPECT_EQ(all, steps_ * kShards);
  // What everybody has is not kept.
  EXPECT_FALSE(
      server_->store().get("sum/000000000000/000000000003/3 fit/0/4-4"));
}

TEST_F(JobShardedSumTest, AsManyWorkersAsShards) {
  for (const std::int64_t own : train_all(kShards)) EXPECT_EQ(own, steps_);
}

TEST_F(JobShardedSumTest, OneWorkerDoesAll) {
  EXPECT_EQ(train_all(1), std::vector<std::int64_t>{steps_ * kShards});
}

TEST_F(JobShardedSumTest, GoesOnWithoutAWorkerThatDied) {
  for (const int workers : {2, 5}) {
    server_->store().erase_range("a", "z");
    const std::vector<std::int64_t> shards = train_all(workers, 5);
    EXPECT_LT(shards.back(), 6 * kShards);
  }
}

TEST_F(JobShardedSumTest, LargeSumsGoThroughMemory) {
  const auto memory = collective::SharedMemory::create(kShards);
  settings_.memory = memory->place();
  for (const int workers : {2, 3, 5, 8}) {
    for (const std::int64_t dies_at : {-1, 7}) {
      server_->store().erase_range("a", "z");
      train_all(workers, dies_at, kLargeCount);
    }
  }
  // The first value of an area has the number 1, the next ones follow.
  for (int rank = 0; rank < kShards; ++rank) {
    const auto put = collective::SharedMemory::open(memory->place(), rank)
                         ->put(std::string(1 << 16, 'x'), 1);
    const std::string number =
        put->substr(put->find(" " + std::to_string(rank) + " ") + 3);
    EXPECT_GE(std::stoi(number), 20) << *put;
  }
}

TEST_F(JobShardedSumTest, AWorkerWithoutTheMemorySaysSo) {
  settings_.size = 2;
  const auto memory = collective::SharedMemory::create(2);
  std::thread other([&] {
    wait_until_joined(0, 1);
    collective::JobSettings settings = settings_;
    settings.rank = 1;
    settings.memory = memory->place();
    collective::Job job(settings);
    JobShardedSum sum(job, kShards, nullptr, nullptr);
    try {
      train(sum, -1, kLargeCount);
    } catch (const Error&) {
      // The other one gives up.
    }
  });
  {
    const auto job = worker(0);
    JobShardedSum sum(*job, kShards, nullptr, nullptr);
    expect_error<collective::ConnectionError>(
        [&] { train(sum, -1, kLargeCount); },
        "give this one their RADIR_JOB_MEMORY");
    server_->store().set(collective::kFinishedKey, "");
  }
  other.join();
}

TEST_F(JobShardedSumTest, SumsThatMemoryDoesNotKeepAreNotUsed) {
  settings_.size = 2;
  const auto memory = collective::SharedMemory::create(2);
  settings_.memory = memory->place();
  // A worker whose values are replaced before they are read.
  std::thread other([&] {
    wait_until_joined(0, 1);
    const auto job = worker(1);
    collective::Membership members(*job);
    members.join([] {});
    const std::string value(kLargeCount * sizeof(float), 'x');
    const std::string reference = *job->memory()->put(value, 1);
    for (int i = 0; i < 2; ++i) job->memory()->put(value, 1);
    job->store().wait("sum/000000000000/000000000000/0 fit/0/0-4",
                      settings_.timeout);
    job->store().set("sum/000000000000/000000000000/0 fit/0/4-4", reference);
    job->store().wait("checked", settings_.timeout);
  });
  const auto job = worker(0);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  std::vector<float> found(kLargeCount);
  sum.begin_step(kTraining, 0, [] {});
  expect_error<Rejoin>(
      [&] {
        sum.add_up(
            kLargeCount,
            [](std::int64_t first, std::int64_t number, float* out) {
              add_tree(0, first, number, kLargeCount, out);
            },
            found.data());
      },
      "the others went on");
  job->store().set("checked", "");
  other.join();
}

TEST_F(JobShardedSumTest, GoesOnWithoutAWorkerThatHangsWhichJoinsAgain) {
  settings_.size = 2;
  settings_.lease = Milliseconds(300);
  steps_ = 200;
  std::vector<std::string> said;
  std::atomic<bool> hangs{true};
  std::thread first([&] {
    const auto job = worker(0);
    JobShardedSum sum(*job, kShards, nullptr, [&](const std::string& text) {
      said.push_back(text);
      hangs = hangs && text.find("without it") == std::string::npos;
    });
    train(sum, -1, kCount, [&](std::int64_t) {
      if (!hangs) wait_until_joined(1, 2);
    });
  });
  std::thread second([&] {
    const auto job = worker(1);
    JobShardedSum sum(*job, kShards, nullptr, nullptr);
    train(sum, 5);
    while (hangs) std::this_thread::yield();
    train(sum);
  });
  second.join();
  first.join();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0].find("worker 1 "), 0u) << said[0];
  EXPECT_GE(std::count(said.begin() + 1, said.end(), "worker 1 has joined"), 1)
      << said.back();
}

TEST_F(JobShardedSumTest, WaitsForAWorkerThatHasMoreToCompute) {
  settings_.size = 2;
  settings_.lease = std::chrono::seconds(1);
  steps_ = 2;
  std::vector<std::string> said;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto job = worker(rank);
      JobShardedSum sum(*job, kShards, nullptr, [&](const std::string& text) {
        if (rank == 0) said.push_back(text);
      });
      train(sum, -1, kCount, [&](std::int64_t step) {
        // Less than two leases, then more: as long as four rounds.
        const auto time = std::chrono::seconds(step == 0 ? 1 : 3);
        if (rank == 1) std::this_thread::sleep_for(time);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(said, std::vector<std::string>{});
}

TEST_F(JobShardedSumTest, AWorkerThatComesLateTakesPart) {
  settings_.size = 3;
  steps_ = 500;
  collective::report_lost(server_->store(), 2);  // is not waited for
  std::int64_t shards = 0;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      while (rank == 2 && at_ < 20) std::this_thread::yield();
      const auto job = worker(rank);
      JobShardedSum sum(*job, kShards, nullptr, nullptr);
      const std::int64_t own = train(sum, -1, kCount, [&](std::int64_t step) {
        if (step == 100) wait_until_joined(2, 1);
      });
      if (rank == 2) shards = own;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(shards, 0);
  EXPECT_LT(shards, (steps_ - 20) * kShards / 2);
  EXPECT_GT(saved_, 0);
}

TEST_F(JobShardedSumTest, RefusesMoreWorkersThanShards) {
  settings_.size = 9;
  const auto job = worker(0);
  expect_error<ArgumentError>(
      [&] { JobShardedSum(*job, kShards, nullptr, nullptr); },
      "--shards 8 can be shared by up to 8 workers, but the job has 9");
}

TEST_F(JobShardedSumTest, RefusesSumsOfAnotherNetwork) {
  settings_.size = 2;
  std::thread other([&] {
    const auto job = worker(1);
    JobShardedSum sum(*job, kShards, nullptr, nullptr);
    try {
      train(sum, -1, kCount + 1);
    } catch (const Error&) {
      // Which of both finds it first is open.
    }
  });
  const auto job = worker(0);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  expect_error<collective::ConnectionError>([&] { train(sum); },
                                            "must train the same network");
  other.join();
}

TEST_F(JobShardedSumTest, SaysThatItCannotJoinWithoutTheCheckpoint) {
  settings_.size = 2;
  steps_ = 100000;
  collective::report_lost(server_->store(), 1);
  std::atomic<bool> ended{false};
  std::thread inside([&] {
    const auto job = worker(0);
    JobShardedSum sum(
        *job, kShards, [&] { return ended.load(); }, nullptr);
    std::vector<float> found(kCount);
    for (std::int64_t step = 0; !ended; ++step) {
      sum.begin_step(kTraining, step, [] {});
      sum.add_up(
          kCount,
          [&](std::int64_t first, std::int64_t number, float* out) {
            add_tree(step, first, number, kCount, out);
          },
          found.data());
      at_ = step;
    }
  });
  while (at_ < 3) std::this_thread::yield();
  const auto job = worker(1);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  bool started_over = false;
  const auto begin = [&] {
    for (;;) {
      try {
        sum.begin_step(kTraining, 0, [] {});
        return;
      } catch (const Rejoin& error) {
        started_over = error.starts_over();
      }
    }
  };
  expect_error<IoError>(begin, "worker 1 cannot join: the others are at step");
  EXPECT_TRUE(started_over);
  ended = true;
  inside.join();
}

TEST_F(JobShardedSumTest, JoinsWhereTheFolderShowsTheCheckpointLate) {
  settings_.size = 2;
  collective::report_lost(server_->store(), 1);
  std::thread inside([&] {
    const auto job = worker(0);
    JobShardedSum sum(*job, kShards, nullptr, nullptr);
    train(sum, -1, kCount, [&](std::int64_t step) {
      if (step == 10) wait_until_joined(1, 1);
    });
  });
  while (at_ < 9) std::this_thread::yield();
  {
    const auto job = worker(1);
    JobShardedSum sum(*job, kShards, nullptr, nullptr);
    std::int64_t step = 0;
    int misses = 0;
    const auto begin = [&] {
      try {
        sum.begin_step(kTraining, step, [] {});
        return true;
      } catch (const Rejoin&) {
        // Having paused after all but the first.
        if (++misses == 4) step = saved_;
        return false;
      }
    };
    const auto start = std::chrono::steady_clock::now();
    while (!begin()) {
    }
    EXPECT_EQ(step, 11);
    EXPECT_GE(std::chrono::steady_clock::now() - start,
              3 * settings_.lease / 4);
  }
  inside.join();
}

TEST_F(JobShardedSumTest, SaysThatItWasDroppedAgainAndAgain) {
  settings_.size = 2;
  settings_.lease = Milliseconds(400);
  const auto first = worker(0);
  collective::Membership members(*first);
  members.join([] {});
  std::atomic<bool> ended{false};
  std::atomic<int> misses{0};
  std::thread inside([&] {
    while (!ended) {
      for (const collective::Member& member : members.advance(members.read())) {
        members.welcome(member, "5\n7 fit");
        while (!ended && misses == 0) std::this_thread::yield();
        misses = 0;
        members.drop(member);
      }
      std::this_thread::yield();
    }
  });
  const auto job = worker(1);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  expect_error<IoError>(
      [&] {
        for (;;) {
          try {
            sum.begin_step(kTraining, 0, [] {});
          } catch (const Rejoin&) {
            ++misses;
          }
        }
      },
      "worker 1 was dropped 20 times before it took part in a step; it is too "
      "slow or --lease is too short");
  ended = true;
  inside.join();
}

TEST_F(JobShardedSumTest, TurnsAwayWhileTheCheckpointCannotBeSaved) {
  settings_.size = 2;
  collective::report_lost(server_->store(), 1);
  is_full_ = true;
  std::vector<std::string> said;
  std::thread inside([&] {
    const auto job = worker(0);
    JobShardedSum sum(*job, kShards, nullptr,
                      [&](const std::string& text) { said.push_back(text); });
    train(sum, -1, kCount, [&](std::int64_t step) {
      if (step >= 10) wait_until_joined(1, std::min<std::int64_t>(step - 9, 3));
      is_full_ = step < 12;
    });
  });
  while (at_ < 9) std::this_thread::yield();
  const auto job = worker(1);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  train(sum);
  inside.join();
  EXPECT_EQ(said,
            (std::vector<std::string>{"worker 1 cannot join: the disk is full",
                                      "worker 1 has joined"}));
}

TEST_F(JobShardedSumTest, AWorkerThatWasDroppedMayNotWrite) {
  settings_.size = 2;
  collective::report_lost(server_->store(), 1);
  const auto job = worker(0);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  sum.begin_step(kTraining, 0, [] {});
  EXPECT_TRUE(sum.may_write());
  const auto other = worker(1);
  collective::Membership members(*other);
  members.read();
  members.drop({0, 1});
  EXPECT_TRUE(sum.writes());  // as far as it knows
  EXPECT_FALSE(sum.may_write());
  EXPECT_FALSE(sum.writes());
}

TEST_F(JobShardedSumTest, NothingIsWrittenForARunThatIsFinished) {
  settings_.size = 2;
  collective::report_lost(server_->store(), 1);
  const auto job = worker(0);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  sum.begin_step(kTraining, 0, [] {});
  EXPECT_TRUE(sum.may_write());
  server_->store().set(collective::kFinishedKey, "");
  expect_error<FinishedElsewhere>([&] { sum.may_write(); }, "have finished");
}

TEST_F(JobShardedSumTest, StopsOnRequestWhileItWaits) {
  settings_.size = 2;
  const auto job = worker(0);
  JobShardedSum sum(
      *job, kShards, [] { return true; }, nullptr);
  expect_error<Interrupted>([&] { train(sum); }, "stopped on request");
}

TEST_F(JobShardedSumTest, ALateWorkerFindsThatAllIsDone) {
  settings_.size = 2;
  const auto first = worker(0);
  collective::Membership members(*first);
  members.join([] {});
  server_->store().set(collective::kFinishedKey, "");
  const auto job = worker(1);
  JobShardedSum sum(*job, kShards, nullptr, nullptr);
  expect_error<FinishedElsewhere>([&] { train(sum); }, "have finished");
}

}  // namespace
}  // namespace radir::workflows
