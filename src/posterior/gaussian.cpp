#include "posterior/gaussian.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "radir/kernels/gaussian.h"
#include "radir/kernels/random.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {

template <typename T>
WeightPosterior<T>::Gaussian::Gaussian(const network::WeightShape& shape,
                                       const Options& options)
    : Impl(shape, options),
      loc_(this->add_block("loc", Extent::Weight)),
      log_scale_(this->add_block("log_scale", Extent::Weight)),
      deviation_(static_cast<std::size_t>(shape.size())) {
  if (options.learn_prior) {
    prior_log_scale_ = this->add_block("prior_log_scale", Extent::One);
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

template <typename T>
UnitScores WeightPosterior<T>::Gaussian::unit_scores(
    const Arrays<const T>& parameters) {
  const network::WeightShape& shape = this->shape_;
  UnitScores scores;
  scores.rows.resize(static_cast<std::size_t>(shape.rows()));
  scores.columns.resize(static_cast<std::size_t>(shape.columns()));
  const T* loc = parameters[loc_];
  for (std::size_t row = 0; row < scores.rows.size(); ++row) {
    const auto group = static_cast<std::int64_t>(row) / shape.out;
    for (std::int64_t column = 0; column < shape.in; ++column) {
      for (std::int64_t k = 0; k < shape.kernel; ++k) {
        const auto value = static_cast<double>(*loc++);
        scores.rows[row] += value * value;
        scores.columns[static_cast<std::size_t>(group * shape.in + column)] +=
            value * value;
      }
    }
  }
  const auto to_log_rms = [](std::vector<double>& squares,
                             std::int64_t length) {
    for (double& score : squares) {
      score = std::log(score / static_cast<double>(length)) / 2;
    }
  };
  to_log_rms(scores.rows, shape.row_length());
  to_log_rms(scores.columns, shape.column_length());
  return scores;
}

template class WeightPosterior<float>::Gaussian;
template class WeightPosterior<double>::Gaussian;

}  // namespace radir::posterior
