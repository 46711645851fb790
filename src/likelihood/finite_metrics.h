#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/error.h"

namespace radir::likelihood {

/// The metrics as they are. Throws NumericalError for one that is not finite:
/// printed, it would look like a result.
inline std::vector<std::pair<std::string, double>> finite_metrics(
    std::vector<std::pair<std::string, double>> metrics) {
  for (const auto& [name, value] : metrics) {
    RADIR_CHECK(std::isfinite(value), NumericalError, "scores: ", name, " is ",
                value, ": values of the data or predictions are too large");
  }
  return metrics;
}

}  // namespace radir::likelihood
