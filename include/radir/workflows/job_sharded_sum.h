#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/collective/job.h"
#include "radir/train/sharded_sum.h"

namespace radir::workflows {

/// The shards of a batch, shared out to the workers of a job. Each adds up its
/// own subtree; pairs of workers then exchange their sums, level by level,
/// until all have the complete one.
class JobShardedSum : public train::ShardedSum {
 public:
  /// `job` must outlive the object. `stop_requested` is asked while it waits.
  /// Throws ArgumentError unless the number of workers is a power of two, at
  /// most that of shards.
  JobShardedSum(collective::Job& job, std::int64_t shards,
                std::function<bool()> stop_requested);

  /// Throws Interrupted when a stop was requested, collective::ConnectionError
  /// when another worker is gone or does not come in time.
  void add_up(std::int64_t count, const train::ShardFunction& compute,
              float* sum) override;
  void begin() override;
  bool writes() const override { return job_->rank() == 0; }

 private:
  std::string key(int level, int rank) const;
  std::string receive(const std::string& key, int from, bool take);

  collective::Job* job_;
  std::function<bool()> stop_requested_;
  std::int64_t training_ = 0;
  std::int64_t round_ = 0;
  std::vector<float> other_;
};

}  // namespace radir::workflows
