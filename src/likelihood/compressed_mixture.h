#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "radir/likelihood/predictive_mixture.h"

namespace radir::likelihood {

/// A mixture of many components as a weighted mixture of few, in time linear in
/// their number. What depends smoothly on location and log scale of a component
/// is interpolated between Chebyshev points; the weight of a point is then the
/// mean over the components of its polynomial, which follows from their
/// Chebyshev moments.
///
/// For components with equal weights and degrees of freedom, and locations and
/// scales close to each other.
class CompressedMixture {
 public:
  /// Largest error of the distribution function: 1e-8, 1e-5.
  enum class Accuracy { Fine, Rough };

  /// None where the components are too far apart for that accuracy, or too few
  /// for it to be worth while.
  static std::optional<CompressedMixture> of(const PredictiveMixture& mixture,
                                             Accuracy accuracy);

  /// Number of points.
  std::size_t size() const { return points_.size(); }

  double cdf(double value) const;
  double density(double value) const;
  /// As accurate as the distribution function, for probabilities from 0.001 to
  /// 0.999.
  double quantile(double probability) const;
  /// As PredictiveMixture::crps, over all pairs of different components. The
  /// time grows with the square of the number of points.
  double crps(double value) const;

 private:
  struct Point {
    double weight;
    double location;
    double scale;
  };
  struct Slope {
    double cdf;
    double density;  // the derivative of cdf
  };
  class Moments;

  CompressedMixture() = default;

  Slope cdf_and_slope(double value) const;
  /// Sets skewness and excess kurtosis.
  void set_shape();
  /// Near the quantile: the expansion of Cornish and Fisher.
  double expanded_quantile(double probability) const;

  std::size_t count_ = 0;  // of the components
  double degrees_of_freedom_ = 0;
  double mean_ = 0;
  double deviation_ = 0;
  double skewness_ = 0;
  double excess_kurtosis_ = 0;
  std::vector<Point> points_;
};

}  // namespace radir::likelihood
