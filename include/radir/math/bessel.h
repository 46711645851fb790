#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/debye.h"
#include "radir/math/domain.h"
#include "radir/math/gamma.h"

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// Largest order and argument of the Bessel functions: their squares and the
/// products of those must not overflow.
template <typename T>
constexpr T kMaxBesselArgument = sizeof(T) == sizeof(double) ? T(1e150)
                                                             : T(1e18f);

template <typename T>
RADIR_HOST_DEVICE inline bool is_bessel_argument(T z) {
  return z >= 0 && z <= kMaxBesselArgument<T>;
}

/// Orders to go up from n until the expansion holds at (n + steps, z).
template <typename T>
RADIR_HOST_DEVICE inline int steps_to_expansion(T n, T z) {
  constexpr T kRadius = Expansion<T>::kRadius;
  const T missing = kRadius * kRadius - z * z;
  if (n * n >= missing) return 0;
  return static_cast<int>(std::ceil(std::sqrt(missing) - n));
}

/// I_{n+1}/(z I_n) by the expansion.
template <typename Terms, typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline T expanded_ratio_over_argument(
    const Terms& terms, const DebyePoint<T>& at) {
  return 1 / (at.p + at.n) + at.inverse_p * terms.template sum<RatioSeries>(at);
}

/// I_{j+1}(z) and I_j(z) up to a common factor, at orders going down from one
/// where their ratio is known. The recurrence I_{j-1} = I_{j+1} + (2j/z) I_j is
/// stable in this direction: all its terms are positive. It runs on
/// S_j = I_j y^{-j}, y = min(z, 1), which neither overflows (S grows at most by
/// 2^36 36! in double, 2^24 24! in float) nor divides by z.
template <typename T>
struct BesselDescent {
  T y_squared;
  T inverse;  // y/z = 1/max(z, 1)
  T upper;    // S_{j+1}
  T lower;    // S_j

  /// From orders (j+1, j) to (j, j-1).
  [[gnu::always_inline]] RADIR_HOST_DEVICE void step(T j) {
    const T next = y_squared * upper + 2 * j * inverse * lower;
    upper = lower;
    lower = next;
  }
};

/// Starts at an order j with known I_{j+1}/(z I_j), where S_j = scale.
template <typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline BesselDescent<T> start_descent(
    T z, T ratio_over_argument, T scale) {
  const T max = z < 1 ? T(1) : z;
  const T y = z < 1 ? z : T(1);
  return {y * y, 1 / max, max * ratio_over_argument * scale, scale};
}

/// The pair (I_{n+1}(z), I_n(z)), scaled; n >= -1/2, z >= 0.
template <typename T>
RADIR_HOST_DEVICE inline BesselDescent<T> bessel_pair(T n, T z) {
  // p >= radius: the expansion, no step. Elsewhere: the expansion at order
  // n + steps, then back down. j comes from n each time: decrementing would
  // add up rounding errors. Measured: 1.6 eps (double), 1.2 eps (float).
  const int steps = steps_to_expansion(n, z);
  const DebyePoint<T> top(n + static_cast<T>(steps), z);
  BesselDescent<T> pair = start_descent(
      z, expanded_ratio_over_argument(TermsByRadius(), top), T(1));
  for (int i = steps; i > 0; --i) pair.step(n + static_cast<T>(i));
  return pair;
}

/// I_{n+1}(z)/I_n(z), n >= -1/2, z >= 0.
template <typename T>
RADIR_HOST_DEVICE inline T bessel_ratio_up(T n, T z) {
  const BesselDescent<T> pair = bessel_pair(n, z);
  return (z < 1 ? z : T(1)) * pair.upper / pair.lower;
}

/// log I_nu(z) itself, or what is left of it without nu log z, or without
/// nu log z + z.
enum class BesselLogForm { Plain, Partition, ScaledPartition };

struct StandardLog {
  template <typename T>
  RADIR_HOST_DEVICE T operator()(T x) const {
    return std::log(x);
  }
  template <typename T>
  RADIR_HOST_DEVICE T quotient(T x, T y) const {
    constexpr T kTiny = T(1e-20);  // the quotient could be subnormal
    return x > kTiny ? std::log(x / y) : std::log(x) - std::log(y);
  }
};

