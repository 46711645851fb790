#pragma once

#include <cmath>

#include "radir/math/bessel.h"
#include "radir/math/constants.h"
#include "radir/math/domain.h"
#include "radir/math/gamma.h"

// The approximations of the article (Oh, Adamczewski, Park, "Radial and
// Directional Posteriors for Bayesian Neural Networks", 2019), with its slips
// corrected, for comparison with bessel.h and vmf.h. The bounds of the ratio
// are Theorems 4 and 5 of Ruiz-Antolin and Segura, "A new type of sharp bounds
// for ratios of modified Bessel functions", 2016. Nothing else uses these.

namespace radir::math {
inline namespace RADIR_ISA {
namespace article {
namespace detail {

using math::detail::is_bessel_argument;

/// B_alpha(nu, z) of Theorem 5.
template <typename T>
RADIR_HOST_DEVICE inline T theorem5_bound(T nu, T z, T alpha) {
  const T lambda = nu + (alpha - 1) / 2;
  const T delta =
      nu - T(0.5) + lambda / (2 * std::sqrt(lambda * lambda + z * z));
  return z / (delta + std::sqrt(delta * delta + z * z));
}

/// The average of B_2 and B_0; nu > 1/2 or z > 0.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_average_theorem5(T nu, T z) {
  return (theorem5_bound(nu, z, T(2)) + theorem5_bound(nu, z, T(0))) / 2;
}

}  // namespace detail

/// Theorem 4: z/(nu - 1/2 + sqrt((nu + 1/2)^2 + z^2)), below
/// I_nu(z)/I_{nu-1}(z). Domain: nu >= 0, z >= 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_lower_theorem4(T nu, T z) {
  RADIR_MATH_REQUIRE(
      detail::is_bessel_argument(nu) && detail::is_bessel_argument(z),
      "ratio_lower_theorem4: needs nu >= 0 and z >= 0, but got nu = ", nu,
      ", z = ", z);
  const T half = T(0.5);
  return z / (nu - half + std::sqrt((nu + half) * (nu + half) + z * z));
}

/// Theorem 4: z/(nu - 1 + sqrt((nu + 1)^2 + z^2)), above I_nu(z)/I_{nu-1}(z).
/// Domain: nu >= 0, z >= 0 and not both 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_upper_theorem4(T nu, T z) {
  RADIR_MATH_REQUIRE(detail::is_bessel_argument(nu) &&
                         detail::is_bessel_argument(z) && (nu > 0 || z > 0),
                     "ratio_upper_theorem4: needs nu >= 0 and z >= 0, one of "
                     "them positive, but got nu = ",
                     nu, ", z = ", z);
  return z / (nu - 1 + std::sqrt((nu + 1) * (nu + 1) + z * z));
}

/// Theorem 5: B_2(nu, z), below I_nu(z)/I_{nu-1}(z). Domain: nu >= 0, z >= 0,
/// not both 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_lower_theorem5(T nu, T z) {
  RADIR_MATH_REQUIRE(detail::is_bessel_argument(nu) &&
                         detail::is_bessel_argument(z) && (nu > 0 || z > 0),
                     "ratio_lower_theorem5: needs nu >= 0 and z >= 0, one of "
                     "them positive, but got nu = ",
                     nu, ", z = ", z);
  return detail::theorem5_bound(nu, z, T(2));
}

/// Theorem 5: B_0(nu, z), above I_nu(z)/I_{nu-1}(z); it is 1 everywhere at
/// nu = 1/2. Domain: nu >= 1/2, z >= 0, otherwise DomainError: below, B_0 is no
/// upper bound.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_upper_theorem5(T nu, T z) {
  RADIR_MATH_REQUIRE(
      nu >= T(0.5) && detail::is_bessel_argument(nu) &&
          detail::is_bessel_argument(z),
      "ratio_upper_theorem5: needs nu >= 1/2 and z >= 0, but got nu = ", nu,
      ", z = ", z);
  return nu > T(0.5) ? detail::theorem5_bound(nu, z, T(0)) : T(1);
}

