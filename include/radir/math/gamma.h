#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/domain.h"
#include "radir/math/phi.h"

// log Gamma and its derivatives for positive arguments. Re-entrant (the C
// library's lgamma writes a global), and usable on a device.
//
// Everything rests on the remainder of Stirling's formula,
//   R(x) = log Gamma(x) - [(x - 1/2) log x - x + log(2 pi)/2] > 0,
// which is convex and decreasing and from x = 10 on is summed as
//   R(x) ~ sum_k B_2k / (2k (2k-1) x^{2k-1})            (DLMF 5.11.1).
// Below, R(x) = R(x+1) + (x + 1/2) log(1 + 1/x) - 1 steps up to it.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// Eight terms of Stirling's series reach 1 eps of double from here on.
constexpr double kStirlingStart = 10;

/// sum_k coefficients[k] x^k.
template <typename T, int kCount>
RADIR_HOST_DEVICE inline T polynomial(const double (&coefficients)[kCount],
                                      T x) {
  T sum = 0;
  for (int k = kCount - 1; k >= 0; --k) {
    sum = sum * x + static_cast<T>(coefficients[k]);
  }
  return sum;
}

/// (x + 1/2) log(1 + 1/x) - 1 = R(x) - R(x+1) > 0.
template <typename T>
RADIR_HOST_DEVICE inline T stirling_step(T x) {
  // x < 1/4: the first term exceeds 1.2, little cancels.
  if (x < T(0.25)) return (x + T(0.5)) * (std::log1p(x) - std::log(x)) - 1;
  // x >= 1/4: atanh(v)/v - 1 with v = 1/(2x+1) <= 2/3, a series of positive
  // terms (Gudermann's).
  const T v2 = 1 / ((2 * x + 1) * (2 * x + 1));
  constexpr T kTiny = kEpsilon<T> / 8;
  T sum = 0;
  T power = v2;
  for (int k = 3; power > kTiny * v2; k += 2) {
    sum += power / static_cast<T>(k);
    power *= v2;
  }
  return sum;
}

/// R(x), the remainder of Stirling's formula; all terms positive for x < 10.
/// Measured error: 3 eps.
template <typename T>
RADIR_HOST_DEVICE inline T stirling_remainder(T x) {
  static constexpr double kSeries[] = {
      1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
      1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  T steps = 0;
  for (; x < T(kStirlingStart); x += 1) steps += stirling_step(x);
  return steps + polynomial(kSeries, 1 / (x * x)) / x;
}

/// R'(x) < 0.
template <typename T>
RADIR_HOST_DEVICE inline T stirling_remainder_derivative(T x) {
  static constexpr double kSeries[] = {-1.0 / 12, 1.0 / 120,    -1.0 / 252,
                                       1.0 / 240, -1.0 / 132,   691.0 / 32760,
                                       -1.0 / 12, 3617.0 / 8160};
  T steps = 0;
  for (; x < T(kStirlingStart); x += 1) {
    const T logarithm = x < 1 ? std::log1p(x) - std::log(x) : std::log1p(1 / x);
    steps += logarithm - (1 + T(0.5) / x) / (x + 1);
  }
  const T inverse_square = 1 / (x * x);
  return steps + inverse_square * polynomial(kSeries, inverse_square);
}

/// R''(x) > 0; the step R''(x) - R''(x+1) is 1/(2 x^2 (x+1)^2), so no terms
/// cancel.
template <typename T>
RADIR_HOST_DEVICE inline T stirling_remainder_second_derivative(T x) {
  static constexpr double kSeries[] = {1.0 / 6,   -1.0 / 30,    1.0 / 42,
                                       -1.0 / 30, 5.0 / 66,     -691.0 / 2730,
                                       7.0 / 6,   -3617.0 / 510};
  T steps = 0;
  for (; x < T(kStirlingStart); x += 1) {
    const T root = 1 / (x * (x + 1));
    steps += T(0.5) * root * root;
  }
  const T inverse_square = 1 / (x * x);
  return steps + inverse_square / x * polynomial(kSeries, inverse_square);
}

/// Taylor coefficients of log Gamma(2 + e) from e^2 on: (-1)^k (zeta(k) - 1)/k.
/// The series has radius 2; 25 terms are enough for |e| <= 1/2.
constexpr int kZetaTerms = 25;
RADIR_HOST_DEVICE inline double zeta_coefficient(int index) {
  static constexpr double kSeries[kZetaTerms] = {
      0.32246703342411321824,   -0.067352301053198095133,
      0.020580808427784547879,  -0.0073855510286739852663,
      0.0028905103307415232858, -0.0011927539117032609771,
      5.0966952474304242234e-4, -2.2315475845357937976e-4,
      9.9457512781808533715e-5, -4.49262367381331417e-5,
      2.0507212775670691553e-5, -9.439488275268395904e-6,
      4.3748667899074878042e-6, -2.0392157538013662368e-6,
      9.5514121304074198329e-7, -4.4924691987645660433e-7,
      2.1207184805554665869e-7, -1.0043224823968099609e-7,
      4.7698101693639805658e-8, -2.271109460894316491e-8,
      1.0838659214896954091e-8, -5.1834750419700466551e-9,
      2.4836745438024783172e-9, -1.1921401405860912074e-9,
      5.7313672416788620133e-10};
  return kSeries[index];
}

/// sum_{k>=2} (zeta(k) - 1) (-e)^k / k.
template <typename T>
RADIR_HOST_DEVICE inline T zeta_series(T e) {
  T sum = 0;
  for (int i = kZetaTerms - 1; i >= 0; --i) {
    sum = sum * e + static_cast<T>(zeta_coefficient(i));
  }
  return e * e * sum;
}

/// Its derivative.
template <typename T>
RADIR_HOST_DEVICE inline T zeta_series_derivative(T e) {
  T sum = 0;
  for (int i = kZetaTerms - 1; i >= 0; --i) {
    sum = sum * e + static_cast<T>((i + 2) * zeta_coefficient(i));
  }
  return e * sum;
}

/// log Gamma(1 + e) + gamma e >= 0 for |e| <= 1/2: what remains of log Gamma
/// above its tangent at 1. Relative accuracy is kept as e -> 0.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma_above_tangent(T e) {
  return phi(e) + zeta_series(e);
}

