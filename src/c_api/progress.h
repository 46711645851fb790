#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "radir/c_api.h"

namespace radir::c_api {

/// Progress of work of which a share is done: its numbers count to a million.
radir_progress share_progress(double share);

/// Tells the caller, from any thread, how far a call is, and keeps his wish to
/// stop.
class Progress {
 public:
  /// `name` begins the message of a stop.
  Progress(const char* name, radir_progress_callback callback, void* user)
      : name_(name), callback_(callback), user_(user) {}

  bool stopped() const { return stopped_; }

  /// Whether to go on.
  bool tell(const radir_progress& progress);

  /// The same with what was told last: long work without news can be stopped
  /// too.
  bool ask();

  /// Throws workflows::Interrupted after a wish to stop.
  void check() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool call();

  const char* name_;
  radir_progress_callback callback_;
  void* user_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  radir_progress latest_ = {};
  Clock::time_point last_call_;
};

}  // namespace radir::c_api