/// The average of the bounds of Theorem 4. Relative error 2e-2 at nu = 1,
/// 2e-4 at nu = 100.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_average_theorem4(T nu, T z) {
  return (ratio_lower_theorem4(nu, z) + ratio_upper_theorem4(nu, z)) / 2;
}

/// The average of the bounds of Theorem 5, the article's choice. Relative error
/// 7e-2 at nu = 1, 4e-6 at nu = 100, 0.036/nu^2 for nu >= 20.
template <typename T>
RADIR_HOST_DEVICE inline T ratio_average_theorem5(T nu, T z) {
  return (ratio_lower_theorem5(nu, z) + ratio_upper_theorem5(nu, z)) / 2;
}

/// Which eta log_bessel_i_branches uses: the one that follows from averaging
/// its bounds, (nu + 3/2)/(2(nu + 1)), or the one printed, with nu + 1/2.
enum class Eta { Corrected, Printed };

/// The article's log I_nu(z): for z < nu the average of the bounds of Ifantis
/// and Siafarikas (1991) with log cosh z replaced by z - log 2, else the
/// leading term of the expansion for z -> infinity. Absolute error up to
/// 0.13 nu and 0.47 nu. Domain: nu >= 0, z > 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T log_bessel_i_branches(T nu, T z, Eta form) {
  RADIR_MATH_REQUIRE(
      detail::is_bessel_argument(nu) && detail::is_bessel_argument(z) && z > 0,
      "log_bessel_i_branches: needs nu >= 0 and z > 0, but got nu = ", nu,
      ", z = ", z);
  if (z >= nu) {
    return z - std::log(z) / 2 - T(math::detail::kHalfLog2Pi);
  }
  const T numerator = nu + (form == Eta::Corrected ? T(1.5) : T(0.5));
  const T eta = numerator / (2 * (nu + 1));
  return nu * std::log(z) + eta * z - (eta + nu) * T(math::detail::kLog2) -
         math::detail::log_gamma(nu + 1);
}

template <typename T>
RADIR_HOST_DEVICE inline T log_bessel_i_branches(T nu, T z) {
  return log_bessel_i_branches(nu, z, Eta::Corrected);
}

/// The article's other log I_nu(z): log I_{nu - floor(nu)}(z), here exact, plus
/// the logarithms of the ratios up to nu, each the average of the bounds of
/// Theorem 5. Absolute error up to 0.08, all of it from the lowest orders;
/// takes time proportional to nu. Domain: 0 <= nu <= 1e9, z > 0, otherwise
/// DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T log_bessel_i_ratio_sum(T nu, T z) {
  RADIR_MATH_REQUIRE(
      nu >= 0 && nu <= T(1e9) && detail::is_bessel_argument(z) && z > 0,
      "log_bessel_i_ratio_sum: needs 0 <= nu <= 1e9 and z > 0, "
      "but got nu = ",
      nu, ", z = ", z);
  const int steps = static_cast<int>(nu);
  const T fraction = nu - static_cast<T>(steps);
  T sum = log_bessel_i(fraction, z);
  for (int i = 1; i <= steps; ++i) {
    const T order = fraction + static_cast<T>(i);
    sum += std::log(detail::ratio_average_theorem5(order, z));
  }
  return sum;
}

/// A lower and an upper bound.
template <typename T>
struct Bounds {
  T lower;
  T upper;
};

