#include "radir/likelihood/predictive_mixture.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrtTwoPi = 0.39894228040143267794;

double normal_cdf(double z) { return std::erfc(-z * kSqrtHalf) / 2; }
double normal_density(double z) { return kInvSqrtTwoPi * std::exp(-z * z / 2); }

/// z with P(t <= value) = Phi(z), nearly: Wallace's transform.
double normal_score(double t, double degrees_of_freedom) {
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

/// Quantile of the normal distribution with an error below 5e-4 (Abramowitz and
/// Stegun 26.2.23): a starting value.
double rough_normal_quantile(double probability) {
  const double tail = std::min(probability, 1 - probability);
  const double t = std::sqrt(-2 * std::log(tail));
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return probability < 0.5 ? -z : z;
}

double variance_of(const MixtureComponent& c) {
  const double variance = c.scale * c.scale;
  if (std::isinf(c.degrees_of_freedom)) return variance;
  return variance * c.degrees_of_freedom / (c.degrees_of_freedom - 2);
}

double log_density_of(const MixtureComponent& c, double value) {
  if (std::isinf(c.degrees_of_freedom)) {
    const double z = (value - c.location) / c.scale;
    return std::log(kInvSqrtTwoPi / c.scale) - z * z / 2;
  }
  const double shape = c.degrees_of_freedom / 2;
  return math::student_log_likelihood(value, c.location, shape,
                                      c.scale * c.scale * shape);
}

/// E|X| of a normal variable.
double mean_absolute(double mean, double deviation) {
  const double z = mean / deviation;
  return mean * (2 * normal_cdf(z) - 1) + 2 * deviation * normal_density(z);
}

}  // namespace

PredictiveMixture::PredictiveMixture(std::vector<MixtureComponent> components)
    : components_(std::move(components)) {
  RADIR_CHECK(!components_.empty(), ArgumentError,
              "PredictiveMixture: needs at least one component");
  const double count = static_cast<double>(components_.size());
  for (const MixtureComponent& c : components_) {
    RADIR_CHECK(c.scale > 0 && std::isfinite(c.scale) &&
                    c.degrees_of_freedom > 2 && std::isfinite(c.location),
                ArgumentError, "PredictiveMixture: a component must have a ",
                "finite location, a scale above 0 and more than 2 degrees of ",
                "freedom, but has ", c.location, ", ", c.scale, " and ",
                c.degrees_of_freedom);
    mean_ += c.location / count;
    aleatoric_variance_ += variance_of(c) / count;
  }
  for (const MixtureComponent& c : components_) {
    epistemic_variance_ += (c.location - mean_) * (c.location - mean_) / count;
  }
}

double PredictiveMixture::standard_deviation() const {
  return std::sqrt(epistemic_variance_ + aleatoric_variance_);
}

double PredictiveMixture::epistemic_deviation() const {
  return std::sqrt(epistemic_variance_);
}

double PredictiveMixture::aleatoric_deviation() const {
  return std::sqrt(aleatoric_variance_);
}

double PredictiveMixture::log_density(double value) const {
  math::detail::LogSumExp<double> total;
  for (const MixtureComponent& c : components_) {
    total.add(log_density_of(c, value));
  }
  return total.value() - std::log(static_cast<double>(components_.size()));
}

double PredictiveMixture::cdf(double value) const {
  double sum = 0;
  for (const MixtureComponent& c : components_) {
    sum += normal_cdf(
        normal_score((value - c.location) / c.scale, c.degrees_of_freedom));
  }
  return sum / static_cast<double>(components_.size());
}

double PredictiveMixture::rough_density(double value) const {
  double sum = 0;
  for (const MixtureComponent& c : components_) {
    sum += normal_density((value - c.location) / c.scale) / c.scale;
  }
  return sum / static_cast<double>(components_.size());
}

double PredictiveMixture::quantile(double probability) const {
  RADIR_CHECK(probability > 0 && probability < 1, DomainError,
              "quantile: the probability must lie between 0 and 1, but is ",
              probability);
  constexpr int kNewtonSteps = 20;
  const double deviation = standard_deviation();
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double x = mean_ + deviation * rough_normal_quantile(probability);
  for (int step = 0;; ++step) {
    const double excess = cdf(x) - probability;
    if (excess == 0) return x;
    (excess < 0 ? low : high) = x;
    // Newton's step, of limited length; a bisection where it leaves the bracket
    // or has gone on for long.
    const double reach = 4 * deviation;
    const double change = std::clamp(-excess / rough_density(x), -reach, reach);
    double next = x + change;
    if (!(next > low && next < high) || step >= kNewtonSteps) {
      next = std::isinf(low)    ? high - reach
             : std::isinf(high) ? low + reach
                                : (low + high) / 2;
    }
    if (std::abs(next - x) <= 1e-9 * deviation) return next;
    x = next;
  }
}

double PredictiveMixture::crps(double value) const {
  const std::size_t count = components_.size();
  double to_value = 0;
  for (const MixtureComponent& c : components_) {
    to_value += mean_absolute(c.location - value, std::sqrt(variance_of(c)));
  }
  to_value /= static_cast<double>(count);

  // Partners at evenly spread distances around the ring of draws.
  constexpr std::size_t kPartners = 64;
  const std::size_t partners =
      std::min(kPartners, std::max<std::size_t>(count - 1, 1));
  double between = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 1; k <= partners; ++k) {
      const std::size_t distance =
          count > kPartners ? k * (count - 1) / partners : k;
      const MixtureComponent& a = components_[i];
      const MixtureComponent& b = components_[(i + distance) % count];
      between += mean_absolute(a.location - b.location,
                               std::sqrt(variance_of(a) + variance_of(b)));
    }
  }
  between /= static_cast<double>(count * partners);
  return to_value - between / 2;
}

}  // namespace radir::likelihood
