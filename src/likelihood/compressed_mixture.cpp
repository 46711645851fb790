#include "likelihood/compressed_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "likelihood/normal.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

constexpr std::size_t kMostPoints = 12;

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

  /// From -1 to 1.
  double place_of(double value) const {
    return reach > 0 ? (value - middle) / reach : 0;
  }
};

Extent extent_of(double least, double most) {
  return {least / 2 + most / 2, most / 2 - least / 2};
}

}  // namespace

/// Means over the components of products of Chebyshev polynomials in location
/// and log scale.
class CompressedMixture::Moments {
 public:
  Moments(const std::vector<MixtureComponent>& components, Extent locations,
          Extent log_scales, std::size_t orders, std::size_t scale_orders)
      : locations_(locations), log_scales_(log_scales) {
    for (const MixtureComponent& c : components) {
      const double x = locations.place_of(c.location);
      if (scale_orders == 1) {
        add(x, orders, 1, means_[0]);
        continue;
      }
      const double y = log_scales.place_of(std::log(c.scale));
      double before = y;  // the polynomial of order -1 is that of order 1
      double polynomial = 1;
      for (std::size_t k = 0; k < scale_orders; ++k) {
        add(x, orders, polynomial, means_[k]);
        before = std::exchange(polynomial, 2 * y * polynomial - before);
      }
    }
    const double count = static_cast<double>(components.size());
    for (auto& row : means_) {
      for (double& mean : row) mean /= count;
    }
  }

  std::vector<Point> points(std::size_t orders,
                            std::size_t scale_orders) const {
    const Points& in_location = points_of(orders);
    const Points& in_scale = points_of(scale_orders);
    std::vector<Point> result;
    result.reserve(orders * scale_orders);
    for (std::size_t j = 0; j < scale_orders; ++j) {
      std::array<double, kMostPoints> means = {};
      for (std::size_t l = 0; l < scale_orders; ++l) {
        for (std::size_t k = 0; k < orders; ++k) {
          means[k] += in_scale.share[l][j] * means_[l][k];
        }
      }
      const double scale =
          std::exp(log_scales_.middle + log_scales_.reach * in_scale.at[j]);
      for (std::size_t i = 0; i < orders; ++i) {
        double weight = 0;
        for (std::size_t k = 0; k < orders; ++k) {
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
  static void add(double x, std::size_t orders, double factor,
                  std::array<double, kMostPoints>& sums) {
    double before = factor * x;
    double polynomial = factor;
    for (std::size_t k = 0; k < orders; ++k) {
      sums[k] += polynomial;
      before = std::exchange(polynomial, 2 * x * polynomial - before);
    }
  }

  Extent locations_;
  Extent log_scales_;
  // [order in scale][order in location]
  std::array<std::array<double, kMostPoints>, kMostPoints> means_ = {};
};

std::optional<CompressedMixture> CompressedMixture::of(
    const PredictiveMixture& mixture, Accuracy accuracy) {
  const std::vector<MixtureComponent>& components = mixture.components();
  const MixtureComponent& first = components.front();
  double low = first.location, high = first.location;
  double narrow = first.scale, wide = first.scale;
  for (const MixtureComponent& c : components) {
    if (c.degrees_of_freedom != first.degrees_of_freedom ||
        c.weight != first.weight) {
      return std::nullopt;
    }
    low = std::min(low, c.location);
    high = std::max(high, c.location);
    narrow = std::min(narrow, c.scale);
    wide = std::max(wide, c.scale);
  }
  const Extent locations = extent_of(low, high);
  const Extent log_scales = extent_of(std::log(narrow), std::log(wide));
  const double reach = locations.reach / narrow;
  const Reaches& reaches = accuracy == Accuracy::Fine ? kFine : kRough;
  const std::size_t orders = points_for(reaches.locations, reach);
  const std::size_t scale_orders =
      points_for(reaches.log_scales, log_scales.reach);
  if (orders * scale_orders == 0 ||
      2 * orders * scale_orders > components.size()) {
    return std::nullopt;
  }
  const Moments moments(components, locations, log_scales, orders,
                        scale_orders);
  CompressedMixture result;
  result.count_ = components.size();
  result.degrees_of_freedom_ = first.degrees_of_freedom;
  result.mean_ = mixture.mean();
  result.deviation_ = mixture.standard_deviation();
  result.points_ = moments.points(orders, scale_orders);
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
  double third = 0;
  double fourth = 0;
  for (const Point& p : points_) {
    const double d = (p.location - mean_) / deviation_;
    const double scale = p.scale / deviation_;
    const double variance = of_unit_scale * scale * scale;
    third += p.weight * d * (d * d + 3 * variance);
    fourth +=
        p.weight * (d * d * (d * d + 6 * variance) + 3 * variance * variance);
  }
  skewness_ = third;
  excess_kurtosis_ = fourth - 3;
}

double CompressedMixture::expanded_quantile(double probability) const {
  double z = rough_normal_quantile(probability);
  z -= (normal_cdf(z) - probability) / normal_density(z);
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
double CompressedMixture::quantile(double probability) const {
  constexpr int kMostSteps = 30;
  constexpr double kLastStep = 3e-4;  // its error is of third order
  double x = expanded_quantile(probability);
  for (int i = 0; i < kMostSteps; ++i) {
    const Slope at = cdf_and_slope(x);
    const double newton = (at.cdf - probability) / at.density / deviation_;
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
