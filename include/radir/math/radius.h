#pragma once

#include <cmath>
#include <ostream>

#include "radir/math/domain.h"

// The radius of a group of weights, r = sqrt(alpha beta s_a s_b): two factors
// of its own (local) and two shared by the layer, each log-normal under the
// posterior and all independent. The square root halves every mean of a
// logarithm and quarters every variance, so r is log-normal too.

namespace radir::math {
inline namespace RADIR_ISA {

/// A log-normal law: log x has mean `mu` and variance `variance`. The functions
/// below throw DomainError unless mu is finite and variance finite and >= 0.
template <typename T>
struct LogNormalLaw {
  T mu, variance;

  friend std::ostream& operator<<(std::ostream& out, LogNormalLaw law) {
    return out << "LogNormal(" << law.mu << ", " << law.variance << ')';
  }
};

namespace detail {

template <typename T>
RADIR_HOST_DEVICE inline bool is_lognormal(LogNormalLaw<T> law) {
  return is_finite(law.mu) && is_non_negative(law.variance);
}

}  // namespace detail

/// E[x] = exp(mu + variance/2).
template <typename T>
RADIR_HOST_DEVICE inline T lognormal_mean(LogNormalLaw<T> law) {
  RADIR_MATH_REQUIRE(detail::is_lognormal(law),
                     "lognormal_mean: mu must be finite and variance finite "
                     "and >= 0, but got ",
                     law);
  return std::exp(law.mu + law.variance / 2);
}

/// Var[x] = expm1(variance) exp(2 mu + variance), accurate as variance -> 0.
template <typename T>
RADIR_HOST_DEVICE inline T lognormal_variance(LogNormalLaw<T> law) {
  RADIR_MATH_REQUIRE(
      detail::is_lognormal(law),
      "lognormal_variance: mu must be finite and variance finite "
      "and >= 0, but got ",
      law);
  return std::expm1(law.variance) * std::exp(2 * law.mu + law.variance);
}

/// E[x^2] = exp(2 mu + 2 variance).
template <typename T>
RADIR_HOST_DEVICE inline T lognormal_second_moment(LogNormalLaw<T> law) {
  RADIR_MATH_REQUIRE(detail::is_lognormal(law),
                     "lognormal_second_moment: mu must be finite and variance "
                     "finite and >= 0, but got ",
                     law);
  return std::exp(2 * (law.mu + law.variance));
}

/// The logarithm of the most likely x: mu - variance.
template <typename T>
RADIR_HOST_DEVICE inline T lognormal_log_mode(LogNormalLaw<T> law) {
  RADIR_MATH_REQUIRE(
      detail::is_lognormal(law),
      "lognormal_log_mode: mu must be finite and variance finite "
      "and >= 0, but got ",
      law);
  return law.mu - law.variance;
}

/// The distribution of the local radius sqrt(alpha beta).
template <typename T>
RADIR_HOST_DEVICE inline LogNormalLaw<T> local_radius(LogNormalLaw<T> alpha,
                                                      LogNormalLaw<T> beta) {
  return {(alpha.mu + beta.mu) / 2, (alpha.variance + beta.variance) / 4};
}

/// The distribution of the complete radius sqrt(alpha beta s_a s_b).
template <typename T>
RADIR_HOST_DEVICE inline LogNormalLaw<T> radius(LogNormalLaw<T> alpha,
                                                LogNormalLaw<T> beta,
                                                LogNormalLaw<T> s_a,
                                                LogNormalLaw<T> s_b) {
  const LogNormalLaw<T> local = local_radius(alpha, beta);
  const LogNormalLaw<T> shared = local_radius(s_a, s_b);
  return {local.mu + shared.mu, local.variance + shared.variance};
}

// Three statistics by which groups are ranked for pruning. They weigh mean and
// variance differently, so they can rank groups differently.

/// Log-mode of the complete radius sqrt(alpha beta s_a s_b):
/// (sum of mu)/2 - (sum of variances)/4.
template <typename T>
RADIR_HOST_DEVICE inline T radius_log_mode(LogNormalLaw<T> alpha,
                                           LogNormalLaw<T> beta,
                                           LogNormalLaw<T> s_a,
                                           LogNormalLaw<T> s_b) {
  return lognormal_log_mode(radius(alpha, beta, s_a, s_b));
}

/// Log-mode of the local radius sqrt(alpha beta):
/// (mu_alpha + mu_beta)/2 - (variance_alpha + variance_beta)/4. Within one
/// layer it differs from radius_log_mode by a constant.
template <typename T>
RADIR_HOST_DEVICE inline T local_radius_log_mode(LogNormalLaw<T> alpha,
                                                 LogNormalLaw<T> beta) {
  return lognormal_log_mode(local_radius(alpha, beta));
}

/// The statistic published with the method (Oh, Adamczewski and Park, 2019):
/// the log-mode of the product alpha beta, without the square root:
/// (mu_alpha + mu_beta) - (variance_alpha + variance_beta). Not a function of
/// local_radius_log_mode.
template <typename T>
RADIR_HOST_DEVICE inline T factor_product_log_mode(LogNormalLaw<T> alpha,
                                                   LogNormalLaw<T> beta) {
  return lognormal_log_mode(
      LogNormalLaw<T>{alpha.mu + beta.mu, alpha.variance + beta.variance});
}

}  // namespace RADIR_ISA
}  // namespace radir::math
