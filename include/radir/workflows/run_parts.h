#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// Work on several parts of a run that do not depend on each other.
struct PartsWork {
  std::int64_t count = 0;
  /// Part i of the run; null without a run.
  std::function<const ResumableRun*(std::int64_t)> part;
  /// Does part i; its result is then in the run. If another worker has done it,
  /// this is quick.
  std::function<void(std::int64_t)> run;
  /// Takes over the result of part i that the run has, if it has one. Null: the
  /// workers tell each other what is done, and `run` finds it.
  std::function<bool(std::int64_t)> take_over = nullptr;
};

/// Runs all parts, in the pool where there is one. Of a run that several
/// workers share, each part is done by one of them, and by another when that
/// one dies; returns when all are done.
void run_parts(const PartsWork& work, ThreadPool* pool);

/// The same for the parts with these names ("": the run itself) of a run, which
/// may be null. `work` gets the number of the part and the part.
void run_parts(
    const ResumableRun* run, const std::vector<std::string>& names,
    ThreadPool* pool,
    const std::function<void(std::int64_t, const ResumableRun*)>& work);

}  // namespace radir::workflows
