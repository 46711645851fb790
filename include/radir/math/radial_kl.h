#pragma once

#include <cmath>
#include <ostream>

#include "radir/math/domain.h"
#include "radir/math/gamma.h"
#include "radir/math/gauss_legendre.h"
#include "radir/math/phi.h"

// Divergences KL(q || p) between distributions of a positive (for the normal:
// real) number, with their gradients. Each is written as a sum of parts that
// are never negative, with phi(t) = t - log1p(t) and R(a) the remainder of
// Stirling's formula (gamma.h): it stays accurate where q is close to p, and a
// divergence is never negative.
//
// Accuracy (209 reference values): divergences 6 eps in double and 10 in float,
// gradients 12 and 20, where the result is not ill conditioned; everywhere
// within 4 eps of the change caused by moving every argument by one part.
//
// All throw DomainError when a location is not finite, or when a variance,
// shape, scale or rate is not finite and > 0.

namespace radir::math {
inline namespace RADIR_ISA {

/// The derivatives of KL(q || p) with respect to the two parameters of q and
/// the two of p, in the order in which the functions take them.
template <typename T>
struct KlGradient {
  T q1, q2, p1, p2;
};

namespace detail {

/// The arguments of a divergence as messages show them: (1, 2, 3, 4).
template <typename T>
struct FourArguments {
  T q1, q2, p1, p2;
  friend std::ostream& operator<<(std::ostream& out, FourArguments x) {
    return out << '(' << x.q1 << ", " << x.q2 << ", " << x.p1 << ", " << x.p2
               << ')';
  }
};

// KL(log-normal || Gamma) and KL(log-normal || inverse Gamma) are one function
// of the shape a of p, the variance v of log x, and e = E[x]/scale (Gamma) or
// scale E[1/x] (inverse Gamma), given here by its log excess l = log(e/a):
//   KL = a phi(e/a - 1) + phi(a v - 1)/2 + R(a).

template <typename T>
RADIR_HOST_DEVICE inline T kl_of_excess(T l, T variance, T shape) {
  return shape * phi_of_log(l) + phi_of_ratio(variance, 1 / shape) / 2 +
         stirling_remainder(shape);
}

/// d KL/dv = (e - 1/v)/2.
template <typename T>
RADIR_HOST_DEVICE inline T variance_slope(T l, T variance, T shape) {
  return std::expm1(l + std::log(shape * variance)) / (2 * variance);
}

template <typename T>
RADIR_HOST_DEVICE inline T log_excess_gamma(T mu, T variance, T shape,
                                            T scale) {
  return mu - std::log(shape * scale) + variance / 2;
}

template <typename T>
RADIR_HOST_DEVICE inline T log_excess_inverse_gamma(T mu, T variance, T shape,
                                                    T scale) {
  return std::log(scale / shape) - mu + variance / 2;
}

template <typename T>
RADIR_HOST_DEVICE inline T kl_lognormal_gamma(T mu, T variance, T shape,
                                              T scale) {
  return kl_of_excess(log_excess_gamma(mu, variance, shape, scale), variance,
                      shape);
}

template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_lognormal_gamma_gradient(T mu,
                                                                   T variance,
                                                                   T shape,
                                                                   T scale) {
  const T l = log_excess_gamma(mu, variance, shape, scale);
  const T slope = shape * std::expm1(l);  // e - a
  return {slope, variance_slope(l, variance, shape),
          digamma(shape) - (mu - std::log(scale)), -slope / scale};
}

template <typename T>
RADIR_HOST_DEVICE inline T kl_lognormal_inverse_gamma(T mu, T variance, T shape,
                                                      T scale) {
  return kl_of_excess(log_excess_inverse_gamma(mu, variance, shape, scale),
                      variance, shape);
}

template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_lognormal_inverse_gamma_gradient(
    T mu, T variance, T shape, T scale) {
  const T l = log_excess_inverse_gamma(mu, variance, shape, scale);
  const T slope = shape * std::expm1(l);  // e - a
  return {-slope, variance_slope(l, variance, shape),
          digamma(shape) - (std::log(scale) - mu), slope / scale};
}

/// R(x) - R(a) - (x - a) R'(a) >= 0: how far R lies above its tangent at a.
template <typename T>
RADIR_HOST_DEVICE inline T stirling_above_tangent(T x, T a) {
  const T step = x - a;
  // |x - a| <= a/2: the integral of (1 - t) R''(a + t step) step^2, a sum of
  // positive terms; ten points give 1e-13 of it.
  if (std::fabs(step) <= a / 2) {
    return step * step * integrate<10, T>([=](T t) {
             return (1 - t) *
                    stirling_remainder_second_derivative(a + t * step);
           });
  }
  return stirling_remainder(x) - stirling_remainder(a) -
         step * stirling_remainder_derivative(a);
}

/// digamma(x) - digamma(a).
template <typename T>
RADIR_HOST_DEVICE inline T digamma_difference(T x, T a) {
  const T step = x - a;
  // |x - a| <= a/2: the integral of trigamma, as above.
  if (std::fabs(step) <= a / 2) {
    return step * integrate<10, T>([=](T t) { return trigamma(a + t * step); });
  }
  return digamma(x) - digamma(a);
}

/// log(x/y), accurate for x near y.
template <typename T>
RADIR_HOST_DEVICE inline T log_ratio(T x, T y) {
  const T t = (x - y) / y;
  return std::fabs(t) < T(0.5) ? std::log1p(t) : std::log(x / y);
}

/// a b - c d with one rounding, even where the products nearly cancel
/// (Kahan's difference of products).
template <typename T>
RADIR_HOST_DEVICE inline T difference_of_products(T a, T b, T c, T d) {
  const T product = c * d;
  return std::fma(a, b, -product) + std::fma(-c, d, product);
}

template <typename T>
RADIR_HOST_DEVICE inline T kl_gamma(T shape_q, T rate_q, T shape_p, T rate_p) {
  // mean_q/mean_p - 1
  const T excess = difference_of_products(shape_q, rate_p, shape_p, rate_q) /
                   rate_q / shape_p;
  const T means =
      excess > T(-0.4)
          ? phi(excess)
          : excess - std::log(shape_q / shape_p * (rate_p / rate_q));
  return shape_p * means + phi_of_ratio(shape_p, shape_q) / 2 +
         stirling_above_tangent(shape_p, shape_q);
}

template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_gamma_gradient(T shape_q, T rate_q,
                                                         T shape_p, T rate_p) {
  const T cross = difference_of_products(shape_q, rate_p, shape_p, rate_q);
  // trigamma(a) = 1/a + [1/(2 a^2) + R''(a)]; the 1/a joins the rates.
  const T curvature = T(0.5) / (shape_q * shape_q) +
                      stirling_remainder_second_derivative(shape_q);
  return {cross / rate_q / shape_q + (shape_q - shape_p) * curvature,
          -cross / rate_q / rate_q,
          digamma_difference(shape_p, shape_q) + log_ratio(rate_q, rate_p),
          cross / rate_q / rate_p};
}

/// With c = kp/kq and T = (lq/lp)^kp Gamma(1 + c) = E_q[(x/lp)^kp]:
///   KL = phi(T - 1) + [log Gamma(c) + gamma (c - 1)],
/// the bracket being log Gamma above its tangent at 1.
template <typename T>
struct WeibullPair {
  T shape_ratio;  // c
  T shape_gap;    // c - 1
  T log_scales;   // log(lq/lp)
  T log_power;    // log T
};

template <typename T>
RADIR_HOST_DEVICE inline WeibullPair<T> weibull_pair(T scale_q, T shape_q,
                                                     T scale_p, T shape_p) {
  const T gap = (shape_p - shape_q) / shape_q;
  const T log_scales = log_ratio(scale_q, scale_p);
  const T log_moment =
      std::fabs(gap) <= T(0.5) ? log_gamma_at_two(gap) : log_gamma(2 + gap);
  return {shape_p / shape_q, gap, log_scales,
          shape_p * log_scales + log_moment};
}

template <typename T>
RADIR_HOST_DEVICE inline T kl_weibull(T scale_q, T shape_q, T scale_p,
                                      T shape_p) {
  const WeibullPair<T> pair = weibull_pair(scale_q, shape_q, scale_p, shape_p);
  const T gap = pair.shape_gap;
  const T above_tangent =
      std::fabs(gap) <= T(0.5)
          ? log_gamma_above_tangent(gap)
          : log_gamma(pair.shape_ratio) + T(kEulerGamma) * gap;
  return phi_of_log(pair.log_power) + above_tangent;
}

template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_weibull_gradient(T scale_q, T shape_q,
                                                           T scale_p,
                                                           T shape_p) {
  const WeibullPair<T> pair = weibull_pair(scale_q, shape_q, scale_p, shape_p);
  const T excess = std::expm1(pair.log_power);  // T - 1
  // (T - 1) digamma(1 + c) + digamma(c) + gamma, which is kq d KL/d kp at fixed
  // scales but for the term in log(lq/lp).
  const T shape_slope = excess * digamma(2 + pair.shape_gap) +
                        digamma_above_euler(pair.shape_ratio, pair.shape_gap);
  return {shape_p / scale_q * excess, -pair.shape_ratio * shape_slope / shape_q,
          -shape_p / scale_p * excess,
          excess * pair.log_scales + shape_slope / shape_q};
}

template <typename T>
RADIR_HOST_DEVICE inline T kl_normal(T mean_q, T variance_q, T mean_p,
                                     T variance_p) {
  const T gap = mean_q - mean_p;
  return (phi_of_ratio(variance_q, variance_p) + gap * gap / variance_p) / 2;
}

template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_normal_gradient(T mean_q,
                                                          T variance_q,
                                                          T mean_p,
                                                          T variance_p) {
  const T gap = mean_q - mean_p;
  const T excess = (variance_q - variance_p) / variance_p;
  return {gap / variance_p, excess / (2 * variance_q), -gap / variance_p,
          -(excess + gap * gap / variance_p) / (2 * variance_p)};
}

}  // namespace detail

/// KL( LogNormal(mu, variance) || Gamma(shape, scale) ), log x having mean mu
/// and that variance under q. With e = E[x]/scale = exp(mu + variance/2)/scale:
///   shape phi(e/shape - 1) + phi(shape variance - 1)/2 + R(shape).
/// Its least value over q is R(shape) ((1 - log 2)/2 at shape 1/2).
template <typename T>
RADIR_HOST_DEVICE inline T kl_lognormal_gamma(T mu, T variance, T shape,
                                              T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu) && detail::all_positive(variance, shape, scale),
      "kl_lognormal_gamma: arguments must be finite and variance, shape, scale "
      "> 0, but got (mu, variance, shape, scale) = ",
      detail::FourArguments<T>{mu, variance, shape, scale});
  return detail::kl_lognormal_gamma(mu, variance, shape, scale);
}

