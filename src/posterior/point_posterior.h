#pragma once

#include <algorithm>

#include "radir/kernels/philox.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"

// Private to the posteriors.

namespace radir::posterior {

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
