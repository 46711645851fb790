#include "posterior/gaussian.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "radir/kernels/gaussian.h"
#include "radir/kernels/random.h"

namespace radir::posterior {

template <typename T>
WeightPosterior<T>::Gaussian::Gaussian(const kernels::WeightShape& shape,
                                       const Options& options)
    : Impl(shape, options),
      loc_(this->add_block("loc", shape.size(), true)),
      log_scale_(this->add_block("log_scale", shape.size(), true)),
      deviation_(static_cast<std::size_t>(shape.size())) {
  if (options.learn_prior) {
    prior_log_scale_ = this->add_block("prior_log_scale", 1);
  }
}

template <typename T>
std::string WeightPosterior<T>::Gaussian::describe() const {
  std::ostringstream text;
  text << "gaussian, prior scale "
       << (this->options_.learn_prior ? "learnt from " : "")
       << this->options_.gaussian_prior_scale;
  return text.str();
}

template <typename T>
void WeightPosterior<T>::Gaussian::initialize(
    const kernels::RandomStream& stream, const Arrays<T>& parameters) {
  const Options& options = this->options_;
  const std::int64_t size = this->shape_.size();
  const double spread = std::sqrt(
      options.initial_gain / static_cast<double>(this->shape_.row_length()));
  T* loc = parameters[loc_];
  kernels::fill_normal(stream, 0, size, loc);
  for (std::int64_t i = 0; i < size; ++i) loc[i] *= T(spread);
  // Noise relative to the spread of the weights; weights that all start at
  // zero (a bias) have none to relate to.
  const double noise = options.initial_noise * (spread > 0 ? spread : 1);
  std::fill_n(parameters[log_scale_], size, T(std::log(noise)));
  if (prior_log_scale_) {
    *parameters[*prior_log_scale_] = T(std::log(options.gaussian_prior_scale));
  }
}

template <typename T>
void WeightPosterior<T>::Gaussian::sample(const Arrays<const T>& parameters,
                                          const kernels::RandomStream& stream,
                                          T* weight, ThreadPool* pool) {
  kernels::gaussian_sample(this->shape_.size(), parameters[loc_],
                           parameters[log_scale_], stream, deviation_.data(),
                           weight, pool);
}

template <typename T>
void WeightPosterior<T>::Gaussian::backward(const Arrays<const T>&, const T*,
                                            const T* weight_gradient,
                                            const Arrays<T>& gradients, double,
                                            ThreadPool* pool) {
  kernels::gaussian_backward(this->shape_.size(), deviation_.data(),
                             weight_gradient, gradients[loc_],
                             gradients[log_scale_], pool);
}

template <typename T>
double WeightPosterior<T>::Gaussian::prior_log_scale(
    const Arrays<const T>& parameters) const {
  return prior_log_scale_ ? static_cast<double>(*parameters[*prior_log_scale_])
                          : std::log(this->options_.gaussian_prior_scale);
}

template <typename T>
double WeightPosterior<T>::Gaussian::kl(const Arrays<const T>& parameters) {
  return kernels::gaussian_kl(this->shape_.size(), parameters[loc_],
                              parameters[log_scale_],
                              prior_log_scale(parameters));
}

template <typename T>
void WeightPosterior<T>::Gaussian::kl_backward(
    const Arrays<const T>& parameters, double scale,
    const Arrays<T>& gradients) {
  double prior_gradient = 0;
  const kernels::GaussianKlGradient<T> gradient{
      scale, gradients[loc_], gradients[log_scale_], &prior_gradient};
  kernels::gaussian_kl(this->shape_.size(), parameters[loc_],
                       parameters[log_scale_], prior_log_scale(parameters),
                       &gradient);
  if (prior_log_scale_) *gradients[*prior_log_scale_] += T(prior_gradient);
}

template <typename T>
void WeightPosterior<T>::Gaussian::moments(const Arrays<const T>& parameters,
                                           T* mean, T* variance) {
  const std::int64_t size = this->shape_.size();
  for (std::int64_t i = 0; i < size; ++i) {
    if (mean != nullptr) mean[i] = parameters[loc_][i];
    if (variance != nullptr) {
      variance[i] = std::exp(2 * parameters[log_scale_][i]);
    }
  }
}

template <typename T>
void WeightPosterior<T>::Gaussian::point(const Arrays<const T>& parameters,
                                         kernels::PointWeight, T* weight) {
  std::copy_n(parameters[loc_], this->shape_.size(), weight);
}

template class WeightPosterior<float>::Gaussian;
template class WeightPosterior<double>::Gaussian;

}  // namespace radir::posterior
