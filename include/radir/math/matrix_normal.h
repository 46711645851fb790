#pragma once

#include <cmath>

#include "radir/math/domain.h"
#include "radir/math/gamma.h"
#include "radir/math/radial_kl.h"

// Divergences of the matrix normal posterior of C. Louizos and M. Welling,
// "Structured and efficient variational deep learning with matrix Gaussian
// posteriors" (2016), with diagonal covariances of rows and columns.

namespace radir::math {
inline namespace RADIR_ISA {

/// The posterior Gamma(shape, rate) that each of the two precisions has, t_r of
/// the rows and t_c of the columns, whose product is that of the weights.
template <typename T>
struct ProductPrecision {
  T shape;
  T rate;
};

/// The prior of both.
constexpr double kProductPrecisionShape = 1;
constexpr double kProductPrecisionRate = 0.5;

/// The posteriors of both precisions that minimise kl_matrix_normal, given the
/// `count` weights' sum of expected squares: shape a = 1 + count/2, and a rate
/// b with b = 1/2 + (a/b) squares/2. The optimum is unique, and both are equal.
///
/// Domain: count > 0 and squares >= 0, both finite, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline ProductPrecision<T> product_precision(T count,
                                                               T squares) {
  RADIR_MATH_REQUIRE(
      detail::is_positive(count) && detail::is_non_negative(squares),
      "product_precision: need finite count > 0 and finite squares >= 0, but "
      "got count = ",
      count, ", squares = ", squares);
  const T shape = T(kProductPrecisionShape) + count / 2;
  const T half = T(kProductPrecisionRate) / 2;
  return {shape, half + std::sqrt(half * half + shape * squares / 2)};
}

/// E[t_r t_c].
template <typename T>
RADIR_HOST_DEVICE inline T mean_precision(const ProductPrecision<T>& q) {
  return (q.shape / q.rate) * (q.shape / q.rate);
}

/// KL of `count` independent normals from N(0, 1). `squares` is the sum of
/// E[w^2], `log_scales` that of the log standard deviations.
///
/// Domain: finite count > 0, squares >= 0 and log_scales, otherwise
/// DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T kl_matrix_normal(T count, T squares, T log_scales) {
  RADIR_MATH_REQUIRE(
      detail::is_positive(count) && detail::is_non_negative(squares) &&
          detail::is_finite(log_scales),
      "kl_matrix_normal: need finite count > 0, squares >= 0 and log_scales, "
      "but got count = ",
      count, ", squares = ", squares, ", log_scales = ", log_scales);
  return (squares - count) / 2 - log_scales;
}

/// The same from N(0, 1/(t_r t_c)), and of the precisions' posteriors q from
/// Gamma(1, rate 1/2).
template <typename T>
RADIR_HOST_DEVICE inline T kl_matrix_normal(T count, T squares, T log_scales,
                                            const ProductPrecision<T>& q) {
  const T mean_log = 2 * (digamma(q.shape) - std::log(q.rate));
  return kl_matrix_normal(count, mean_precision(q) * squares, log_scales) -
         count * mean_log / 2 +
         2 * kl_gamma(q.shape, q.rate, T(kProductPrecisionShape),
                      T(kProductPrecisionRate));
}

/// Minus the divergence of N(w, alpha w^2) from the log-uniform distribution,
/// up to a constant, for a relative variance 0 < alpha <= 1, where it grows
/// with alpha (D. Kingma, T. Salimans, M. Welling, "Variational dropout and the
/// local reparameterization trick", 2015, equation 14).
///
/// Domain: finite alpha > 0, otherwise DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T relative_noise_entropy(T alpha) {
  RADIR_MATH_REQUIRE(
      detail::is_positive(alpha),
      "relative_noise_entropy: alpha must be finite and > 0, but is ", alpha);
  return std::log(alpha) / 2 +
         alpha *
             (T(1.16145124) + alpha * (T(-1.50204118) + alpha * T(0.58629921)));
}

/// Its derivative by log alpha.
template <typename T>
RADIR_HOST_DEVICE inline T relative_noise_entropy_slope(T alpha) {
  RADIR_MATH_REQUIRE(
      detail::is_positive(alpha),
      "relative_noise_entropy_slope: alpha must be finite and > 0, but is ",
      alpha);
  return T(0.5) + alpha * (T(1.16145124) +
                           alpha * (T(-3.00408236) + alpha * T(1.75889763)));
}

}  // namespace RADIR_ISA
}  // namespace radir::math
