#pragma once

#include <cstdint>

#include "radir/core/settings.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// The matrix normal posterior of C. Louizos and M. Welling, "Structured and
/// efficient variational deep learning with matrix Gaussian posteriors" (2016):
/// each weight is normal, its variance the product of one of its row and one of
/// its column, and all are conditioned on pseudo-data, inputs of the layer with
/// the outputs that every draw gives them (up to noise). The pseudo-data are
/// parameters; they make the weights dependent.
///
/// The divergence is that of the weights without the condition and of the noise
/// of the pseudo-data, as in the article. A step draws weights, not the noise
/// of each output, and the bias is a normal of its own, without pseudo-data.
struct MatrixGaussianOptions {
  /// Pairs of pseudo-inputs and pseudo-outputs; 0: independent weights.
  std::int64_t pseudo_data = 5;
  /// Largest variance of the noise of the pseudo-data, relative to their
  /// squares.
  double pseudo_noise = 0.005;
  /// Variance of the weights under the prior, times the number of inputs of a
  /// unit ...
  double prior_gain = 1;
  /// ... times two unknown factors per layer, 1 / Gamma(1, rate 1/2) each,
  /// whose posteriors are at their optimum always.
  bool learn_prior = true;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
  /// Standard deviation of the weights at the start relative to their spread,
  /// before the condition.
  double initial_noise = 0.1;
};

void describe(SettingsVisitor& visit, MatrixGaussianOptions& options);
const Family& family_of(const MatrixGaussianOptions&);

}  // namespace radir::posterior
