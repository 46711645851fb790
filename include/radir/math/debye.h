#pragma once

#include <cmath>

#include "radir/math/detail/debye_coefficients.h"
#include "radir/math/domain.h"

// The Debye (uniform) expansion of the modified Bessel functions I_n(z) in
// inverse powers of p = sqrt(n^2 + z^2), from the Riccati equation
// z w' + w^2 = z^2 + n^2 of w = z I_n'/I_n. It holds wherever p is large, small
// n with large z included. Private to the mathematics.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// Where the expansion reaches the precision of T, and with how many terms.
template <typename T>
struct Expansion {
  static constexpr T kRadius = 36;  // p from which kTerms terms are enough
  static constexpr int kTerms = 16;
};
template <>
struct Expansion<float> {
  static constexpr float kRadius = 24;
  static constexpr int kTerms = 6;
};

/// A point (n, z) of the expansion.
template <typename T>
struct DebyePoint {
  T n, z, p, inverse_p;

  RADIR_HOST_DEVICE DebyePoint(T order, T argument)
      : n(order),
        z(argument),
        p(std::sqrt(order * order + argument * argument)),
        inverse_p(1 / p) {}
  RADIR_HOST_DEVICE T q() const { return (z * inverse_p) * (z * inverse_p); }
  RADIR_HOST_DEVICE T sigma() const {
    return (n * inverse_p) * (n * inverse_p);
  }
};

// Polynomials S_k, k = 1, 2, ..., of q = (z/p)^2 or sigma = (n/p)^2 = 1 - q,
// each a type with the degree of S_k and its coefficients. Only those of the
// ratio and of the logarithm are tabulated, the others follow by
// differentiation; neighbouring coefficients have opposite signs, so the
// differences below lose no digits.

/// Q_k(q): I_{n+1}/I_n = z (1/(p+n) + sum_k Q_k p^{-1-k}).
struct RatioSeries {
  template <typename T>
  RADIR_HOST_DEVICE static T variable(const DebyePoint<T>& at) {
    return at.q();
  }
  static constexpr int degree(int k) { return k - 1; }
  static constexpr double coefficient(int k, int j) {
    return j < 0 || j >= k ? 0 : DebyeRatio::value[k - 1][j];
  }
  /// Of sigma^j: L_{k-1} is minus the integral of Q_k.
  static constexpr double sigma_coefficient(int k, int j) {
    if (j < 0 || j >= k) return 0;
    return k == 1 ? -0.5 : -(2 * j + k - 1) * DebyeLog::value[k - 2][j];
  }
};

/// D_k = 2(1-q)(Q_k + q Q_k') - ((k-1)q + 1) Q_k: the derivative of the ratio.
struct VarianceSeries {
  template <typename T>
  RADIR_HOST_DEVICE static T variable(const DebyePoint<T>& at) {
    return at.q();
  }
  static constexpr int degree(int k) { return k; }
  static constexpr double coefficient(int k, int j) {
    return (2 * j + 1) * RatioSeries::coefficient(k, j) -
           (2 * j + k - 1) * RatioSeries::coefficient(k, j - 1);
  }
  static constexpr double sigma_coefficient(int k, int j) {
    return (2 * j + k - 1) * RatioSeries::sigma_coefficient(k, j - 1) -
           (2 * j + k) * RatioSeries::sigma_coefficient(k, j);
  }
};

/// E_k = (1+k) D_k - 2(1-q) D_k': the second derivative of the ratio.
struct VarianceSlopeSeries {
  template <typename T>
  RADIR_HOST_DEVICE static T variable(const DebyePoint<T>& at) {
    return at.q();
  }
  static constexpr int degree(int k) { return k; }
  static constexpr double coefficient(int k, int j) {
    return (1 + k + 2 * j) * VarianceSeries::coefficient(k, j) -
           2 * (j + 1) * VarianceSeries::coefficient(k, j + 1);
  }
};

/// (D_k - Q_k)/q: the derivative of ratio/z.
struct RatioOverArgumentSlopeSeries {
  template <typename T>
  RADIR_HOST_DEVICE static T variable(const DebyePoint<T>& at) {
    return at.q();
  }
  static constexpr int degree(int k) { return k - 1; }
  static constexpr double coefficient(int k, int j) {
    return VarianceSeries::coefficient(k, j + 1) -
           RatioSeries::coefficient(k, j + 1);
  }
};

/// L_k(sigma), sigma = (n/p)^2: the logarithm of I_n.
struct LogSeries {
  template <typename T>
  RADIR_HOST_DEVICE static T variable(const DebyePoint<T>& at) {
    return at.sigma();
  }
  static constexpr int degree(int k) { return k; }
  static constexpr double coefficient(int k, int j) {
    return DebyeLog::value[k - 1][j];
  }
  static constexpr double sigma_coefficient(int k, int j) {
    return coefficient(k, j);
  }
};

// Constants rather than calls, so that device code may name them.
template <typename Series, int k, int j>
constexpr double kDebyeCoefficient = Series::coefficient(k, j);
template <typename Series, int k>
constexpr int kDebyeDegree = Series::degree(k);

/// S_k(x) from its term of degree j on, divided by x^j; unrolled Horner.
template <typename Series, int k, int j = 0, typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline T debye_polynomial(T x) {
  constexpr T coefficient = static_cast<T>(kDebyeCoefficient<Series, k, j>);
  if constexpr (j == kDebyeDegree<Series, k>) {
    return coefficient;
  } else {
    return coefficient + x * debye_polynomial<Series, k, j + 1>(x);
  }
}

/// sum of S_i(x) y^{i-k} over k <= i <= kTerms; unrolled.
template <typename Series, int kTerms, int k = 1, typename T>
[[gnu::always_inline]] RADIR_HOST_DEVICE inline T debye_sum(T x, T y) {
  if constexpr (k == kTerms) {
    return debye_polynomial<Series, k>(x);
  } else {
    return debye_polynomial<Series, k>(x) +
           y * debye_sum<Series, kTerms, k + 1>(x, y);
  }
}

// What sums the expansion: sum<Series>(at) is sum_k S_k p^{-k}.

/// Always the same number of terms, for loops over arrays.
template <int kTerms>
struct FixedTerms {
  template <typename Series, typename T>
  [[gnu::always_inline]] RADIR_HOST_DEVICE inline T sum(
      const DebyePoint<T>& at) const {
    return at.inverse_p *
           debye_sum<Series, kTerms>(Series::variable(at), at.inverse_p);
  }
};

/// As many terms as p asks for: the first one left out is below a tenth of the
/// rounding unit.
struct TermsByRadius {
  template <typename Series>
  RADIR_HOST_DEVICE inline double sum(const DebyePoint<double>& at) const {
    if (at.p >= 2600) return FixedTerms<5>().sum<Series>(at);
    if (at.p >= 190) return FixedTerms<8>().sum<Series>(at);
    return FixedTerms<Expansion<double>::kTerms>().sum<Series>(at);
  }
  template <typename Series>
  RADIR_HOST_DEVICE inline float sum(const DebyePoint<float>& at) const {
    if (at.p >= 110) return FixedTerms<4>().sum<Series>(at);
    return FixedTerms<Expansion<float>::kTerms>().sum<Series>(at);
  }
};

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
