#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "radir/collective/job.h"

namespace radir::collective {

/// Several processes on this machine that make one job.
struct LaunchOptions {
  int workers = 2;
  /// How often workers that a signal killed are started again, all together.
  int restarts = 0;
  JobSettings job;  ///< address, timeout and lease; the rest is set here
  std::string program;
  std::vector<std::string> arguments;
  /// Each line that a worker writes to standard error, and whether it is the
  /// first of those that run.
  std::function<void(int rank, bool first, const std::string& line)> on_line;
  /// What happens to workers.
  std::function<void(const std::string&)> on_event;
  /// A signal to pass on to all workers; 0: none.
  std::function<int()> signal;
  /// For workers to end by themselves, after that signal (they write their
  /// checkpoints) or when the work is done. Then they are killed.
  std::chrono::milliseconds grace = std::chrono::seconds(60);
};

/// The key that a job sets in its store when all of its work is done.
constexpr const char* kFinishedKey = "job/finished";

/// Starts the workers, serves their store and waits for them. A worker that
/// dies takes no other with it. Returns the exit code of the job: 0 when all
/// workers ended well, or when some were killed and the others finished the
/// work; else the first code that is not 0, of a killed one 128 plus the
/// signal. Throws IoError when a process cannot be started.
int launch(const LaunchOptions& options);

}  // namespace radir::collective
