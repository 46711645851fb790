#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "radir/likelihood/draw_columns.h"

namespace radir::likelihood {

/// A probability and the standard normal number below which it lies, to 1e-6.
struct QuantileLevel {
  QuantileLevel() = default;
  /// `of_probability` is above 0 and below 1.
  explicit QuantileLevel(double of_probability);

  double probability = 0.5;
  double score = 0;
};

/// A mixture of many components as a weighted mixture of few, in time linear in
/// their number. What depends smoothly on location and log scale of a component
/// is interpolated between Chebyshev points; the weight of a point is then the
/// mean over the components of its polynomial, which follows from their
/// Chebyshev moments.
///
/// For draws whose locations and scales are close to each other.
class CompressedMixture {
 public:
  /// Largest error of the distribution function: 1e-8, 1e-5.
  enum class Accuracy { Fine, Rough };

  /// None where the draws are too far apart for that accuracy, or too few for
  /// it to be worth while.
  static std::optional<CompressedMixture> of(const DrawColumns& draws,
                                             Accuracy accuracy);

  /// Number of points.
  std::size_t size() const { return points_.size(); }

  double mean() const { return mean_; }
  double standard_deviation() const { return deviation_; }
  double cdf(double value) const;
  double density(double value) const;
  /// The mean density over an interval around a value.
  double interval_density(double value, double width) const;
  /// As accurate as the distribution function, for probabilities from 0.001 to
  /// 0.999.
  double quantile(const QuantileLevel& level) const;
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
  /// Sets deviation, skewness and excess kurtosis.
  void set_shape();
  /// Near the quantile of a level with the score z: the expansion of Cornish
  /// and Fisher.
  double expanded_quantile(double z) const;

  std::size_t count_ = 0;  // of the components
  double degrees_of_freedom_ = 0;
  double mean_ = 0;
  double deviation_ = 0;
  double skewness_ = 0;
  double excess_kurtosis_ = 0;
  std::vector<Point> points_;
};

}  // namespace radir::likelihood
