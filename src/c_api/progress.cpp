#include "c_api/progress.h"

#include "radir/workflows/resumable_run.h"

namespace radir::c_api {
namespace {

/// A callback into another language takes microseconds, a small step not even
/// that.
constexpr std::chrono::milliseconds kLeastPause{20};

}  // namespace

radir_progress share_progress(double share) {
  constexpr double kWholeWork = 1e6;
  radir_progress progress = {};
  progress.done = static_cast<std::int64_t>(share * kWholeWork);
  progress.total = static_cast<std::int64_t>(kWholeWork);
  return progress;
}

bool Progress::tell(const radir_progress& progress) {
  const std::lock_guard<std::mutex> lock(mutex_);
  latest_ = progress;
  if (progress.done == progress.total) last_call_ = {};  // the last is told
  return call();
}

bool Progress::ask() {
  // A thread that waits here would only ask the same again, and without news
  // there is nothing to show.
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && latest_.total > 0 ? call() : !stopped_;
}

bool Progress::call() {
  if (callback_ == nullptr || stopped_) return !stopped_;
  const Clock::time_point now = Clock::now();
  if (last_call_ != Clock::time_point() && now - last_call_ < kLeastPause) {
    return true;
  }
  last_call_ = now;
  stopped_ = callback_(&latest_, user_) != 0;
  return !stopped_;
}

void Progress::check() const {
  if (!stopped_) return;
  throw workflows::Interrupted(std::string(name_) + ": stopped on request");
}

}  // namespace radir::c_api
