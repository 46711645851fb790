#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace radir::train {

/// Writes what a shard of a batch gives: as many numbers as are added up.
using ShardFunction = std::function<void(std::int64_t shard, float* part)>;

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
  /// for some of them; other workers do the others.
  virtual void add_up(std::int64_t count, const ShardFunction& compute,
                      float* sum);
  /// Called when a training begins from a state that all workers have read;
  /// returns when all of them have.
  virtual void begin() {}
  /// Whether this is the worker that writes files.
  virtual bool writes() const { return true; }

 protected:
  /// The sum over shards [first, first + number), a subtree.
  void add_subtree(std::int64_t first, std::int64_t number, std::int64_t count,
                   const ShardFunction& compute, float* sum);

 private:
  std::int64_t shards_;
  std::vector<std::vector<float>> right_;  // one per level of the tree
};

constexpr std::int64_t kMostShards = 1024;

/// to[i] += from[i]
void add_to(const float* from, std::int64_t count, float* to);

}  // namespace radir::train
