#include "posterior/priors.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {

template <typename T>
NormalPrior<T>::NormalPrior(const network::WeightShape& shape,
                            const GaussianOptions& options)
    : WeightPrior<T>(shape.size() + (options.learn_prior ? 1 : 0),
                     options.learn_prior ? 1 : 0),
      shape_(shape),
      options_(options),
      count_(shape.size()) {}

template <typename T>
void NormalPrior<T>::initialize(const kernels::RandomStream& stream,
                                T* coordinates) const {
  kernels::fill_normal(stream, 0, count_, coordinates);
  if (!options_.learn_prior) return;
  const double spread = std::sqrt(options_.initial_gain /
                                  static_cast<double>(shape_.row_length()));
  coordinates[count_] = static_cast<T>(std::log(spread / options_.prior_scale));
}

template <typename T>
double NormalPrior<T>::scale(const T* coordinates) const {
  if (!options_.learn_prior) return options_.prior_scale;
  return options_.prior_scale *
         std::exp(static_cast<double>(coordinates[count_]));
}

template <typename T>
void NormalPrior<T>::weights(const T* coordinates, T* weight) {
  const T factor = static_cast<T>(scale(coordinates));
  for (std::int64_t i = 0; i < count_; ++i) {
    weight[i] = factor * coordinates[i];
  }
}

template <typename T>
double NormalPrior<T>::backward(const T* coordinates, const T* weight_gradient,
                                T* gradient) {
  const double factor = scale(coordinates);
  double squares = 0;
  double along = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    const T z = coordinates[i];
    gradient[i] = z + static_cast<T>(factor) * weight_gradient[i];
    squares += static_cast<double>(z * z);
    along += static_cast<double>(z * weight_gradient[i]);
  }
  if (!options_.learn_prior) return squares / 2;
  const Energy energy =
      log_half_t_energy(static_cast<double>(coordinates[count_]), 1);
  gradient[count_] = static_cast<T>(energy.gradient + factor * along);
  return squares / 2 + energy.value;
}

template class NormalPrior<float>;
template class NormalPrior<double>;

}  // namespace radir::posterior
