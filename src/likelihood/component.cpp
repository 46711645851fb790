#include "likelihood/component.h"

#include <cmath>

#include "likelihood/normal.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {

double variance_of(const MixtureComponent& c) {
  const double variance = c.scale * c.scale;
  if (std::isinf(c.degrees_of_freedom)) return variance;
  return variance * c.degrees_of_freedom / (c.degrees_of_freedom - 2);
}

double log_density_at_centre(double degrees_of_freedom) {
  if (std::isinf(degrees_of_freedom)) return std::log(kInvSqrtTwoPi);
  const double shape = degrees_of_freedom / 2;
  return math::detail::student_log_likelihood(0.0, 0.0, shape, shape);
}

double log_density_of(const MixtureComponent& c, double centre, double value) {
  const double z = (value - c.location) / c.scale;
  const double n = c.degrees_of_freedom;
  const double fall =
      std::isinf(n) ? z * z / 2 : (n + 1) / 2 * std::log1p(z * z / n);
  return centre - std::log(c.scale) - fall;
}

double log_mean_density_of(const MixtureComponent& c, double centre, double low,
                           double high) {
  // The midpoint is off by z^2 1e-6/24 here; differences would lose digits.
  constexpr double kNarrow = 1e-3;
  constexpr double kSmall = 1e-290;
  const double width = high - low;
  const double middle = low + width / 2;
  if (width < kNarrow * c.scale) return log_density_of(c, centre, middle);
  const double from =
      normal_score((low - c.location) / c.scale, c.degrees_of_freedom);
  const double to =
      normal_score((high - c.location) / c.scale, c.degrees_of_freedom);
  // On the side of the smaller tail, where digits are left.
  const double inside = from > 0 ? normal_cdf(-from) - normal_cdf(-to)
                                 : normal_cdf(to) - normal_cdf(from);
  if (inside > kSmall) return std::log(inside / width);
  // Far out: the density at the nearer end falls within scale/|z|.
  const double end = middle < c.location ? high : low;
  const double z = std::abs(end - c.location) / c.scale;
  return log_density_of(c, centre, end) + std::log(c.scale / (z * width));
}

}  // namespace radir::likelihood
