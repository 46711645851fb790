#include "radir/workflows/job_sharded_sum.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "radir/collective/launch.h"
#include "radir/collective/store.h"
#include "radir/core/error.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {
namespace {

/// How often a wait looks whether it still makes sense.
constexpr collective::Milliseconds kLook{300};

}  // namespace

JobShardedSum::JobShardedSum(collective::Job& job, std::int64_t shards,
                             std::function<bool()> stop_requested)
    : ShardedSum(shards),
      job_(&job),
      stop_requested_(std::move(stop_requested)) {
  const int size = job.size();
  RADIR_CHECK((size & (size - 1)) == 0 && size <= shards, ArgumentError,
              "--shards ", shards, " can be shared by 1, 2, 4, ... up to ",
              shards, " workers, but the job has ", size);
}

std::string JobShardedSum::key(int level, int rank) const {
  return "sum/" + std::to_string(training_) + "/" + std::to_string(round_) +
         "/" + std::to_string(level) + "/" + std::to_string(rank);
}

std::string JobShardedSum::receive(const std::string& key, int from,
                                   bool take) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + job_->settings().timeout;
  for (;;) {
    auto value =
        take ? job_->store().take(key, kLook) : job_->store().wait(key, kLook);
    if (value) return std::move(*value);
    if (stop_requested_ && stop_requested_()) {
      throw Interrupted("the training was stopped on request");
    }
    const auto lost = job_->store().get(collective::kLostKey);
    RADIR_CHECK(!lost, collective::ConnectionError, "worker ", *lost,
                " of the job is gone");
    RADIR_CHECK(Clock::now() < end, collective::ConnectionError, "worker ",
                from, " of the job did not send its sums within ",
                job_->settings().timeout.count() / 1000,
                " s; see whether it runs");
  }
}

void JobShardedSum::begin() {
  ++training_;
  round_ = 0;
  const std::string here = "begin/" + std::to_string(training_) + "/";
  job_->store().set(here + std::to_string(job_->rank()), "");
  for (int rank = 0; rank < job_->size(); ++rank) {
    receive(here + std::to_string(rank), rank, false);
  }
}

void JobShardedSum::add_up(std::int64_t count,
                           const train::ShardFunction& compute, float* sum) {
  const int size = job_->size();
  const int rank = job_->rank();
  const std::int64_t own = shards() / size;
  add_subtree(rank * own, own, count, compute, sum);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  other_.resize(static_cast<std::size_t>(count));
  for (int level = 0; (1 << level) < size; ++level) {
    const int partner = rank ^ (1 << level);
    job_->store().set(key(level, rank),
                      std::string(reinterpret_cast<const char*>(sum), bytes));
    const std::string value = receive(key(level, partner), partner, true);
    RADIR_CHECK(value.size() == bytes, collective::ConnectionError, "worker ",
                partner, " sends ", value.size(), " bytes instead of ", bytes,
                "; all workers must train the same network");
    std::memcpy(other_.data(), value.data(), bytes);
    // Left plus right or right plus left: the same bits.
    train::add_to(other_.data(), count, sum);
  }
  ++round_;
}

}  // namespace radir::workflows
