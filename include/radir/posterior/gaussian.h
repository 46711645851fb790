#pragma once

#include "radir/core/settings.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// One independent normal per weight.
struct GaussianOptions {
  /// Where a training step draws its noise.
  enum class Noise {
    Weights,  ///< one draw of the weights for all examples of the step
    /// Each unit of each example on its own, from the normal that the weights
    /// give it (local reparametrisation, Kingma et al. 2015): gradients vary
    /// less, a step takes twice the products. Predictions draw weights all the
    /// same.
    Activations,
  };

  /// Standard deviation of the prior, a normal around 0.
  double prior_scale = 1;
  /// Learn it along with the posterior (empirical Bayes).
  bool learn_prior = false;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
  /// Standard deviation of the weights at the start relative to their spread.
  double initial_noise = 0.1;
  Noise noise = Noise::Weights;
};

void describe(SettingsVisitor& visit, GaussianOptions& options);
const Family& family_of(const GaussianOptions&);

/// The posterior of a bias: starts at 0 with a spread that is small beside
/// activations of unit size.
GaussianOptions bias_options(double prior_scale);

}  // namespace radir::posterior