/// The gradient of kl_lognormal_gamma.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_lognormal_gamma_gradient(T mu,
                                                                   T variance,
                                                                   T shape,
                                                                   T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu) && detail::all_positive(variance, shape, scale),
      "kl_lognormal_gamma_gradient: arguments must be finite and variance, "
      "shape, scale > 0, but got (mu, variance, shape, scale) = ",
      detail::FourArguments<T>{mu, variance, shape, scale});
  return detail::kl_lognormal_gamma_gradient(mu, variance, shape, scale);
}

/// KL( LogNormal(mu, variance) || InverseGamma(shape, scale) ), p having
/// density proportional to x^{-shape-1} exp(-scale/x). The formula of
/// kl_lognormal_gamma with e = scale E[1/x] = scale exp(-mu + variance/2).
template <typename T>
RADIR_HOST_DEVICE inline T kl_lognormal_inverse_gamma(T mu, T variance, T shape,
                                                      T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu) && detail::all_positive(variance, shape, scale),
      "kl_lognormal_inverse_gamma: arguments must be finite and variance, "
      "shape, scale > 0, but got (mu, variance, shape, scale) = ",
      detail::FourArguments<T>{mu, variance, shape, scale});
  return detail::kl_lognormal_inverse_gamma(mu, variance, shape, scale);
}

