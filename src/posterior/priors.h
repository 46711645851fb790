#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "radir/kernels/philox.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_prior.h"

// Private to the posteriors.

namespace radir::posterior {

/// A negative log density and its derivative.
struct Energy {
  double value = 0;
  double gradient = 0;
};

/// Of the logarithm of a half-t variable of scale 1, less the constant; one
/// degree of freedom is the half-Cauchy.
inline Energy log_half_t_energy(double log_value, double degrees_of_freedom) {
  const double power = (degrees_of_freedom + 1) / 2;
  const double log_ratio = 2 * log_value - std::log(degrees_of_freedom);
  // log(1 + e^t) and its derivative, for any t.
  const double tail = std::exp(-std::abs(log_ratio));
  const double soft = std::max(log_ratio, 0.0) + std::log1p(tail);
  const double share = (log_ratio > 0 ? 1 : tail) / (1 + tail);
  return {power * soft - log_value, 2 * power * share - 1};
}

/// Independent normals around 0. A learnt scale has a half-Cauchy prior whose
/// scale is GaussianOptions::prior_scale.
template <typename T>
class NormalPrior final : public WeightPrior<T> {
 public:
  NormalPrior(const network::WeightShape& shape,
              const GaussianOptions& options);

  void initialize(const kernels::RandomStream& stream,
                  T* coordinates) const override;
  void weights(const T* coordinates, T* weight) override;
  double backward(const T* coordinates, const T* weight_gradient,
                  T* gradient) override;

 private:
  double scale(const T* coordinates) const;

  network::WeightShape shape_;
  GaussianOptions options_;
  std::int64_t count_;  // of the weights
};

/// Uniform directions times half-t radii: the direction of a group is that of a
/// standard normal vector.
template <typename T>
class RadialDirectionalPrior final : public WeightPrior<T> {
 public:
  /// Throws UnsupportedError unless the directions' prior is uniform.
  RadialDirectionalPrior(const network::WeightShape& shape,
                         const RadialDirectionalOptions& options);

  void initialize(const kernels::RandomStream& stream,
                  T* coordinates) const override;
  void weights(const T* coordinates, T* weight) override;
  double backward(const T* coordinates, const T* weight_gradient,
                  T* gradient) override;

 private:
  /// The rows or the columns.
  struct Side {
    bool is_row = true;
    std::int64_t groups = 0;
    std::int64_t normal = 0;  // where its normal vectors are
    std::int64_t radius = 0;  // where the logarithms of its local radii are
    double degrees_of_freedom = 1;
    std::vector<T> part;  // the groups' vectors, laid out as the weight
    // Per group:
    std::vector<double> inverse_norm;  // of its normal vector
    std::vector<double> factor;        // of the normal vector in the part
    std::vector<double> dot;           // of the part and its gradient
  };

  void add_side(bool is_row);
  template <typename Visit>
  void for_each_weight(const Side& side, const Visit& visit) const;
  void fill_part(const T* coordinates, double factor, Side& side) const;
  double backward_side(const T* coordinates, const T* part_gradient, Side& side,
                       T* gradient) const;

  network::WeightShape shape_;
  RadialDirectionalOptions options_;
  std::vector<Side> sides_;
  std::vector<T> part_gradient_;
};

}  // namespace radir::posterior
