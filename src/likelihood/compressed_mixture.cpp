#include "likelihood/compressed_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "likelihood/component.h"
#include "likelihood/normal.h"
#include "radir/kernels/draw_sums.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

constexpr std::size_t kMostPoints = kernels::kMostChebyshev;

/// How far values may lie from their middle for the error of a normal
/// distribution function interpolated between 1, 2, ... points to stay below a
/// bound: locations in scales, and log scales. Measured.
struct Reaches {
  std::array<double, kMostPoints> locations;
  std::array<double, kMostPoints> log_scales;
};

/// Errors below 1e-8.
constexpr Reaches kFine = {{0, 0.0004, 0.0084, 0.0432, 0.1099, 0.2181, 0.3426,
                            0.5008, 0.6614, 0.8467, 1.0265, 1.2252},
                           {0, 0.0003, 0.0071, 0.0281, 0.0653, 0.1166, 0.1739,
                            0.2327, 0.2956, 0.3607, 0.4197, 0.4823}};
/// Errors below 1e-5.
constexpr Reaches kRough = {{0, 0.0129, 0.0842, 0.2437, 0.4402, 0.6941, 0.937,
                             1.2212, 1.478, 1.7656, 2.0242, 2.3137},
                            {0, 0.0111, 0.0708, 0.1586, 0.2641, 0.383, 0.4886,
                             0.5961, 0.7063, 0.8042, 0.916, 1.0083}};

/// Points that are enough for values so far from their middle; 0: more than
/// there are.
std::size_t points_for(const std::array<double, kMostPoints>& reach,
                       double far) {
  const auto found = std::lower_bound(reach.begin(), reach.end(), far);
  return found == reach.end()
             ? 0
             : static_cast<std::size_t>(found - reach.begin()) + 1;
}

/// The Chebyshev points of one order.
struct Points {
  std::array<double, kMostPoints> at = {};
  /// [polynomial][point]: a point's weight is the sum over the polynomials of
  /// this times the mean of the polynomial.
  std::array<std::array<double, kMostPoints>, kMostPoints> share = {};
};

std::array<Points, kMostPoints + 1> all_points() {
  const double pi = std::acos(-1.0);
  std::array<Points, kMostPoints + 1> result;
  for (std::size_t n = 1; n <= kMostPoints; ++n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double angle =
          pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
      result[n].at[i] = std::cos(angle);
      for (std::size_t k = 0; k < n; ++k) {
        result[n].share[k][i] = (k == 0 ? 1 : 2) *
                                std::cos(static_cast<double>(k) * angle) /
                                static_cast<double>(n);
      }
    }
  }
  return result;
}

const Points& points_of(std::size_t order) {
  static const std::array<Points, kMostPoints + 1> points = all_points();
  return points[order];
}

/// The middle of some numbers and their largest distance from it.
struct Extent {
  double middle = 0;
  double reach = 0;

  kernels::ChebyshevPlace place(const std::vector<double>& values,
                                std::size_t orders) const {
    return {values.data(), middle, reach > 0 ? 1 / reach : 0,
            static_cast<std::int64_t>(orders)};
  }
};

Extent extent_of(const kernels::DrawRange& range) {
  return {range.least / 2 + range.most / 2, range.most / 2 - range.least / 2};
}

}  // namespace

/// Means over the components of products of Chebyshev polynomials in location
/// and log scale.
class CompressedMixture::Moments {
 public:
  Moments(const DrawColumns& draws, Extent locations, Extent log_scales,
          std::size_t orders, std::size_t scale_orders)
      : locations_(locations),
        log_scales_(log_scales),
        orders_(orders),
        scale_orders_(scale_orders) {
    kernels::chebyshev_sums(locations.place(draws.locations, orders),
                            log_scales.place(draws.log_scales, scale_orders),
                            static_cast<std::int64_t>(draws.locations.size()),
                            means_.data());
    for (std::size_t i = 0; i < orders * scale_orders; ++i) {
      means_[i] /= static_cast<double>(draws.locations.size());
    }
  }

