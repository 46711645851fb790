#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/domain.h"

// The half-Cauchy distribution C+(0, scale), density 2/(pi scale (1 +
// (x/scale)^2)) on x >= 0. It is the distribution of sqrt(a b) for independent
// a ~ Gamma(1/2, scale^2) and b ~ InverseGamma(1/2, 1).

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// log(1 + q^2), q >= 0, also where q^2 overflows.
template <typename T>
RADIR_HOST_DEVICE inline T log1p_square(T q) {
  return q < 1 / kEpsilon<T> ? std::log1p(q * q) : 2 * std::log(q);
}

}  // namespace detail

/// log of the density: log(2/(pi scale)) - log(1 + (x/scale)^2).
///
/// Domain: x >= 0 and scale > 0, both finite, otherwise DomainError.
/// Accuracy: 2 eps of max(|result|, 1).
template <typename T>
RADIR_HOST_DEVICE inline T half_cauchy_log_density(T x, T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_non_negative(x) && detail::is_positive(scale),
      "half_cauchy_log_density: need finite x >= 0 and finite scale > 0, but "
      "got x = ",
      x, ", scale = ", scale);
  const T log_two_over_pi = T(-0.45158270528945486473);
  return log_two_over_pi - std::log(scale) - detail::log1p_square(x / scale);
}

/// P(X <= x) = (2/pi) atan(x/scale).
///
/// Domain: x >= 0 and scale > 0, both finite, otherwise DomainError.
/// Accuracy: 2 eps relative.
template <typename T>
RADIR_HOST_DEVICE inline T half_cauchy_cdf(T x, T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_non_negative(x) && detail::is_positive(scale),
      "half_cauchy_cdf: need finite x >= 0 and finite scale > 0, but got x = ",
      x, ", scale = ", scale);
  return T(2 / detail::kPi) * std::atan(x / scale);
}

/// The x with P(X <= x) = probability: scale tan(pi probability/2).
///
/// Domain: 0 <= probability < 1 and finite scale > 0, otherwise DomainError.
/// Accuracy: 4 eps relative, the upper tail included.
template <typename T>
RADIR_HOST_DEVICE inline T half_cauchy_quantile(T probability, T scale) {
  RADIR_MATH_REQUIRE(
      probability >= 0 && probability < 1 && detail::is_positive(scale),
      "half_cauchy_quantile: need 0 <= probability < 1 and finite scale > 0, "
      "but got probability = ",
      probability, ", scale = ", scale);
  // Above 1/2 the tangent is taken of the exact complement.
  const T half_pi = T(detail::kPi / 2);
  return probability <= T(0.5) ? scale * std::tan(half_pi * probability)
                               : scale / std::tan(half_pi * (1 - probability));
}

}  // namespace RADIR_ISA
}  // namespace radir::math
