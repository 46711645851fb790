#pragma once

#include <cstdint>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/train/model.h"
#include "torch/baselines/stopwatch.h"

namespace radir::baselines {

/// Gives libtorch so many threads, and OpenBLAS, which does not ask libtorch.
void use_threads(int threads);

/// The same network and the same random batch, each way a training step can
/// be taken with so many threads: "deterministic", "composed", "autograd",
/// "compiled" and, where there is more than one thread, "apart" (see
/// bench/bench_step.h).
std::vector<Variant> training_steps(const train::ModelSpec& spec,
                                    std::int64_t batch, std::uint64_t seed,
                                    int threads);

}  // namespace radir::baselines