/// The gradient of kl_lognormal_inverse_gamma.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_lognormal_inverse_gamma_gradient(
    T mu, T variance, T shape, T scale) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu) && detail::all_positive(variance, shape, scale),
      "kl_lognormal_inverse_gamma_gradient: arguments must be finite and "
      "variance, shape, scale > 0, but got (mu, variance, shape, scale) = ",
      detail::FourArguments<T>{mu, variance, shape, scale});
  return detail::kl_lognormal_inverse_gamma_gradient(mu, variance, shape,
                                                     scale);
}

/// KL( Gamma(shape_q, rate_q) || Gamma(shape_p, rate_p) ), both with a rate:
///   shape_p phi(mean_q/mean_p - 1) + phi(shape_p/shape_q - 1)/2
///     + R(shape_p) - R(shape_q) - (shape_p - shape_q) R'(shape_q).
template <typename T>
RADIR_HOST_DEVICE inline T kl_gamma(T shape_q, T rate_q, T shape_p, T rate_p) {
  RADIR_MATH_REQUIRE(
      detail::all_positive(shape_q, rate_q, shape_p, rate_p),
      "kl_gamma: arguments must be finite and > 0, but got (shape_q, rate_q, "
      "shape_p, rate_p) = ",
      detail::FourArguments<T>{shape_q, rate_q, shape_p, rate_p});
  return detail::kl_gamma(shape_q, rate_q, shape_p, rate_p);
}