  std::vector<Point> points() const {
    const Points& in_location = points_of(orders_);
    const Points& in_scale = points_of(scale_orders_);
    std::vector<Point> result;
    result.reserve(orders_ * scale_orders_);
    for (std::size_t j = 0; j < scale_orders_; ++j) {
      std::array<double, kMostPoints> means = {};
      for (std::size_t l = 0; l < scale_orders_; ++l) {
        for (std::size_t k = 0; k < orders_; ++k) {
          means[k] += in_scale.share[l][j] * means_[l * orders_ + k];
        }
      }
      const double scale =
          std::exp(log_scales_.middle + log_scales_.reach * in_scale.at[j]);
      for (std::size_t i = 0; i < orders_; ++i) {
        double weight = 0;
        for (std::size_t k = 0; k < orders_; ++k) {
          weight += in_location.share[k][i] * means[k];
        }
        result.push_back(
            {weight, locations_.middle + locations_.reach * in_location.at[i],
             scale});
      }
    }
    return result;
  }

 private:
  Extent locations_;
  Extent log_scales_;
  std::size_t orders_;
  std::size_t scale_orders_;
  // [order in scale][order in location]
  std::array<double, kMostPoints * kMostPoints> means_;
};

std::optional<CompressedMixture> CompressedMixture::of(const DrawColumns& draws,
                                                       Accuracy accuracy) {
  const std::size_t count = draws.locations.size();
  const auto range_of = [&](const std::vector<double>& column) {
    return kernels::range_of_draws(column.data(),
                                   static_cast<std::int64_t>(count));
  };
  const kernels::DrawRange in_location = range_of(draws.locations);
  const Extent locations = extent_of(in_location);
  const Extent log_scales = extent_of(range_of(draws.log_scales));
  const double narrow = std::exp(log_scales.middle - log_scales.reach);
  const Reaches& reaches = accuracy == Accuracy::Fine ? kFine : kRough;
  const std::size_t orders =
      points_for(reaches.locations, locations.reach / narrow);
  const std::size_t scale_orders =
      points_for(reaches.log_scales, log_scales.reach);
  if (orders * scale_orders == 0 || 2 * orders * scale_orders > count) {
    return std::nullopt;
  }
  CompressedMixture result;
  result.count_ = count;
  result.degrees_of_freedom_ = draws.degrees_of_freedom;
  result.mean_ = in_location.mean;
  result.points_ =
      Moments(draws, locations, log_scales, orders, scale_orders).points();
  result.set_shape();
  return result;
}

double CompressedMixture::cdf(double value) const {
  double sum = 0;
  for (const Point& p : points_) {
    sum += p.weight * normal_cdf(normal_score((value - p.location) / p.scale,
                                              degrees_of_freedom_));
  }
  return sum;
}

double CompressedMixture::density(double value) const {
  double sum = 0;
  const bool is_normal = std::isinf(degrees_of_freedom_);
  const double shape = degrees_of_freedom_ / 2;
  const double constant =
      is_normal ? 0
                : math::detail::student_log_likelihood(0.0, 0.0, shape, shape);
  for (const Point& p : points_) {
    const double z = (value - p.location) / p.scale;
    const double of_point =
        is_normal ? normal_density(z)
                  : std::exp(constant -
                             (shape + 0.5) * std::log1p(z * z / (2 * shape)));
    sum += p.weight * of_point / p.scale;
  }
  return sum;
}

double CompressedMixture::interval_density(double value, double width) const {
  const double centre = log_density_at_centre(degrees_of_freedom_);
  double sum = 0;
  for (const Point& p : points_) {
    sum += p.weight * std::exp(log_mean_density_of(
                          {p.location, p.scale, degrees_of_freedom_}, centre,
                          value - width / 2, value + width / 2));
  }
  return sum;
}