/// Bounds of A'_m(kappa) from those of three ratios (Theorem 5): the article's,
/// with the sign of the first product and the sides of what is subtracted
/// corrected. They are within 1.5 % at m = 100, kappa = 300, and of little use
/// for kappa >> m. Domain: m >= 3, kappa > 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline Bounds<T> cosine_variance_bounds(T m, T kappa) {
  RADIR_MATH_REQUIRE(
      m >= 3 && detail::is_bessel_argument(m) &&
          detail::is_bessel_argument(kappa) && kappa > 0,
      "cosine_variance_bounds: needs m >= 3 and kappa > 0, but got m = ", m,
      ", kappa = ", kappa);
  const T nu = m / 2;
  const T lower = ratio_lower_theorem5(nu, kappa);
  const T upper = ratio_upper_theorem5(nu, kappa);
  const T inverse_above = 1 / ratio_lower_theorem5(nu - 1, kappa);
  const T inverse_below = 1 / ratio_upper_theorem5(nu - 1, kappa);
  return {(1 + lower * ratio_lower_theorem5(nu + 1, kappa) -
           upper * (inverse_above + upper)) /
              2,
          (1 + upper * ratio_upper_theorem5(nu + 1, kappa) -
           lower * (inverse_below + lower)) /
              2};
}

/// A'_m(kappa) from ratios approximated by `average(nu, z)`:
/// [1 + a_nu a_{nu+1} - a_nu (2 a_nu + (m-2)/kappa)]/2 with nu = m/2. With the
/// averages of Theorem 4 it has the wrong sign for kappa above 3m. Domain:
/// m >= 2, kappa > 0, otherwise DomainError.
template <typename T, typename Average>
RADIR_HOST_DEVICE inline T cosine_variance_average(T m, T kappa,
                                                   Average average) {
  RADIR_MATH_REQUIRE(
      m >= 2 && detail::is_bessel_argument(m) &&
          detail::is_bessel_argument(kappa) && kappa > 0,
      "cosine_variance_average: needs m >= 2 and kappa > 0, but got m = ", m,
      ", kappa = ", kappa);
  const T a = average(m / 2, kappa);
  return (1 + a * average(m / 2 + 1, kappa) - a * (2 * a + (m - 2) / kappa)) /
         2;
}

/// Bounds of the derivative of the divergence with respect to kappa_q:
/// (kappa_q - kappa_p cosine) times the bounds of A'(kappa_q), exchanged when
/// that factor is negative, which the article does not do. Domain: that of
/// cosine_variance_bounds, kappa_p >= 0 and |cosine| <= 1, otherwise
/// DomainError.
template <typename T>
RADIR_HOST_DEVICE inline Bounds<T> kl_gradient_bounds(T m, T kappa_q, T kappa_p,
                                                      T cosine) {
  RADIR_MATH_REQUIRE(
      detail::is_bessel_argument(kappa_p) && cosine >= -1 && cosine <= 1,
      "kl_gradient_bounds: needs kappa_p >= 0 and a cosine in "
      "[-1, 1], but got kappa_p = ",
      kappa_p, ", cosine = ", cosine);
  const Bounds<T> variance = cosine_variance_bounds(m, kappa_q);
  const T factor = kappa_q - kappa_p * cosine;
  const T a = factor * variance.lower;
  const T b = factor * variance.upper;
  return factor >= 0 ? Bounds<T>{a, b} : Bounds<T>{b, a};
}

/// The derivative with respect to kappa_q for a location-agnostic prior as the
/// article prints it, from exact ratios: (kappa_q - kappa_p)/2
/// [1 - A (r_{m/2+1} + I_{m/2-2}/I_{m/2-1} + A)]. The first term of the inner
/// bracket should be subtracted; most often the sign comes out wrong. Domain:
/// m >= 2, kappa_q > 0, kappa_p >= 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T kl_gradient_as_printed(T m, T kappa_q, T kappa_p) {
  RADIR_MATH_REQUIRE(
      m >= 2 && kappa_q > 0 && detail::is_bessel_argument(kappa_p),
      "kl_gradient_as_printed: needs m >= 2, kappa_q > 0 and kappa_p >= 0, but "
      "got m = ",
      m, ", kappa_q = ", kappa_q, ", kappa_p = ", kappa_p);
  const T mean = bessel_ratio(m / 2, kappa_q);
  const T above = bessel_ratio(m / 2 + 1, kappa_q);
  const T below = mean + (m - 2) / kappa_q;
  return (kappa_q - kappa_p) / 2 * (1 - mean * (above + below + mean));
}

}  // namespace article
}  // namespace RADIR_ISA
}  // namespace radir::math
