#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "radir/collective/job.h"
#include "radir/collective/membership.h"
#include "radir/collective/store.h"
#include "radir/train/sharded_sum.h"

namespace radir::workflows {

class ReceivedSum;

/// The shards of a batch, shared out to the workers of a job, which may die and
/// join at any time. Each worker adds up its own subtrees and puts the sums
/// into the store, or into the memory that the workers share; who has the first
/// shard of a larger subtree adds up its halves. A sum has the same bits
/// whoever makes it, so that what is missing because its worker is gone is made
/// by those who wait for it.
class JobShardedSum : public train::ShardedSum {
 public:
  /// `job` must outlive the object. `stop_requested` is asked while it waits;
  /// `warn` is told who is gone or new. Throws ArgumentError when there are
  /// more workers than shards.
  JobShardedSum(collective::Job& job, std::int64_t shards,
                std::function<bool()> stop_requested,
                std::function<void(const std::string&)> warn);

  /// Throws Interrupted when a stop was requested, Rejoin when the others went
  /// on without this worker, collective::ConnectionError when the store is
  /// gone.
  void add_up(std::int64_t count, const train::ShardFunction& compute,
              float* sum) override;
  /// Joins where this worker is not a member. Throws Rejoin when the others are
  /// at another step, which is saved.
  void begin_step(const std::string& training, std::int64_t step,
                  const std::function<void()>& save) override;
  void end(const std::string& training,
           const std::function<void()>& save) override;
  /// Whether this is the oldest member, as far as it has read.
  bool writes() const override;
  bool may_write() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Subtree {
    std::int64_t first;
    std::int64_t number;
    Subtree left() const { return {first, number / 2}; }
    Subtree right() const { return {first + number / 2, number / 2}; }
  };

  std::vector<collective::Member> enter();
  void check_place(const std::string& training, std::int64_t step);
  void check_wanted() const;
  void check_not_finished() const;
  void turn_away(const std::vector<collective::Member>& added,
                 const std::string& why);

  // Of one round.
  void add_up_together(float* sum);
  bool contribute(const Subtree& tree, float* sum);
  void add_halves(const Subtree& all, float* sum);
  void fetch(const Subtree& tree, float* sum);
  void add_fetched(const Subtree& tree, float* sum);
  void obtain(const Subtree& tree, float* sum);
  void make(const Subtree& tree, float* sum);
  std::optional<ReceivedSum> receive(const Subtree& tree);
  ReceivedSum open(const Subtree& tree, collective::SharedText text) const;
  void post(const Subtree& tree, const float* sum);
  void post_head(const Subtree& tree, const float* sum);
  std::int64_t posts_in(const Subtree& tree) const;
  std::optional<std::string> put_into_memory(const float* sum);
  void look_after(const Subtree& tree, Clock::time_point& since);

  bool is_here(const collective::Member& member) const;
  bool is_head(const Subtree& tree) const;
  std::int64_t share_begin(std::size_t index) const;
  const collective::Member& owner(std::int64_t shard) const;
  std::vector<collective::Member> owners(const Subtree& tree) const;
  bool has_part(const std::vector<collective::Member>& having) const;
  std::string round_key() const;
  std::string key(const Subtree& tree) const;
  std::size_t byte_count() const;
  std::vector<float>& buffer(const Subtree& tree);
  void drop(const collective::Member& member, const std::string& why);

  collective::Job* job_;
  collective::Membership members_;
  std::function<bool()> stop_requested_;
  std::function<void(const std::string&)> warn_;
  /// Where the others are, as their welcome says, until this worker is there.
  std::optional<std::string> expected_;
  int misses_ = 0;           // since it joined
  int joins_ = 0;            // since it took part in a step
  bool turns_away_ = false;  // because the last checkpoint was not saved
  std::string training_;
  std::int64_t step_ = 0;
  std::int64_t sum_of_step_ = 0;
  std::int64_t round_ = 0;       // since the first member began
  std::int64_t log_length_ = 0;  // of the members of the next step
  bool alone_ = false;           // finishes the step before it stops
  std::int64_t count_ = 0;
  const train::ShardFunction* compute_ = nullptr;
  Clock::duration computing_{};  // in this round
  Clock::duration last_round_{};
  std::vector<std::vector<float>> buffers_;  // one per level of the tree
  std::string head_;                         // what post_head sends
};

}  // namespace radir::workflows