/// The slope is that of Wallace's transform w of z, with w dw = f^2 z dz /
/// (1 + z^2/n).
CompressedMixture::Slope CompressedMixture::cdf_and_slope(double value) const {
  const double n = degrees_of_freedom_;
  const bool is_normal = std::isinf(n);
  const double factor = is_normal ? 1 : (8 * n + 1) / (8 * n + 3);
  Slope sum = {0, 0};
  for (const Point& p : points_) {
    const double z = (value - p.location) / p.scale;
    const double w = normal_score(z, n);
    const double slope = is_normal || z == 0
                             ? factor
                             : factor * factor * z / ((1 + z * z / n) * w);
    sum.cdf += p.weight * normal_cdf(w);
    sum.density += p.weight * normal_density(w) * slope / p.scale;
  }
  return sum;
}

/// With the moments of normal components of the same variances.
void CompressedMixture::set_shape() {
  const double of_unit_scale = unit_variance(degrees_of_freedom_);
  // All points lie within a few scales, whose powers might overflow.
  const double unit = points_.front().scale;
  double second = 0;
  double third = 0;
  double fourth = 0;
  for (const Point& p : points_) {
    const double d = (p.location - mean_) / unit;
    const double scale = p.scale / unit;
    const double square = d * d;
    const double variance = of_unit_scale * scale * scale;
    second += p.weight * (square + variance);
    third += p.weight * d * (square + 3 * variance);
    fourth +=
        p.weight * (square * (square + 6 * variance) + 3 * variance * variance);
  }
  const double deviation = std::sqrt(second);
  deviation_ = unit * deviation;
  skewness_ = third / (second * deviation);
  excess_kurtosis_ = fourth / (second * second) - 3;
}

QuantileLevel::QuantileLevel(double of_probability)
    : probability(of_probability),
      score(rough_normal_quantile(of_probability)) {
  score -= (normal_cdf(score) - probability) / normal_density(score);
}

double CompressedMixture::expanded_quantile(double z) const {
  const double square = z * z;
  const double by_skewness = (square - 1) / 6;
  const double by_its_square = z * (5 - 2 * square) / 36;
  const double by_kurtosis = z * (square - 3) / 24;
  const double expanded =
      z + skewness_ * (by_skewness + skewness_ * by_its_square) +
      excess_kurtosis_ * by_kurtosis;
  return mean_ + deviation_ * expanded;
}

/// Halley's method, with the second derivative of a normal distribution.
double CompressedMixture::quantile(const QuantileLevel& level) const {
  constexpr int kMostSteps = 30;
  constexpr double kLastStep = 3e-4;  // its error is of third order
  double x = expanded_quantile(level.score);
  for (int i = 0; i < kMostSteps; ++i) {
    const Slope at = cdf_and_slope(x);
    const double newton =
        (at.cdf - level.probability) / at.density / deviation_;
    const double bend = 1 + newton * (x - mean_) / deviation_ / 2;
    const double step = std::clamp(newton / std::max(bend, 0.5), -1.0, 1.0);
    x -= deviation_ * step;
    if (std::abs(step) < kLastStep) break;
  }
  return x;
}

double CompressedMixture::crps(double value) const {
  const double variance = unit_variance(degrees_of_freedom_);
  const double root = std::sqrt(variance);
  double to_value = 0;
  for (const Point& p : points_) {
    to_value += p.weight * mean_absolute(p.location - value, root * p.scale);
  }
  double between = 0;
  double within = 0;  // of two draws from the same component
  const double two_over_sqrt_pi = 2 * std::sqrt(2.0) * kInvSqrtTwoPi;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Point& a = points_[i];
    const double same = two_over_sqrt_pi * root * a.scale;
    within += a.weight * same;
    between += a.weight * a.weight * same;
    for (std::size_t j = 0; j < i; ++j) {
      const Point& b = points_[j];
      between +=
          2 * a.weight * b.weight *
          mean_absolute(
              a.location - b.location,
              std::sqrt(variance * (a.scale * a.scale + b.scale * b.scale)));
    }
  }
  const double count = static_cast<double>(count_);
  const double of_different = (count * between - within) / (count - 1);
  return to_value - of_different / 2;
}

}  // namespace radir::likelihood
