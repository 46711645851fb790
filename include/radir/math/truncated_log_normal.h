#pragma once

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/math/constants.h"
#include "radir/math/hard_concrete.h"

// The log-normal law cut to [e^-20, 1] of K. Neklyudov, D. Molchanov,
// A. Ashukha and D. Vetrov, "Structured Bayesian pruning via log-normal
// multiplicative noise" (2017), against the log-uniform prior on the same
// interval. Its location lies in the interval too, which leaves nothing to
// cancel.

namespace radir::math {
inline namespace RADIR_ISA {

/// log theta is normal of this location and log scale, cut to [-20, 0].
struct TruncatedLogNormal {
  double mu;         ///< from -20 to 0
  double log_sigma;  ///< at most kLargestLogSigma
};

constexpr double kTruncatedLow = -20;
constexpr double kLargestLogSigma = 2.5;  // where E[theta^2] has no overflow

/// A value and its derivatives by mu and by log sigma.
struct TruncatedValue {
  double value;
  double by_mu;
  double by_log_sigma;
};

namespace detail {

inline double normal_density(double x) {
  return std::exp(-x * x / 2 - kHalfLog2Pi);
}

inline double normal_cdf(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/// The inverse of normal_cdf for 0 < p < 1: a start within 0.005 and steps of
/// third order, to a few roundings for p above 1e-10.
inline double normal_quantile(double p) {
  const double tail = std::min(p, 1 - p);
  const double t = std::sqrt(-2 * std::log(tail));
  // C. Hastings 1955, as Abramowitz and Stegun 26.2.23.
  double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 3; ++i) {
    const double step = (normal_cdf(x) - tail) / normal_density(x);
    x -= step / (1 + x * step / 2);
  }
  return p < 0.5 ? x : -x;
}

/// The cut in units of sigma, and what lies between.
struct TruncatedEnds {
  explicit TruncatedEnds(const TruncatedLogNormal& law)
      : sigma(std::exp(law.log_sigma)),
        low((kTruncatedLow - law.mu) / sigma),
        high(-law.mu / sigma),
        mass(normal_cdf(high) - normal_cdf(low)) {}

  double sigma, low, high, mass;
};

inline void check_truncated(const char* name, const TruncatedLogNormal& law) {
  RADIR_CHECK(law.mu >= kTruncatedLow && law.mu <= 0 && law.log_sigma > -700 &&
                  law.log_sigma <= kLargestLogSigma,
              DomainError, name,
              ": need -20 <= mu <= 0 and log sigma <= 2.5, but got ", law.mu,
              " and ", law.log_sigma);
}

}  // namespace detail

/// KL from the log-uniform prior, and its gradient.
inline TruncatedValue kl_truncated_log_normal(const TruncatedLogNormal& law) {
  detail::check_truncated("kl_truncated_log_normal", law);
  const detail::TruncatedEnds ends(law);
  const double a = ends.low, b = ends.high, z = ends.mass;
  const double pa = detail::normal_density(a), pb = detail::normal_density(b);
  const double spread = a * pa - b * pb;
  const double value = std::log(-kTruncatedLow) - law.log_sigma - std::log(z) -
                       detail::kHalfLog2Pi - 0.5 - spread / (2 * z);
  // d mass and d spread, times sigma by mu, and by log sigma.
  const double mass_mu = pa - pb;
  const double mass_sigma = spread;
  const double spread_mu = -(1 - a * a) * pa + (1 - b * b) * pb;
  const double spread_sigma = -a * (1 - a * a) * pa + b * (1 - b * b) * pb;
  const auto slope = [&](double mass, double s) {
    return -mass / z - s / (2 * z) + spread * mass / (2 * z * z);
  };
  return {value, slope(mass_mu, spread_mu) / ends.sigma,
          -1 + slope(mass_sigma, spread_sigma)};
}

/// log theta as a function of a uniform number, and its gradient. The quantile
/// of the normal is kept between 1e-5 and 1 - 1e-5.
inline TruncatedValue truncated_log_normal_draw(const TruncatedLogNormal& law,
                                                double uniform) {
  detail::check_truncated("truncated_log_normal_draw", law);
  const detail::TruncatedEnds ends(law);
  constexpr double kLeast = 1e-5;
  const double p = detail::normal_cdf(ends.low) + uniform * ends.mass;
  const double q = detail::normal_quantile(std::clamp(p, kLeast, 1 - kLeast));
  TruncatedValue draw{law.mu + ends.sigma * q, 1, ends.sigma * q};
  if (p < kLeast || p > 1 - kLeast) return draw;
  const double density = detail::normal_density(q);
  const double pa = (1 - uniform) * detail::normal_density(ends.low) / density;
  const double pb = uniform * detail::normal_density(ends.high) / density;
  draw.by_mu -= pa + pb;
  draw.by_log_sigma -= ends.sigma * (ends.low * pa + ends.high * pb);
  return draw;
}

/// E[theta] and E[theta^2], the latter not below the square of the former.
inline GateMoments truncated_log_normal_moments(const TruncatedLogNormal& law) {
  detail::check_truncated("truncated_log_normal_moments", law);
  const detail::TruncatedEnds ends(law);
  const auto moment = [&](double power) {
    const double shift = power * ends.sigma;
    const double mass = detail::normal_cdf(ends.high - shift) -
                        detail::normal_cdf(ends.low - shift);
    return std::exp(power * law.mu + shift * shift / 2) * (mass / ends.mass);
  };
  const double mean = moment(1);
  // They are equal but for rounding where sigma is small.
  return {mean, std::max(moment(2), mean * mean)};
}

}  // namespace RADIR_ISA
}  // namespace radir::math
