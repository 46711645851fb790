#pragma once

#include <optional>

#include "radir/core/settings.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// Weights without noise: an ordinary network.
struct PointOptions {
  /// Standard deviation of a normal prior around 0, whose negative log density
  /// (less its constant) takes the place of the divergence: the L2 penalty
  /// sum w^2 / (2 prior_scale^2). No value: no penalty.
  std::optional<double> prior_scale;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
};

void describe(SettingsVisitor& visit, PointOptions& options);
const Family& family_of(const PointOptions&);

}  // namespace radir::posterior
