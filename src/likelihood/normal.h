#pragma once

#include <algorithm>
#include <cmath>

namespace radir::likelihood {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrtTwoPi = 0.39894228040143267794;

inline double normal_cdf(double z) { return std::erfc(-z * kSqrtHalf) / 2; }
inline double normal_density(double z) {
  return kInvSqrtTwoPi * std::exp(-z * z / 2);
}

/// Quantile of the normal distribution with an error below 5e-4 (Abramowitz and
/// Stegun 26.2.23): a starting value.
inline double rough_normal_quantile(double probability) {
  const double tail = std::min(probability, 1 - probability);
  const double t = std::sqrt(-2 * std::log(tail));
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return probability < 0.5 ? -z : z;
}

/// E|X| of a normal variable.
inline double mean_absolute(double mean, double deviation) {
  if (deviation == 0) return std::abs(mean);  // it underflowed
  const double z = mean / deviation;
  return mean * (2 * normal_cdf(z) - 1) + 2 * deviation * normal_density(z);
}

/// z with P(t <= value) = Phi(z), nearly: Wallace's transform.
inline double normal_score(double t, double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return t;
  const double n = degrees_of_freedom;
  const double u = t * t / n;
  const double factor = (8 * n + 1) / (8 * n + 3);
  // Most components by far: sqrt(log1p(u)/u) as a series, error below 1e-9.
  if (u < 0.01) {
    const double root =
        1 + u * (-1.0 / 4 + u * (13.0 / 96 + u * (-35.0 / 384)));
    return factor * t * root;
  }
  return std::copysign(factor * std::sqrt(n * std::log1p(u)), t);
}

/// The variance of Student's t of scale 1.
inline double unit_variance(double degrees_of_freedom) {
  return std::isinf(degrees_of_freedom)
             ? 1
             : degrees_of_freedom / (degrees_of_freedom - 2);
}

}  // namespace radir::likelihood
