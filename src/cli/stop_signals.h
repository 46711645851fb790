#pragma once

#include <csignal>

namespace radir::cli {

/// While it exists, the first SIGINT or SIGTERM only sets a flag, so that the
/// work can stop cleanly. A second signal ends the program at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The received signal, or 0. May be called from any thread.
  static int received();

 private:
  struct sigaction interrupt_before_;
  struct sigaction terminate_before_;
};

}  // namespace radir::cli
