#pragma once

#include <cstdint>

// What every implementation of the training has to agree on.

namespace radir::train {

/// Rate of a likelihood's own parameters, times the learning rate: they follow
/// the weights, so they are to be faster.
constexpr double kOwnStepRate = 5;

/// Stream of the order of the examples, far from those of the weights.
constexpr std::uint32_t kShuffleStream = 0x40000000;
/// The epoch whose order picks the validation part.
constexpr std::int64_t kValidationEpoch = 0;

}  // namespace radir::train
