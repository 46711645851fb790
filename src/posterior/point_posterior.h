#pragma once

#include <algorithm>
#include <optional>

#include "radir/kernels/philox.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/point.h"

// Private to the posteriors.

namespace radir::posterior {

/// sum w^2 / (2 prior_scale^2), the negative log density of a normal prior less
/// its constant; nothing without a scale.
class L2Penalty {
 public:
  explicit L2Penalty(const std::optional<double>& prior_scale)
      : precision_(prior_scale ? 1 / (*prior_scale * *prior_scale) : 0) {}

  template <typename T>
  double value(std::int64_t count, const T* weight) const {
    if (precision_ == 0) return 0;
    double squares = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      squares +=
          static_cast<double>(weight[i]) * static_cast<double>(weight[i]);
    }
    return precision_ * squares / 2;
  }

  /// Adds `scale` times its gradient.
  template <typename T>
  void backward(std::int64_t count, const T* weight, double scale,
                T* gradient) const {
    if (precision_ == 0) return;
    const T factor = T(scale * precision_);
    for (std::int64_t i = 0; i < count; ++i) gradient[i] += factor * weight[i];
  }

 private:
  double precision_;  // of the prior
};

/// Of biases without noise, penalised where the weights are.
inline PointOptions point_bias_options(
    const std::optional<double>& weight_prior_scale, double prior_scale) {
  PointOptions options;
  options.initial_gain = 0;
  if (weight_prior_scale) options.prior_scale = prior_scale;
  return options;
}

/// Weights that are their own parameters, for families without noise to derive
/// from.
template <typename T>
class PointPosterior : public FamilyPosterior<T> {
 public:
  PointPosterior(const network::WeightShape& shape, Options options,
                 double initial_gain)
      : FamilyPosterior<T>(shape, std::move(options)),
        initial_gain_(initial_gain),
        loc_(this->add_block("loc", Extent::Weight)) {}

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) final {
    this->draw_start(stream, initial_gain_, parameters[loc_]);
  }

  void sample(const Arrays<const T>& parameters, const kernels::RandomStream&,
              T* weight, ThreadPool*) final {
    std::copy_n(parameters[loc_], this->shape().size(), weight);
  }

  void backward(const Arrays<const T>&, const T*, const T* weight_gradient,
                const Arrays<T>& gradients, double, ThreadPool*) final {
    T* const gradient = gradients[loc_];
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      gradient[i] += weight_gradient[i];
    }
  }

  void moments(const Arrays<const T>& parameters, T* mean, T* variance) final {
    const std::int64_t size = this->shape().size();
    if (mean != nullptr) std::copy_n(parameters[loc_], size, mean);
    if (variance != nullptr) std::fill_n(variance, size, T(0));
  }

  Noise noise() const final { return Noise::None; }

 protected:
  template <typename P>
  P* weights(const Arrays<P>& arrays) const {
    return arrays[loc_];
  }

 private:
  double initial_gain_;
  std::size_t loc_;
};

}  // namespace radir::posterior
