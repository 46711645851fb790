#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/domain.h"

// What assumed-density filtering of a network needs (J. M. Hernandez-Lobato and
// R. P. Adams, "Probabilistic backpropagation", 2015): the moments of a normal
// number after a ReLU, and the Gamma distribution nearest to an updated one.

namespace radir::math {
inline namespace RADIR_ISA {

/// A mean and a variance, or the derivatives of a function by both.
template <typename T>
struct MeanVariance {
  T mean;
  T variance;
};

/// Mean and variance of max(x, 0) for x ~ N(mean, variance), with the
/// derivatives of both.
template <typename T>
struct ReluMoments {
  MeanVariance<T> value;
  MeanVariance<T> of_mean;      ///< derivatives of the mean
  MeanVariance<T> of_variance;  ///< derivatives of the variance
};

/// With a = mean/deviation, Phi and phi of the standard normal at a:
///   E = mean Phi + deviation phi,   dE = Phi, phi/(2 deviation)
///   V = E (mean - E) + variance Phi,   dV = 2 E (1 - Phi),
///       Phi - E phi/deviation.
/// Far in the tail, a < -30, everything is 0 (below 1e-195). A variance of 0 is
/// a number.
///
/// Domain: a finite mean and a finite variance >= 0, otherwise DomainError.
/// Accuracy in double: 2e-11 relative; of the variance 4e-9 at a = -20, where
/// it is 1e-90 of the given one.
template <typename T>
RADIR_HOST_DEVICE inline ReluMoments<T> relu_moments(T mean, T variance) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mean) && detail::is_non_negative(variance),
      "relu_moments: need a finite mean and a finite variance >= 0, but got "
      "mean = ",
      mean, ", variance = ", variance);
  const T deviation = std::sqrt(variance);
  const T a = deviation > 0 ? mean / deviation : (mean > 0 ? T(40) : T(-40));
  if (a < -30) return {{0, 0}, {0, 0}, {0, 0}};
  if (deviation == 0) return {{mean, 0}, {1, 0}, {0, 1}};
  const T root_half = T(0.70710678118654752440);
  const T below = std::erfc(-a * root_half) / 2;  // Phi
  const T above = std::erfc(a * root_half) / 2;
  const T density =
      std::exp(-a * a / 2 - T(detail::kHalfLog2Pi)) / deviation;  // of x at 0
  const T expected = mean * below + variance * density;
  // E (mean - E) + variance Phi without the cancellation of its largest parts.
  const T ratio = deviation * density / below;  // phi/Phi
  const T spread = expected * (mean + deviation * ratio) * above +
                   variance * below * (1 - ratio * (ratio + a));
  return {{expected, spread > 0 ? spread : T(0)},
          {below, density / 2},
          {2 * expected * above, below - expected * density}};
}

/// A Gamma distribution by shape and rate.
template <typename T>
struct GammaPair {
  T shape;
  T rate;
};

/// Gamma(shape, rate) times a likelihood, replaced by the Gamma distribution of
/// the same first two moments. z_k is the log of the likelihood's mean under
/// Gamma(shape + k, rate), so that the new mean is e^{z1 - z0} shape/rate.
template <typename T>
RADIR_HOST_DEVICE inline GammaPair<T> match_gamma(const GammaPair<T>& q, T z0,
                                                  T z1, T z2) {
  return {1 / (std::exp(z2 + z0 - 2 * z1) * (q.shape + 1) / q.shape - 1),
          1 / (std::exp(z2 - z1) * (q.shape + 1) / q.rate -
               std::exp(z1 - z0) * q.shape / q.rate)};
}

}  // namespace RADIR_ISA
}  // namespace radir::math
