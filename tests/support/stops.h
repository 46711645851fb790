#pragma once

#include <atomic>
#include <memory>

#include "radir/io/run_folder.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// Asks for a stop at the n-th question, whoever asks it.
inline CheckpointOptions stop_at(int question) {
  CheckpointOptions options;
  options.every = std::chrono::hours(1);
  options.stop_requested = [asked = std::make_shared<std::atomic<int>>(0),
                            question] { return ++*asked > question; };
  return options;
}

/// Trains with a stop every `steps` steps until it is done; returns how often
/// it stopped.
template <typename Train>
int train_with_stops(const io::RunFolder& folder, int steps, Train train) {
  for (int stops = 0;; ++stops) {
    try {
      train(ResumableRun(folder, stop_at(steps)));
      return stops;
    } catch (const Interrupted&) {
    }
  }
}

}  // namespace radir::workflows
