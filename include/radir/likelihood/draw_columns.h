#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "radir/likelihood/predictive_mixture.h"

namespace radir::likelihood {

/// What draws of the weights say of a target where each says one Student's t (a
/// normal distribution where the degrees of freedom are infinite) and all count
/// the same: a PredictiveMixture in columns, which loops over many draws read
/// fastest.
struct DrawColumns {
  std::vector<double> locations;
  std::vector<double> log_scales;
  double degrees_of_freedom = std::numeric_limits<double>::infinity();

  /// Throws as the constructor of PredictiveMixture does.
  PredictiveMixture mixture() const;
};

/// None where weights or degrees of freedom of the components differ, or the
/// number is transformed.
std::optional<DrawColumns> columns_of(const PredictiveMixture& mixture);

}  // namespace radir::likelihood
