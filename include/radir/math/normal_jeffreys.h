#pragma once

#include <cmath>

#include "radir/math/constants.h"
#include "radir/math/domain.h"

// The divergence of a normal from the log-uniform prior, without the usual
// fitted approximation.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

// G. Rybicki's sum for Dawson's integral: its error at this step is below
// exp(-(pi/0.5)^2), less than a rounding.
constexpr double kDawsonStep = 0.25;
// From here on the asymptotic series does not fall behind a rounding.
constexpr double kDawsonLarge = 8;
constexpr int kDawsonTerms = 14;

/// sum over k of (2k-1)!! / (2 x^2)^k divisor(k), from k = first on.
template <typename Divisor>
inline double dawson_series(double x, int first, Divisor divisor) {
  double term = 1, sum = 0;
  for (int k = 0; k < kDawsonTerms; ++k) {
    if (k >= first) sum += term / divisor(k);
    term *= (2 * k + 1) / (2 * x * x);
  }
  return sum;
}

/// sum over odd n > 0 of term(n, n step) / n, up to where it has ended for x.
template <typename Term>
inline double odd_sum(double x, Term term) {
  double sum = 0;
  for (int n = 1; n * kDawsonStep < x + 7; n += 2) {
    sum += term(n * kDawsonStep) / n;
  }
  return sum;
}

}  // namespace detail

/// Dawson's integral e^{-x^2} int_0^x e^{t^2} dt for x >= 0. Measured error: 4
/// eps.
inline double dawson(double x) {
  RADIR_MATH_REQUIRE(detail::is_non_negative(x),
                     "dawson: need finite x >= 0, but got ", x);
  if (x > detail::kDawsonLarge) {
    return detail::dawson_series(x, 0, [](int) { return 1.0; }) / (2 * x);
  }
  return 2 / std::sqrt(detail::kPi) * detail::odd_sum(x, [&](double node) {
           return std::exp(-x * x - node * node) * std::sinh(2 * x * node);
         });
}

/// KL( N(mu, alpha mu^2) || 1/|w| ), whose constant is chosen so that it goes
/// to 0 for large alpha: with u = 1/(2 alpha), u 2F2(1, 1; 3/2, 2; -u), the
/// integral of 2 dawson from 0 to sqrt(u).
inline double kl_normal_jeffreys(double log_alpha) {
  RADIR_MATH_REQUIRE(detail::is_finite(log_alpha),
                     "kl_normal_jeffreys: log alpha must be finite, but is ",
                     log_alpha);
  const double u = std::exp(-log_alpha) / 2;
  if (u < 1) {
    double term = u, sum = 0;
    for (int k = 0; k < 24; ++k) {
      sum += term / (k + 1);
      term *= -u / (k + 1.5);
    }
    return sum;
  }
  const double x = std::sqrt(u);
  if (x > detail::kDawsonLarge) {
    const double constant = detail::kEulerGamma / 2 + detail::kLog2;
    const double log_x = -(log_alpha + detail::kLog2) / 2;
    return constant + log_x -
           detail::dawson_series(x, 1, [](int k) { return 2.0 * k; });
  }
  return detail::odd_sum(x, [&](double node) {
    return std::erf(x - node) - std::erf(x + node) + 2 * std::erf(node);
  });
}

/// Its derivative by log alpha.
inline double kl_normal_jeffreys_slope(double log_alpha) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(log_alpha),
      "kl_normal_jeffreys_slope: log alpha must be finite, but is ", log_alpha);
  const double x = std::sqrt(std::exp(-log_alpha) / 2);
  return x > 1e150 ? -0.5 : -x * dawson(x);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
