#include "radir/train/sharded_sum.h"

#include "radir/core/error.h"

namespace radir::train {

ShardedSum::ShardedSum(std::int64_t shards) : shards_(shards) {
  RADIR_CHECK(
      shards >= 1 && shards <= kMostShards && (shards & (shards - 1)) == 0,
      ArgumentError, "the number of shards must be a power of two, at ",
      "most ", kMostShards, ", but is ", shards);
}

void ShardedSum::add_up(std::int64_t count, const ShardFunction& compute,
                        float* sum) {
  add_subtree(0, shards_, count, compute, sum);
}

void ShardedSum::add_subtree(std::int64_t first, std::int64_t number,
                             std::int64_t count, const ShardFunction& compute,
                             float* sum) {
  if (number == 1) {
    compute(first, sum);
    return;
  }
  std::size_t level = 0;
  while ((std::int64_t{2} << level) < number) ++level;
  if (right_.size() <= level) right_.resize(level + 1);
  right_[level].resize(static_cast<std::size_t>(count));
  const std::int64_t half = number / 2;
  add_subtree(first, half, count, compute, sum);
  add_subtree(first + half, half, count, compute, right_[level].data());
  add_to(right_[level].data(), count, sum);
}

void add_to(const float* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace radir::train