/// The gradient of kl_gamma.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_gamma_gradient(T shape_q, T rate_q,
                                                         T shape_p, T rate_p) {
  RADIR_MATH_REQUIRE(
      detail::all_positive(shape_q, rate_q, shape_p, rate_p),
      "kl_gamma_gradient: arguments must be finite and > 0, but got (shape_q, "
      "rate_q, shape_p, rate_p) = ",
      detail::FourArguments<T>{shape_q, rate_q, shape_p, rate_p});
  return detail::kl_gamma_gradient(shape_q, rate_q, shape_p, rate_p);
}

/// KL( Weibull(scale_q, shape_q) || Weibull(scale_p, shape_p) ). With
/// c = shape_p/shape_q and P = (scale_q/scale_p)^shape_p Gamma(1 + c):
///   phi(P - 1) + log Gamma(c) + gamma (c - 1).
template <typename T>
RADIR_HOST_DEVICE inline T kl_weibull(T scale_q, T shape_q, T scale_p,
                                      T shape_p) {
  RADIR_MATH_REQUIRE(
      detail::all_positive(scale_q, shape_q, scale_p, shape_p),
      "kl_weibull: arguments must be finite and > 0, but got (scale_q, "
      "shape_q, scale_p, shape_p) = ",
      detail::FourArguments<T>{scale_q, shape_q, scale_p, shape_p});
  return detail::kl_weibull(scale_q, shape_q, scale_p, shape_p);
}

/// The gradient of kl_weibull.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_weibull_gradient(T scale_q, T shape_q,
                                                           T scale_p,
                                                           T shape_p) {
  RADIR_MATH_REQUIRE(
      detail::all_positive(scale_q, shape_q, scale_p, shape_p),
      "kl_weibull_gradient: arguments must be finite and > 0, but got "
      "(scale_q, shape_q, scale_p, shape_p) = ",
      detail::FourArguments<T>{scale_q, shape_q, scale_p, shape_p});
  return detail::kl_weibull_gradient(scale_q, shape_q, scale_p, shape_p);
}

/// KL( Normal(mean_q, variance_q) || Normal(mean_p, variance_p) ):
///   [ phi(variance_q/variance_p - 1) + (mean_q - mean_p)^2/variance_p ] / 2.
template <typename T>
RADIR_HOST_DEVICE inline T kl_normal(T mean_q, T variance_q, T mean_p,
                                     T variance_p) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mean_q) && detail::is_finite(mean_p) &&
          detail::all_positive(variance_q, variance_p),
      "kl_normal: arguments must be finite and variance_q, variance_p > 0, but "
      "got (mean_q, variance_q, mean_p, variance_p) = ",
      detail::FourArguments<T>{mean_q, variance_q, mean_p, variance_p});
  return detail::kl_normal(mean_q, variance_q, mean_p, variance_p);
}

/// The gradient of kl_normal.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_normal_gradient(T mean_q,
                                                          T variance_q,
                                                          T mean_p,
                                                          T variance_p) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mean_q) && detail::is_finite(mean_p) &&
          detail::all_positive(variance_q, variance_p),
      "kl_normal_gradient: arguments must be finite and variance_q, variance_p "
      "> 0, but got (mean_q, variance_q, mean_p, variance_p) = ",
      detail::FourArguments<T>{mean_q, variance_q, mean_p, variance_p});
  return detail::kl_normal_gradient(mean_q, variance_q, mean_p, variance_p);
}

/// KL( LogNormal(mu_q, variance_q) || LogNormal(mu_p, variance_p) ): the
/// divergence of the two normal distributions of log x.
template <typename T>
RADIR_HOST_DEVICE inline T kl_lognormal(T mu_q, T variance_q, T mu_p,
                                        T variance_p) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu_q) && detail::is_finite(mu_p) &&
          detail::all_positive(variance_q, variance_p),
      "kl_lognormal: arguments must be finite and variance_q, variance_p > 0, "
      "but got (mu_q, variance_q, mu_p, variance_p) = ",
      detail::FourArguments<T>{mu_q, variance_q, mu_p, variance_p});
  return detail::kl_normal(mu_q, variance_q, mu_p, variance_p);
}

/// The gradient of kl_lognormal.
template <typename T>
RADIR_HOST_DEVICE inline KlGradient<T> kl_lognormal_gradient(T mu_q,
                                                             T variance_q,
                                                             T mu_p,
                                                             T variance_p) {
  RADIR_MATH_REQUIRE(
      detail::is_finite(mu_q) && detail::is_finite(mu_p) &&
          detail::all_positive(variance_q, variance_p),
      "kl_lognormal_gradient: arguments must be finite and variance_q, "
      "variance_p > 0, but got (mu_q, variance_q, mu_p, variance_p) = ",
      detail::FourArguments<T>{mu_q, variance_q, mu_p, variance_p});
  return detail::kl_normal_gradient(mu_q, variance_q, mu_p, variance_p);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
