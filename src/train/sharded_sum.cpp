#include "radir/train/sharded_sum.h"

#include "radir/core/error.h"

namespace radir::train {

ShardedSum::ShardedSum(std::int64_t shards) : shards_(shards) {
  RADIR_CHECK(
      shards >= 1 && shards <= kMostShards && (shards & (shards - 1)) == 0,
      ArgumentError, "the number of shards must be a power of two, at ",
      "most ", kMostShards, ", but is ", shards);
}

void ShardedSum::add_up(std::int64_t /*count*/, const ShardFunction& compute,
                        float* sum) {
  compute(0, shards_, sum);
}

void add_to(const float* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace radir::train
