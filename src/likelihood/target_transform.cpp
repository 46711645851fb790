#include "radir/likelihood/target_transform.h"

#include <cmath>

#include "likelihood/normal.h"
#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// The upper tail of the normal distribution over its density, for x >= 0.
double mills_ratio(double x) {
  // Up to here the quotient has all digits; from here on the error of the
  // series is below 105/x^8 = 4e-10, in a part of the moments below 1e-190.
  constexpr double kFar = 30;
  if (x < kFar) return normal_cdf(-x) / normal_density(x);
  const double r = 1 / (x * x);
  return (1 - r * (1 - 3 * r * (1 - 5 * r))) / x;
}

/// Integrals over the normal distribution of a variable Z.
struct Normal {
  double location;
  double deviation;

  double score(double z) const { return (z - location) / deviation; }

  /// E[exp(k Z); Z < z], k = 1 or 2. Neither factor overflows: beyond its
  /// centre the tilted distribution is taken from its density at z.
  double below(double k, double z) const {
    const double shifted = score(z) - k * deviation;
    if (shifted < 0) {
      return std::exp(k * z) * normal_density(score(z)) * mills_ratio(-shifted);
    }
    return tilt(k) * normal_cdf(shifted);
  }
  /// E[exp(k Z); 0 < Z < z].
  double between(double k, double z) const {
    const double low = score(0) - k * deviation;
    // Both ends above the centre: as a difference of upper tails.
    if (low > 0) {
      return tilt(k) *
             (normal_cdf(-low) - normal_cdf(-(score(z) - k * deviation)));
    }
    return below(k, z) - below(k, 0);
  }

 private:
  /// E[exp(k Z)].
  double tilt(double k) const {
    return std::exp(k * location + k * k * deviation * deviation / 2);
  }
};

/// Probability, and first and second moment there.
struct Part {
  double probability;
  double first;
  double second;
};

/// Of a + b Z' for standard normal Z' below `score`.
Part line_below(double a, double b, double score) {
  const double p = normal_cdf(score);
  const double d = normal_density(score);
  return {p, a * p - b * d,
          a * a * p - 2 * a * b * d + b * b * (p - score * d)};
}

}  // namespace

TargetTransform TargetTransform::logarithm(double offset, double end) {
  RADIR_CHECK(offset > 0 && std::isfinite(offset) && end > 0 &&
                  std::isfinite(end) && std::isfinite(end / offset),
              ArgumentError,
              "TargetTransform: the offset and the end of a logarithm must be ",
              "finite and above 0, but are ", offset, " and ", end);
  TargetTransform result;
  result.offset_ = offset;
  result.end_ = end;
  result.top_ = std::log1p(end / offset);
  return result;
}

double TargetTransform::apply(double value) const {
  if (is_none()) return value;
  if (value <= 0) return value / offset_;
  if (value <= end_) return std::log1p(value / offset_);
  return top_ + (value - end_) / (offset_ + end_);
}

double TargetTransform::invert(double transformed) const {
  if (is_none()) return transformed;
  if (transformed <= 0) return transformed * offset_;
  if (transformed <= top_) return offset_ * std::expm1(transformed);
  return end_ + (transformed - top_) * (offset_ + end_);
}

double TargetTransform::log_slope(double value) const {
  if (is_none()) return 0;
  if (value <= 0) return -std::log(offset_);
  return -std::log(offset_ + std::fmin(value, end_));
}

TargetTransform::Moments TargetTransform::moments(double location,
                                                  double deviation) const {
  if (is_none()) return {location, deviation * deviation};
  const double centre = invert(location);
  const double slope = std::exp(-log_slope(centre));
  // So narrow that the curve is a line, to its square.
  constexpr double kNarrow = 3e-4;
  if (deviation < kNarrow) {
    const double spread = slope * deviation;
    const bool curved = location > 0 && location < top_;
    return {curved ? centre + spread * deviation / 2 : centre, spread * spread};
  }
  // Moments of y less the number at the centre, part by part.
  const Normal z{location, deviation};
  const Part low =
      line_below(offset_ * location - centre, offset_ * deviation, z.score(0));
  const double steep = offset_ + end_;
  const Part high = line_below(end_ + steep * (location - top_) - centre,
                               -steep * deviation, -z.score(top_));
  const double p0 = 1 - low.probability - high.probability;
  const double p1 = z.between(1, top_);
  const double p2 = z.between(2, top_);
  const double a = offset_;
  const double b = offset_ + centre;
  const double first = low.first + high.first + a * p1 - b * p0;
  const double second =
      low.second + high.second + a * a * p2 - 2 * a * b * p1 + b * b * p0;
  return {centre + first, std::fmax(second - first * first, 0)};
}

}  // namespace radir::likelihood
