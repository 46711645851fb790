#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace radir::testing {

/// The distribution of the cosine w = mu.x of a vMF draw, density proportional
/// to exp(kappa w) (1 - w^2)^{(m-3)/2}, on a grid: in x = atanh(w) the density
/// is smooth and falls off exponentially, so sums over the grid (the
/// trapezoidal rule) are integrals to machine precision. Uses nothing of the
/// library.
class CosineLaw {
 public:
  CosineLaw(double m, double kappa) {
    const double root = std::hypot(2 * kappa, m - 1);
    const double peak = 2 * kappa / (m - 1 + root);
    const double center = std::atanh(peak);
    const double width = (m - 1) / (2 * kappa + root);  // (1 - peak)/(1 + peak)
    const double spread = (1 + width) / (2 * std::sqrt(width * root));  // in x
    const double step = std::fmin(spread / 3, 1.0 / 16);
    double total = 0;
    const auto log_density = [&](double x) {
      // kappa (w - peak) + (m-1)/2 log((1 - w^2)/(1 - peak^2)), with
      // w - peak = sinh(x - center)/(cosh x cosh center).
      const double ratio = std::cosh(center) / std::cosh(x);
      const double cosine_step = std::sinh(x - center) * ratio /
                                 (std::cosh(center) * std::cosh(center));
      return kappa * cosine_step + (m - 1) * std::log(ratio);
    };
    for (const int direction : {-1, 1}) {
      for (int i = direction < 0 ? 1 : 0;; ++i) {
        const double x = center + direction * i * step;
        const double weight = std::exp(log_density(x));
        if (weight < 1e-22) break;
        const double one_minus = 2 / (1 + std::exp(2 * x));
        points_.push_back({weight, one_minus});
        total += weight;
      }
    }
    for (Point& point : points_) point.weight /= total;
  }

  /// E[f(w, 1 - w)].
  template <typename Function>
  double expectation(Function f) const {
    double sum = 0;
    for (const Point& p : points_)
      sum += p.weight * f(1 - p.one_minus, p.one_minus);
    return sum;
  }

 private:
  struct Point {
    double weight, one_minus;
  };
  std::vector<Point> points_;
};

/// P(w <= cos(angle)) for the same law at `count` angles i pi/count,
/// i = 0 .. count - 1, by Simpson's rule between them.
inline std::vector<double> cosine_cdf(double m, double kappa, int count) {
  const double pi = std::acos(-1.0);
  const double root = std::hypot(2 * kappa, m - 2);
  const double mode =
      m > 2 ? 2 * std::atan(std::sqrt((m - 2) / (2 * kappa + root))) : 0;
  const auto density = [&](double angle) {
    const double exponent = kappa * (std::cos(angle) - std::cos(mode));
    if (m == 2) return std::exp(exponent);
    const double ratio = std::fabs(std::sin(angle)) / std::sin(mode);
    return std::exp(exponent) * std::pow(ratio, m - 2);
  };
  constexpr int kSteps = 64;  // between neighbouring angles
  const double h = pi / count / kSteps;
  std::vector<double> cdf(static_cast<std::size_t>(count));
  double sum = 0;
  for (int i = count - 1; i >= 0; --i) {
    for (int k = 0; k < kSteps; k += 2) {
      const double angle = i * pi / count + k * h;
      sum += density(angle) + 4 * density(angle + h) + density(angle + 2 * h);
    }
    cdf[static_cast<std::size_t>(i)] = sum;
  }
  for (double& value : cdf) value /= sum;
  return cdf;
}

}  // namespace radir::testing
