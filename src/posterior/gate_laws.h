#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "radir/math/hard_concrete.h"
#include "radir/math/normal_jeffreys.h"
#include "radir/math/radial_kl.h"
#include "radir/math/truncated_log_normal.h"

// The laws of one gate. Private to the posteriors. A law has
//   kNames, kCount      its parameters
//   kNormal             whether a draw is made of a normal or a uniform number
//   start()             their starting values
//   draw(p, noise)      a gate and its derivatives
//   cost(p)             its divergence from the prior, or penalty
//   cost_slopes(p)      the derivatives
//   moments(p), point(p), score(p)
//   bound(p)            moves parameters to where they may be

namespace radir::posterior {

/// A number and its derivatives by the parameters of a gate.
template <std::size_t kCount>
struct GateValue {
  double value = 0;
  std::array<double, kCount> slopes{};
};

/// What laws without bounds have.
template <std::size_t kParameters>
struct GateLaw {
  static constexpr std::size_t kCount = kParameters;
  using Parameters = std::array<double, kCount>;
  using Value = GateValue<kCount>;
  static constexpr bool kBounded = false;
  static void bound(Parameters&) {}
};

/// N(mean, variance) under 1/|z|.
struct NormalJeffreysGate : GateLaw<2> {
  static constexpr std::array<const char*, 2> kNames = {"gate_mean",
                                                        "gate_log_variance"};
  static constexpr bool kNormal = true;

  double initial_noise = 0.01;

  Parameters start() const { return {1, 2 * std::log(initial_noise)}; }

  static Value draw(const Parameters& p, double noise) {
    const double deviation = std::exp(p[1] / 2) * noise;
    return {p[0] + deviation, {1, deviation / 2}};
  }
  static double cost(const Parameters& p) {
    return math::kl_normal_jeffreys(log_alpha(p));
  }
  static Parameters cost_slopes(const Parameters& p) {
    const double slope = math::kl_normal_jeffreys_slope(log_alpha(p));
    return {-slope * 2 * p[0] / square(p), slope};
  }
  static math::GateMoments moments(const Parameters& p) {
    return {p[0], p[0] * p[0] + std::exp(p[1])};
  }
  static double point(const Parameters& p) { return p[0]; }
  static double score(const Parameters& p) { return -log_alpha(p); }

 private:
  // A mean that passes 0 has a finite noise relative to it.
  static double square(const Parameters& p) { return p[0] * p[0] + 1e-8; }
  static double log_alpha(const Parameters& p) {
    return p[1] - std::log(square(p));
  }
};

/// The root of LogNormal times LogNormal, under Gamma(1/2, scale^2) times
/// InverseGamma(1/2, 1): a half-Cauchy of that scale.
struct HorseshoeGate : GateLaw<4> {
  static constexpr std::array<const char*, 4> kNames = {
      "gate_gamma_mean", "gate_gamma_log_variance", "gate_inverse_gamma_mean",
      "gate_inverse_gamma_log_variance"};
  static constexpr bool kNormal = true;

  double scale = 1;
  double initial_noise = 0.05;

  /// Around 1, the Gamma part where the prior has it: far above its scale it
  /// would cost as many nats as it is times the scale.
  Parameters start() const {
    const double middle = 2 * std::log(scale) - math::detail::kLog2;
    const double log_variance = std::log(2 * initial_noise * initial_noise);
    return {middle, log_variance, -middle, log_variance};
  }

  static Value draw(const Parameters& p, double noise) {
    const double a = std::exp(p[1]), b = std::exp(p[3]);
    const double root = std::sqrt(a + b);
    const double z = std::exp((p[0] + p[2] + root * noise) / 2);
    const double slope = z * noise / (4 * root);
    return {z, {z / 2, slope * a, z / 2, slope * b}};
  }
  double cost(const Parameters& p) const {
    return math::kl_lognormal_gamma(p[0], std::exp(p[1]), 0.5, scale * scale) +
           math::kl_lognormal_inverse_gamma(p[2], std::exp(p[3]), 0.5, 1.0);
  }
  /// With e = E[x]/scale^2 of the Gamma part and E[1/x] of the other, and the
  /// variance v of the logarithm: e - 1/2 by its mean, (v e - 1)/2 by log v.
  Parameters cost_slopes(const Parameters& p) const {
    const double a = std::exp(p[1]), b = std::exp(p[3]);
    const double gamma = std::exp(p[0] + a / 2) / (scale * scale);
    const double inverse = std::exp(-p[2] + b / 2);
    return {gamma - 0.5, (a * gamma - 1) / 2, 0.5 - inverse,
            (b * inverse - 1) / 2};
  }
  static math::GateMoments moments(const Parameters& p) {
    const double mean = (p[0] + p[2]) / 2;
    return {std::exp(mean + variance(p) / 2),
            std::exp(2 * mean + 2 * variance(p))};
  }
  static double point(const Parameters& p) { return moments(p).mean; }
  /// Log of the mode.
  static double score(const Parameters& p) {
    return (p[0] + p[2]) / 2 - variance(p);
  }

