#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "radir/math/constants.h"
#include "radir/math/domain.h"
#include "radir/math/gamma.h"

// Likelihoods of a regression target y whose noise has precision tau, itself
// uncertain: q(tau) = Gamma(shape a, rate b). Targets are standardised,
// y = (Y - mean)/std, unless a name says raw; f is the network's output.

namespace radir::math {
inline namespace RADIR_ISA {

/// Derivatives of a log-likelihood.
template <typename T>
struct LikelihoodGradient {
  T prediction, shape, rate;
};

namespace detail {

/// E_q[log N(y | f, 1/tau)].
template <typename T>
RADIR_HOST_DEVICE inline T expected_log_likelihood(T target, T prediction,
                                                   T shape, T rate) {
  const T residual = target - prediction;
  return (digamma(shape) - std::log(rate)) / 2 - T(kHalfLog2Pi) -
         shape / rate * (residual * residual) / 2;
}

template <typename T>
RADIR_HOST_DEVICE inline LikelihoodGradient<T> expected_log_likelihood_gradient(
    T target, T prediction, T shape, T rate) {
  const T residual = target - prediction;
  const T half_square = residual * residual / 2;
  return {shape / rate * residual, trigamma(shape) / 2 - half_square / rate,
          (shape * half_square / rate - T(0.5)) / rate};
}

/// log of the integral of N(y | f, 1/tau) q(tau): Student's t.
template <typename T>
RADIR_HOST_DEVICE inline T student_log_likelihood(T target, T prediction,
                                                  T shape, T rate) {
  const T residual = target - prediction;
  const T excess = residual * residual / (2 * rate);
  return log_gamma_half_step(shape) - T(kHalfLog2Pi) - std::log(rate) / 2 -
         (shape + T(0.5)) * std::log1p(excess);
}

template <typename T>
RADIR_HOST_DEVICE inline LikelihoodGradient<T> student_log_likelihood_gradient(
    T target, T prediction, T shape, T rate) {
  const T residual = target - prediction;
  const T excess = residual * residual / (2 * rate);
  return {(shape + T(0.5)) / (1 + excess) * (residual / rate),
          digamma_half_step(shape) - std::log1p(excess),
          (shape * excess - T(0.5)) / (1 + excess) / rate};
}

template <typename T>
RADIR_HOST_DEVICE inline bool is_gamma_precision(T target, T prediction,
                                                 T shape, T rate) {
  return is_finite(target) && is_finite(prediction) && is_positive(shape) &&
         is_positive(rate);
}

/// log of a sum of exponentials, term by term.
template <typename T>
struct LogSumExp {
  T largest = -std::numeric_limits<T>::infinity();
  T sum = 0;  // of exp(term - largest)

  RADIR_HOST_DEVICE void add(T term) {
    if (term <= largest) {
      // Equal infinities have no difference; their exponentials agree.
      sum += term == largest ? T(1) : std::exp(term - largest);
    } else {
      sum = sum * std::exp(largest - term) + 1;
      largest = term;
    }
  }
  RADIR_HOST_DEVICE T value() const { return largest + std::log(sum); }
};

}  // namespace detail

/// The term of the evidence bound, E_q[log N(target | prediction, 1/tau)]
/// under q(tau) = Gamma(shape, rate):
///   (digamma(a) - log b)/2 - log(2 pi)/2 - (a/(2b)) (y - f)^2.
///
/// Domain: finite target and prediction, finite shape > 0 and rate > 0,
/// otherwise DomainError. Accuracy: 4 eps of the largest term.
template <typename T>
RADIR_HOST_DEVICE inline T expected_log_likelihood(T target, T prediction,
                                                   T shape, T rate) {
  RADIR_MATH_REQUIRE(
      detail::is_gamma_precision(target, prediction, shape, rate),
      "expected_log_likelihood: arguments must be finite and shape, rate > 0, "
      "but got target = ",
      target, ", prediction = ", prediction, ", shape = ", shape,
      ", rate = ", rate);
  return detail::expected_log_likelihood(target, prediction, shape, rate);
}

/// The gradient of expected_log_likelihood.
template <typename T>
RADIR_HOST_DEVICE inline LikelihoodGradient<T> expected_log_likelihood_gradient(
    T target, T prediction, T shape, T rate) {
  RADIR_MATH_REQUIRE(
      detail::is_gamma_precision(target, prediction, shape, rate),
      "expected_log_likelihood_gradient: arguments must be finite and shape, "
      "rate > 0, but got target = ",
      target, ", prediction = ", prediction, ", shape = ", shape,
      ", rate = ", rate);
  return detail::expected_log_likelihood_gradient(target, prediction, shape,
                                                  rate);
}

/// The predictive density of one weight sample with tau integrated out,
/// Student's t with 2a degrees of freedom and squared scale b/a:
///   lgamma(a + 1/2) - lgamma(a) - log(2 pi b)/2
///     - (a + 1/2) log1p((y - f)^2/(2b)).
///
/// Domain: as expected_log_likelihood. Accuracy: 4 eps of the largest term.
template <typename T>
RADIR_HOST_DEVICE inline T student_log_likelihood(T target, T prediction,
                                                  T shape, T rate) {
  RADIR_MATH_REQUIRE(
      detail::is_gamma_precision(target, prediction, shape, rate),
      "student_log_likelihood: arguments must be finite and shape, rate > 0, "
      "but got target = ",
      target, ", prediction = ", prediction, ", shape = ", shape,
      ", rate = ", rate);
  return detail::student_log_likelihood(target, prediction, shape, rate);
}

/// The gradient of student_log_likelihood.
template <typename T>
RADIR_HOST_DEVICE inline LikelihoodGradient<T> student_log_likelihood_gradient(
    T target, T prediction, T shape, T rate) {
  RADIR_MATH_REQUIRE(
      detail::is_gamma_precision(target, prediction, shape, rate),
      "student_log_likelihood_gradient: arguments must be finite and shape, "
      "rate > 0, but got target = ",
      target, ", prediction = ", prediction, ", shape = ", shape,
      ", rate = ", rate);
  return detail::student_log_likelihood_gradient(target, prediction, shape,
                                                 rate);
}

/// log of the mean of exp(value) over `count` >= 1 values: how the
/// log-likelihoods of one datum under several weight samples combine. It goes
/// over samples, never over data. Minus infinity counts as probability zero.
/// DomainError if count < 1 or a value is NaN.
template <typename T>
RADIR_HOST_DEVICE inline T log_mean_exp(const T* values, std::int64_t count) {
  RADIR_MATH_REQUIRE(count >= 1,
                     "log_mean_exp: need at least one value, but got ", count);
  detail::LogSumExp<T> total;
  for (std::int64_t i = 0; i < count; ++i) {
    RADIR_MATH_REQUIRE(values[i] == values[i], "log_mean_exp: value ", i,
                       " is not a number");
    total.add(values[i]);
  }
  return total.value() - std::log(static_cast<T>(count));
}

/// The predictive log-likelihood of one standardised target: the mixture over
/// `count` weight samples, whose outputs are `predictions`, of
/// student_log_likelihood. DomainError as there, or if count < 1.
template <typename T>
RADIR_HOST_DEVICE inline T mixture_log_likelihood(T target,
                                                  const T* predictions,
                                                  std::int64_t count, T shape,
                                                  T rate) {
  RADIR_MATH_REQUIRE(
      count >= 1, "mixture_log_likelihood: need at least one sample, but got ",
      count);
  detail::LogSumExp<T> total;
  for (std::int64_t i = 0; i < count; ++i) {
    total.add(student_log_likelihood(target, predictions[i], shape, rate));
  }
  return total.value() - std::log(static_cast<T>(count));
}

/// The log density of a target in its raw units, Y = mean + std y, from that of
/// the standardised one: minus log(std). Finite target_std > 0, otherwise
/// DomainError.
template <typename T>
RADIR_HOST_DEVICE inline T raw_log_likelihood(T standardised, T target_std) {
  RADIR_MATH_REQUIRE(detail::is_positive(target_std),
                     "raw_log_likelihood: target_std must be finite and > 0, "
                     "but got ",
                     target_std);
  return standardised - std::log(target_std);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
