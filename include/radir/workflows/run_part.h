#pragma once

#include <optional>
#include <string>

#include "radir/workflows/resumable_run.h"

namespace radir::workflows {

/// A part of a run, for work that may also be done without one.
class RunPart {
 public:
  RunPart(const ResumableRun* run, const std::string& name) {
    if (run != nullptr) part_ = run->part(name);
  }

  /// Null without a run.
  const ResumableRun* get() const { return part_ ? &*part_ : nullptr; }

 private:
  std::optional<ResumableRun> part_;
};

}  // namespace radir::workflows
