#pragma once

#include <chrono>
#include <string>

#include "cli/time_left.h"

namespace radir::cli {

/// One line on standard error that is overwritten as the work proceeds. If
/// standard error is not a terminal, prints a new line at most every ten
/// seconds.
class Progress {
 public:
  Progress();
  /// Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `text` and, from the share of the work done (0 to 1), the
  /// remaining time (see TimeLeft).
  void show(double share, const std::string& text);
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  Clock::time_point start_;
  Clock::time_point shown_;
  TimeLeft time_left_;
};

/// A sentence on standard error, on a line of its own.
void say(const std::string& sentence);

/// "3 s", "12 min", "1 h 05 min".
std::string duration_text(double seconds);

}  // namespace radir::cli
