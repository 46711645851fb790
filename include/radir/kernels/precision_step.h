#pragma once

#include <cmath>

#include "radir/core/config.h"

namespace radir::kernels {

/// A Gamma distribution of a precision.
struct GammaPrecision {
  double shape = 1;
  double rate = 1;
};

/// What a step of a precision's posterior knows of the training.
struct PrecisionStep {
  double examples = 0;  ///< of the training set
  double numbers = 0;   ///< in all of its targets
  double kl_weight = 1;
  double rate = 0;  ///< share of the way to the optimum for this batch
  /// Derivative by the log rate of nll + kl_weight * kl / examples.
  double log_rate_gradient = 0;
};

/// With w the KL weight, n the numbers in all targets and s their mean expected
/// squared residual, the optimum is
///   shape = prior shape + n / 2w, rate = prior rate + n s / 2w.
/// The shape is set to it. The rate takes a part of the way: s is that of the
/// batch and of the weights drawn for it, so the rate follows an exponential
/// moving average, which is the natural gradient's step on it.
RADIR_HOST_DEVICE inline GammaPrecision precision_step(
    const GammaPrecision& prior, const GammaPrecision& q,
    const PrecisionStep& step) {
  // Keeps the posterior finite where the KL does not count yet.
  constexpr double kLeastKlWeight = 1e-6;
  const double tau = q.shape / q.rate;
  // The derivative by the log rate is, with d numbers per example,
  //   d/2 (1 - tau s) + w / examples (prior shape - prior rate tau).
  const double of_kl =
      step.kl_weight / step.examples * (prior.shape - prior.rate * tau);
  const double per_example = step.numbers / step.examples;
  const double wanted =
      (1 - 2 * (step.log_rate_gradient - of_kl) / per_example) / tau;
  const double found = 0.0 < wanted ? wanted : 0.0;
  // The average so far, from shape and rate of whatever KL weight.
  const bool is_posterior = q.shape > prior.shape && q.rate > prior.rate;
  const double average =
      is_posterior ? (q.rate - prior.rate) / (q.shape - prior.shape) : 1 / tau;
  const double weight =
      step.kl_weight < kLeastKlWeight ? kLeastKlWeight : step.kl_weight;
  const double counted = step.numbers / (2 * weight);
  return {prior.shape + counted,
          prior.rate + counted * (average + step.rate * (found - average))};
}

}  // namespace radir::kernels