/// log Gamma(2 + e) for |e| <= 1/2, zero at e = 0 with relative accuracy.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma_at_two(T e) {
  return T(1 - kEulerGamma) * e + zeta_series(e);
}

/// log Gamma(x), unchecked: x > 0.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma(T x) {
  // 0 < x <= 3/2: Taylor series at 1 (after one step up below 1/2), linear
  // term apart, so that the zero at 1 keeps relative accuracy.
  if (x < T(0.5)) {
    return log_gamma_above_tangent(x) - T(kEulerGamma) * x - std::log(x);
  }
  if (x <= T(1.5)) {
    const T e = x - 1;
    return log_gamma_above_tangent(e) - T(kEulerGamma) * e;
  }
  // 3/2 < x < 10: steps down to [3/2, 5/2], Taylor series at 2,
  // whose linear term keeps relative accuracy at the zero.
  if (x < T(kStirlingStart)) {
    T product = 1;
    for (; x > T(2.5); x -= 1) product *= x - 1;
    const T reduced = log_gamma_at_two(x - 2);
    return product > 1 ? reduced + std::log(product) : reduced;
  }
  // x >= 10: Stirling's formula, grouped so that the large terms do not cancel.
  return (x - T(0.5)) * (std::log(x) - 1) + T(kHalfLog2Pi - 0.5) +
         stirling_remainder(x);
}

/// digamma(x), unchecked: x > 0.
template <typename T>
RADIR_HOST_DEVICE inline T digamma(T x) {
  return std::log(x) - T(0.5) / x + stirling_remainder_derivative(x);
}

/// digamma(x) + gamma for x = 1 + e > 0, both given: relative accuracy is kept
/// at its zero e = 0 and for x -> 0.
template <typename T>
RADIR_HOST_DEVICE inline T digamma_above_euler(T x, T e) {
  if (std::fabs(e) > T(0.5)) return digamma(x) + T(kEulerGamma);
  return e / x + zeta_series_derivative(e);
}

/// trigamma(x), unchecked: x > 0.
template <typename T>
RADIR_HOST_DEVICE inline T trigamma(T x) {
  return 1 / x + T(0.5) / (x * x) + stirling_remainder_second_derivative(x);
}

/// log Gamma(a + 1/2) - log Gamma(a), unchecked: a > 0. Stirling's formula
/// twice; a log1p(1/(2a)) - 1/2 is -a phi(1/(2a)), so nothing cancels for
/// large a.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma_half_step(T a) {
  const T half = T(0.5);
  return half * std::log(a) - a * phi(half / a) +
         (stirling_remainder(a + half) - stirling_remainder(a));
}

/// digamma(a + 1/2) - digamma(a), the derivative of the former.
template <typename T>
RADIR_HOST_DEVICE inline T digamma_half_step(T a) {
  const T half = T(0.5);
  return std::log1p(half / a) + half / (a * (2 * a + 1)) +
         (stirling_remainder_derivative(a + half) -
          stirling_remainder_derivative(a));
}

}  // namespace detail

/// log Gamma(x). Domain: x > 0 and finite, otherwise DomainError.
/// Accuracy (632 points in 1e-30..1e30): 2 eps relative in double and float,
/// next to the zeros at 1 and 2 included.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma(T x) {
  RADIR_MATH_REQUIRE(detail::is_positive(x),
                     "log_gamma: x must be finite and > 0, but got ", x);
  return detail::log_gamma(x);
}

/// digamma(x) = d/dx log Gamma(x). Domain: x > 0 and finite, otherwise
/// DomainError. Accuracy: 2 eps relative; next to the zero at 1.4616 the error
/// is 1 eps absolute.
template <typename T>
RADIR_HOST_DEVICE inline T digamma(T x) {
  RADIR_MATH_REQUIRE(detail::is_positive(x),
                     "digamma: x must be finite and > 0, but got ", x);
  return detail::digamma(x);
}

/// trigamma(x) = d^2/dx^2 log Gamma(x). Domain: x > 0 and finite, otherwise
/// DomainError. Accuracy: 2 eps relative.
template <typename T>
RADIR_HOST_DEVICE inline T trigamma(T x) {
  RADIR_MATH_REQUIRE(detail::is_positive(x),
                     "trigamma: x must be finite and > 0, but got ", x);
  return detail::trigamma(x);
}

/// log Gamma(a + 1/2) - log Gamma(a), the log-normalizer of Student's t.
/// Domain: a > 0 and finite, otherwise DomainError. Accuracy: 3 eps relative;
/// next to its zero at 1.19 the error is 1 eps absolute.
template <typename T>
RADIR_HOST_DEVICE inline T log_gamma_half_step(T a) {
  RADIR_MATH_REQUIRE(detail::is_positive(a),
                     "log_gamma_half_step: a must be finite and > 0, but got ",
                     a);
  return detail::log_gamma_half_step(a);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
