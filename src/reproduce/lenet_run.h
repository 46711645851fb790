#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/images.h"
#include "radir/reproduce/lenet.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"

// What the benchmarks on LeNets share. Private to the reproductions.

namespace radir::reproduce {

constexpr std::int64_t kMostSeeds = 1000;

/// Throws ArgumentError.
void check_seeds(std::int64_t seeds);

/// The settings with their network.
workflows::CompressSettings with_network(const LenetOptions& options);

/// One network to compress.
struct LenetTask {
  std::string part;   ///< of a run, where its result is kept
  std::string label;  ///< for the progress
  workflows::CompressSettings settings;
};

/// Compresses all, in parallel on the threads of the pool; those with a kept
/// result of the same settings and images are not run again.
std::vector<LenetRun> run_lenet_tasks(
    const std::vector<LenetTask>& tasks, const data::ImageSplit& images,
    ThreadPool& pool, const workflows::CompressProgress& progress,
    const workflows::ResumableRun* run);

/// "4-7-110-66".
std::string joined(const std::vector<std::int64_t>& units);

}  // namespace radir::reproduce
