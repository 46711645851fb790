#pragma once

#include <algorithm>
#include <cmath>

#include "radir/math/domain.h"
#include "radir/math/gauss_legendre.h"

// Gates between 0 and 1 that are mostly one of both and can be differentiated.
// A gate is a function of a uniform number and of the log-odds of being open.

namespace radir::math {
inline namespace RADIR_ISA {

/// 1 / (1 + e^-x), for any x.
inline double logistic(double x) {
  const double tail = std::exp(-std::abs(x));
  return (x >= 0 ? 1 : tail) / (1 + tail);
}

/// A gate and its derivative by the log-odds.
struct Gate {
  double value;
  double slope;
};

/// E[z] and E[z^2].
struct GateMoments {
  double mean;
  double square;
};

namespace detail {

inline double log_odds(double probability) {
  return std::log(probability) - std::log1p(-probability);
}

}  // namespace detail

/// The concrete relaxation of a Bernoulli variable (C. Maddison, A. Mnih and
/// Y. Teh, 2017): S((logit u + log_odds) / temperature), 0 < u < 1.
inline Gate concrete(double log_odds, double temperature, double uniform) {
  RADIR_MATH_REQUIRE(
      detail::is_positive(temperature) && uniform > 0 && uniform < 1,
      "concrete: need temperature > 0 and 0 < uniform < 1, but got ",
      temperature, " and ", uniform);
  const double z =
      logistic((detail::log_odds(uniform) + log_odds) / temperature);
  return {z, z * (1 - z) / temperature};
}

/// Its moments, by the trapezoidal rule in logit z, which converges
/// exponentially.
inline GateMoments concrete_moments(double log_odds, double temperature) {
  RADIR_MATH_REQUIRE(detail::is_positive(temperature),
                     "concrete_moments: need temperature > 0, but got ",
                     temperature);
  constexpr double kStep = 0.5, kEnd = 38;
  GateMoments moments{0, 0};
  for (double y = -kEnd; y <= kEnd; y += kStep) {
    const double z = logistic(y);
    // P(Z > z) times dz, and times 2 z dz.
    const double part =
        kStep * logistic(log_odds - temperature * y) * z * logistic(-y);
    moments.mean += part;
    moments.square += 2 * z * part;
  }
  return moments;
}

/// The hard concrete law of C. Louizos, M. Welling and D. Kingma, "Learning
/// sparse neural networks through L0 regularization" (2018): a concrete
/// variable of temperature 2/3 stretched to (-0.1, 1.1) and cut to [0, 1].
constexpr double kHardConcreteTemperature = 2.0 / 3;
constexpr double kHardConcreteLow = -0.1;
constexpr double kHardConcreteHigh = 1.1;
/// log(-low/high) is minus this.
constexpr double kHardConcreteLogRatio = 2.3978952727983705441;  // log 11

/// A draw, from a uniform number.
inline Gate hard_concrete(double log_alpha, double uniform) {
  const Gate soft = concrete(log_alpha, kHardConcreteTemperature, uniform);
  constexpr double kWidth = kHardConcreteHigh - kHardConcreteLow;
  const double stretched = soft.value * kWidth + kHardConcreteLow;
  if (stretched <= 0) return {0, 0};
  if (stretched >= 1) return {1, 0};
  return {stretched, soft.slope * kWidth};
}

/// P(z != 0), and its derivative by log alpha.
inline Gate hard_concrete_open(double log_alpha) {
  const double p =
      logistic(log_alpha + kHardConcreteTemperature * kHardConcreteLogRatio);
  return {p, p * (1 - p)};
}

/// The gate of a deterministic network; 0 where log alpha <= -log 11.
inline double hard_concrete_point(double log_alpha) {
  constexpr double kWidth = kHardConcreteHigh - kHardConcreteLow;
  return std::clamp(logistic(log_alpha) * kWidth + kHardConcreteLow, 0.0, 1.0);
}

/// Moments, as integrals over z of P(Z > z) and of 2 z P(Z > z).
inline GateMoments hard_concrete_moments(double log_alpha) {
  constexpr double kWidth = kHardConcreteHigh - kHardConcreteLow;
  const auto above = [&](double z) {
    const double s = (z - kHardConcreteLow) / kWidth;
    return logistic(log_alpha - kHardConcreteTemperature * detail::log_odds(s));
  };
  return {detail::integrate<24, double>(above),
          detail::integrate<24, double>(
              [&](double z) { return 2 * z * above(z); })};
}

}  // namespace RADIR_ISA
}  // namespace radir::math
