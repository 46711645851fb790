#pragma once

#include <deque>
#include <optional>

namespace radir::cli {

/// Estimates the time left from how fast the work went lately: a network that
/// shrinks makes its steps faster.
class TimeLeft {
 public:
  /// After `seconds` the share of the work done is `share` (0 to 1). Returns
  /// the seconds left, or nothing while there is nothing to tell them from.
  /// What is reported first, or in the moments after it, was done by an earlier
  /// run and says nothing of the speed.
  std::optional<double> add(double seconds, double share);

 private:
  struct Sample {
    double seconds;
    double share;
  };

  std::optional<double> first_;  // when the first report came
  std::deque<Sample> samples_;   // of the latest part of the work
};

}  // namespace radir::cli
