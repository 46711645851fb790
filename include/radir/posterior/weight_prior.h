#pragma once

#include <cstdint>
#include <memory>

#include "radir/kernels/philox.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// The prior of one weight tensor, in coordinates that can be sampled: numbers
/// without bounds, of comparable size, from which the weights follow. The last
/// scale_count() of them are logarithms of scales that many weights share.
///
/// T is float or double. May hold work space, so calls on one object must not
/// overlap.
template <typename T>
class WeightPrior {
 public:
  WeightPrior(std::int64_t size, std::int64_t scale_count)
      : size_(size), scale_count_(scale_count) {}
  virtual ~WeightPrior() = default;
  WeightPrior(const WeightPrior&) = delete;
  WeightPrior& operator=(const WeightPrior&) = delete;

  std::int64_t size() const { return size_; }
  std::int64_t scale_count() const { return scale_count_; }

  /// A draw from the prior of all but the scales; these start where the weights
  /// have the variance of the options' initial gain.
  virtual void initialize(const kernels::RandomStream& stream,
                          T* coordinates) const = 0;

  /// The weights at these coordinates.
  virtual void weights(const T* coordinates, T* weight) = 0;

  /// The negative log density of the coordinates (less its constant) of the
  /// last call of weights(), in nats. Writes the gradient of the sum of it and
  /// of a function of the weights whose gradient is `weight_gradient`.
  virtual double backward(const T* coordinates, const T* weight_gradient,
                          T* gradient) = 0;

 private:
  std::int64_t size_;
  std::int64_t scale_count_;
};

/// The prior that a posterior of these options has. Throws UnsupportedError for
/// a family without a prior that can be sampled.
template <typename T>
std::unique_ptr<WeightPrior<T>> make_weight_prior(
    const network::WeightShape& shape, const Options& options);

}  // namespace radir::posterior
