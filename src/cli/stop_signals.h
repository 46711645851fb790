#pragma once

#include <csignal>

namespace radir::cli {

/// While it lives, a first SIGINT or SIGTERM only leaves a mark, so that work
/// can come to a good end, and a second one ends the program at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came, or 0. From any thread.
  static int received();

 private:
  struct sigaction interrupt_before_;
  struct sigaction terminate_before_;
};

}  // namespace radir::cli