 private:
  static double variance(const Parameters& p) {
    return (std::exp(p[1]) + std::exp(p[3])) / 4;
  }
};

/// Open gates cost `price`.
struct HardConcreteGate : GateLaw<1> {
  static constexpr std::array<const char*, 1> kNames = {"gate_log_alpha"};
  static constexpr bool kNormal = false;
  static constexpr bool kBounded = true;

  double price = 1;
  double initial_open = 0.5;

  Parameters start() const { return {math::detail::log_odds(initial_open)}; }

  static Value draw(const Parameters& p, double noise) {
    const math::Gate gate =
        math::hard_concrete(p[0], std::clamp(noise, 1e-6, 1 - 1e-6));
    return {gate.value, {gate.slope}};
  }
  double cost(const Parameters& p) const {
    return price * math::hard_concrete_open(p[0]).value;
  }
  Parameters cost_slopes(const Parameters& p) const {
    return {price * math::hard_concrete_open(p[0]).slope};
  }
  static math::GateMoments moments(const Parameters& p) {
    return math::hard_concrete_moments(p[0]);
  }
  static double point(const Parameters& p) {
    return math::hard_concrete_point(p[0]);
  }
  /// Below 0 the gate of a deterministic network is closed.
  static double score(const Parameters& p) {
    return p[0] + math::kHardConcreteLogRatio;
  }
  static void bound(Parameters& p) {
    p[0] = std::clamp(p[0], std::log(0.01), std::log(100.0));
  }
};

/// A concrete variable whose probability k is under Beta(a, b).
struct BetaGate : GateLaw<1> {
  static constexpr std::array<const char*, 1> kNames = {"gate_log_odds"};
  static constexpr bool kNormal = false;
  static constexpr bool kBounded = true;
  /// The log-odds stay within this of 0: the density has no bound.
  static constexpr double kMost = 8;

  double a = 1e-4;
  double b = 0.5;
  double price = 1;
  double temperature = 0.1;
  double initial_open = 0.63;

  Parameters start() const { return {math::detail::log_odds(initial_open)}; }

  Value draw(const Parameters& p, double noise) const {
    const math::Gate gate = math::concrete(p[0], temperature, noise);
    return {gate.value, {gate.slope}};
  }
  /// (1 - a) log k + (1 - b) log(1 - k), each term less its least value.
  double cost(const Parameters& p) const {
    const double lowest = std::log(math::logistic(-kMost));
    const double least = b < 1 ? lowest : std::log(math::logistic(kMost));
    return price * ((1 - a) * (std::log(math::logistic(p[0])) - lowest) +
                    (1 - b) * (std::log(math::logistic(-p[0])) - least));
  }
  Parameters cost_slopes(const Parameters& p) const {
    const double k = math::logistic(p[0]);
    return {price * ((1 - a) * (1 - k) - (1 - b) * k)};
  }
  math::GateMoments moments(const Parameters& p) const {
    return math::concrete_moments(p[0], temperature);
  }
  static double point(const Parameters& p) { return math::logistic(p[0]); }
  /// log k.
  static double score(const Parameters& p) {
    return std::log(math::logistic(p[0]));
  }
  static void bound(Parameters& p) { p[0] = std::clamp(p[0], -kMost, kMost); }
};

/// LogNormal cut to [e^-20, 1] under the log-uniform law.
struct TruncatedGate : GateLaw<2> {
  static constexpr std::array<const char*, 2> kNames = {"gate_mu",
                                                        "gate_log_sigma"};
  static constexpr bool kNormal = false;
  static constexpr bool kBounded = true;

  /// The largest mu. Beyond it the law changes little: it stays close to 1.
  static constexpr double kHighest = -1e-3;

  double price = 1;
  double initial_noise = 0.0067379469990854671;

  Parameters start() const { return {kHighest, std::log(initial_noise)}; }

  static Value draw(const Parameters& p, double noise) {
    const math::TruncatedValue log_gate =
        math::truncated_log_normal_draw(law(p), noise);
    const double z = std::exp(log_gate.value);
    return {z, {z * log_gate.by_mu, z * log_gate.by_log_sigma}};
  }
  double cost(const Parameters& p) const {
    return price * math::kl_truncated_log_normal(law(p)).value;
  }
  Parameters cost_slopes(const Parameters& p) const {
    const math::TruncatedValue kl = math::kl_truncated_log_normal(law(p));
    return {price * kl.by_mu, price * kl.by_log_sigma};
  }
  static math::GateMoments moments(const Parameters& p) {
    return math::truncated_log_normal_moments(law(p));
  }
  static double point(const Parameters& p) { return moments(p).mean; }
  /// Log of the ratio of mean and deviation.
  static double score(const Parameters& p) {
    const math::GateMoments m = moments(p);
    const double least = 1e-12 * m.square;
    return std::log(m.mean) -
           std::log(std::max(m.square - m.mean * m.mean, least)) / 2;
  }
  static void bound(Parameters& p) {
    p[0] = std::clamp(p[0], math::kTruncatedLow, kHighest);
    p[1] = std::clamp(p[1], -20.0, math::kLargestLogSigma);
  }

 private:
  static math::TruncatedLogNormal law(const Parameters& p) {
    return {p[0], p[1]};
  }
};

}  // namespace radir::posterior