/// The logarithm by the expansion; the terms in log z cancel on paper.
template <BesselLogForm form, typename Terms, typename Log, typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline T expanded_log_bessel(
    const Terms& terms, const DebyePoint<T>& at, Log log) {
  const T rest =
      terms.template sum<LogSeries>(at) - (T(kHalfLog2Pi) + log(at.p) / 2);
  const T sum = at.n + at.p;
  if constexpr (form == BesselLogForm::Plain) {
    return at.p + at.n * log.quotient(at.z, sum) + rest;
  } else if constexpr (form == BesselLogForm::Partition) {
    return at.p - at.n * log(sum) + rest;
  } else {
    return at.n * at.n / (at.p + at.z) - at.n * log(sum) + rest;
  }
}

/// sum_{k>=1} (z^2/4)^k / (k! (nu+1)_k): I_nu(z) is (z/2)^nu/Gamma(nu+1) times
/// one plus this. All terms are positive.
template <typename T>
RADIR_HOST_DEVICE inline T bessel_power_series(T nu, T z) {
  constexpr T kTiny = kEpsilon<T> / 4;
  const T x = z * z / 4;
  T term = x / (nu + 1);
  T sum = term;
  for (T k = 2; term > kTiny * sum; k += 1) {
    term *= x / (k * (nu + k));
    sum += term;
  }
  return sum;
}

template <BesselLogForm form, typename T>
RADIR_HOST_DEVICE inline T log_bessel(T nu, T z) {
  // p >= radius: the expansion. Measured: 2.4 eps of max(|log I|, p) (double),
  // 1.6 eps (float).
  if (steps_to_expansion(nu, z) == 0) {
    return expanded_log_bessel<form>(TermsByRadius(), DebyePoint<T>(nu, z),
                                     StandardLog());
  }
  // p < radius: the power series, at most some 70 terms. Measured: the same.
  const T series = bessel_power_series(nu, z);
  if constexpr (form == BesselLogForm::Plain) {
    const T rest = std::log1p(series) - log_gamma(nu + 1);
    return nu > 0 ? nu * (std::log(z) - T(kLog2)) + rest : rest;
  } else if constexpr (form == BesselLogForm::Partition) {
    return std::log1p(series) - (log_gamma(nu + 1) + nu * T(kLog2));
  } else {
    return std::log((1 + series) * std::exp(-z)) -
           (log_gamma(nu + 1) + nu * T(kLog2));
  }
}

}  // namespace detail

/// I_nu(z) / I_{nu-1}(z), the ratio of modified Bessel functions of the first
/// kind. It rises from 0 at z = 0 to 1.
///
/// Domain: 1/2 <= nu and 0 <= z, both at most 1e150 (double) or 1e18 (float),
/// otherwise DomainError. Accuracy: 2 eps relative.
template <typename T>
RADIR_HOST_DEVICE inline T bessel_ratio(T nu, T z) {
  RADIR_MATH_REQUIRE(nu >= T(0.5) && detail::is_bessel_argument(nu),
                     "bessel_ratio: nu must be in [1/2, ",
                     detail::kMaxBesselArgument<T>, "], but got ", nu);
  RADIR_MATH_REQUIRE(detail::is_bessel_argument(z),
                     "bessel_ratio: z must be in [0, ",
                     detail::kMaxBesselArgument<T>, "], but got ", z);
  return detail::bessel_ratio_up(nu - 1, z);
}

/// log I_nu(z); minus infinity at z = 0 unless nu = 0.
///
/// Domain: 0 <= nu and 0 <= z, both at most 1e150 (double) or 1e18 (float),
/// otherwise DomainError. Accuracy: 4 eps of max(|log I_nu(z)|, hypot(nu, z)),
/// which is what the rounding of z alone amounts to.
template <typename T>
RADIR_HOST_DEVICE inline T log_bessel_i(T nu, T z) {
  RADIR_MATH_REQUIRE(detail::is_bessel_argument(nu),
                     "log_bessel_i: nu must be in [0, ",
                     detail::kMaxBesselArgument<T>, "], but got ", nu);
  RADIR_MATH_REQUIRE(detail::is_bessel_argument(z),
                     "log_bessel_i: z must be in [0, ",
                     detail::kMaxBesselArgument<T>, "], but got ", z);
  return detail::log_bessel<detail::BesselLogForm::Plain>(nu, z);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
