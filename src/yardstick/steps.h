#pragma once

#include <cstdint>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/train/model.h"
#include "yardstick/stopwatch.h"

namespace radir::yardstick {

/// The same network and the same random batch, each way a training step can
/// be taken: "deterministic", "composed", "autograd" and "compiled" (see
/// experiments/bench_step.h).
std::vector<Contender> training_steps(const train::ModelSpec& spec,
                                      std::int64_t batch, std::uint64_t seed,
                                      ThreadPool* pool);

}  // namespace radir::yardstick
