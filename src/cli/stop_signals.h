#pragma once

#include <array>
#include <csignal>

namespace radir::cli {

/// While it exists, the first SIGINT, SIGTERM or SIGHUP only sets a flag, so
/// that the work can stop cleanly. A second signal ends the program at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The received signal, or 0. May be called from any thread.
  static int received();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_;
};

}  // namespace radir::cli
