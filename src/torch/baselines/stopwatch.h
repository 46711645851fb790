#pragma once

#include <functional>
#include <string>
#include <vector>

namespace radir::baselines {

/// Something to be timed, under a name.
struct Variant {
  std::string name;
  std::function<void()> run;
  int runs_at_once = 1;  ///< by which the time of a call is divided
};

struct Timing {
  double median_us = 0;
  double min_us = 0;
};

/// Times the variants in turn, `rounds` times over, so that whatever else
/// the machine does meets all of them alike. A turn waits until the threads of
/// the last one sleep, runs once for nothing, then repeats a short variant
/// until it has run for a twentieth of a second and counts the mean.
std::vector<Timing> time_in_turns(const std::vector<Variant>& variants,
                                  int rounds);

}  // namespace radir::baselines
