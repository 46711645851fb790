#pragma once

#include <cstdint>

#include "radir/core/settings.h"

namespace radir::likelihood {

enum class Kind {
  /// Normal around the outputs; its precision has a Gamma posterior.
  Gaussian,
  /// A narrow and a wide normal distribution around the outputs, whose widths
  /// and shares are learnt: as Gaussian, for noise with outliers.
  TwoNormals,
  /// Normal; the network gives means, then log variances.
  PredictedNoise,
  /// A mixture of normal distributions, all of it given by the network.
  Mixture,
  /// One of as many classes as there are outputs, by softmax.
  Categorical,
};

/// As files and the command line call them, such as "predicted-noise".
const Choices<Kind>& kind_choices();
const char* to_string(Kind kind);

/// How the targets are distributed given the outputs of the network.
struct Options {
  Kind kind = Kind::Gaussian;
  /// Prior of the precision, for standardised targets (Gaussian).
  double prior_shape = 6;
  double prior_rate = 6;
  /// Parts of a mixture, and the least standard deviation of one, for
  /// standardised targets; 0: 1e-5.
  std::int64_t parts = 3;
  double least_scale = 0;
};

void describe(SettingsVisitor& visit, Options& options);

/// Lower bound of the log variance of a part of a mixture, from least_scale.
double min_log_variance(const Options& options);

}  // namespace radir::likelihood
