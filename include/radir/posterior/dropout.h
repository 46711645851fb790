#pragma once

#include <optional>

#include "radir/core/settings.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// Weights without noise behind inputs that are dropped at random, in training
/// and in prediction (Y. Gal and Z. Ghahramani, "Dropout as a Bayesian
/// approximation", 2016). A training step drops inputs of each example on its
/// own; a draw of the weights drops columns, so that it is one function for all
/// examples. What is not dropped is divided by the probability of being kept.
struct DropoutOptions {
  /// Probability with which an input of the layer is dropped.
  double rate = 0.05;
  /// Standard deviation of a normal prior around 0, whose negative log density
  /// (less its constant) takes the place of the divergence: the L2 penalty
  /// sum w^2 / (2 prior_scale^2). No value: no penalty.
  std::optional<double> prior_scale;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
};

void describe(SettingsVisitor& visit, DropoutOptions& options);
const Family& family_of(const DropoutOptions&);

}  // namespace radir::posterior
