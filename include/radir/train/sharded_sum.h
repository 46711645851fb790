#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace radir::train {

/// Writes the sum over shards [first, first + number) of a batch: as many
/// numbers as are added up. `number` is a power of two and `first` a multiple
/// of it, so these shards are a subtree.
using ShardFunction =
    std::function<void(std::int64_t first, std::int64_t number, float* sum)>;

/// Adds up what the shards of a batch give. A batch is cut into a fixed number
/// of shards, and their gradients are added along a fixed binary tree: the bits
/// of the sum do not depend on who computed which shard.
class ShardedSum {
 public:
  /// Throws ArgumentError unless `shards` is a power of two, at most
  /// kMostShards.
  explicit ShardedSum(std::int64_t shards);
  virtual ~ShardedSum() = default;

  std::int64_t shards() const { return shards_; }

  /// Writes the sum over all shards of `count` numbers each. Calls `compute`
  /// for subtrees of them; other workers do the others.
  virtual void add_up(std::int64_t count, const ShardFunction& compute,
                      float* sum);
  /// Called before each step of a training. `save` writes its state to where a
  /// worker that joins finds it, or throws IoError.
  virtual void begin_step(const std::string& /*training*/,
                          std::int64_t /*step*/,
                          const std::function<void()>& /*save*/) {}
  /// Called at the end of a training; returns when its result is saved.
  virtual void end(const std::string& /*training*/,
                   const std::function<void()>& save) {
    save();
  }
  /// Whether this is the worker that writes files.
  virtual bool writes() const { return true; }
  /// The same, having asked whether the others went on without this worker.
  /// Throws when they have finished the run.
  virtual bool may_write() { return writes(); }

 private:
  std::int64_t shards_;
};

constexpr std::int64_t kMostShards = 1024;

/// to[i] += from[i]
void add_to(const float* from, std::int64_t count, float* to);

}  // namespace radir::train
