#pragma once

#include <cstdint>

#include "radir/kernels/philox.h"

namespace radir::distributions {

/// Where samples take their random numbers from: a position (seed, stream,
/// step) that advances by one step with every sample drawn. Two generators at
/// the same position give the same samples; a copy repeats what the original
/// gives next.
class Generator {
 public:
  explicit Generator(std::uint64_t seed, std::uint32_t stream = 0)
      : position_{seed, stream, 0} {}
  explicit Generator(const kernels::RandomStream& position)
      : position_(position) {}

  /// The random numbers of one sample; the next call gives other ones.
  kernels::RandomStream next() {
    const kernels::RandomStream current = position_;
    ++position_.step;
    return current;
  }

  /// Where the next sample starts: all that a checkpoint has to store.
  const kernels::RandomStream& position() const { return position_; }

 private:
  kernels::RandomStream position_;
};

}  // namespace radir::distributions
