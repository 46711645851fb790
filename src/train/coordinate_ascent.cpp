#include "radir/train/coordinate_ascent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "radir/core/error.h"
#include "radir/likelihood/gaussian.h"
#include "radir/likelihood/options.h"
#include "radir/math/constants.h"
#include "radir/math/gamma.h"
#include "radir/network/spec.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/evaluation.h"
#include "radir/train/step.h"
#include "train/posterior_set.h"

namespace radir::train {
namespace {

/// The scale of a normal posterior's fixed prior, also where the options asked
/// for a family that does not fit the shape; none for any other posterior.
std::optional<double> normal_prior_scale(const network::WeightShape& shape,
                                         const posterior::Options& options) {
  const posterior::WeightPosterior<float> posterior(shape, options);
  const auto* normal = posterior.options().get_if<posterior::GaussianOptions>();
  if (normal == nullptr || normal->learn_prior) return std::nullopt;
  return normal->prior_scale;
}

void check_supported(const Model& model) {
  const network::NetworkSpec& network = model.spec().network;
  const WeightedLayer& layer = model.layers().front();
  RADIR_CHECK(
      network.layers.size() == 1 && layer.tensor_shape.size() == 2 &&
          normal_prior_scale(layer.shape, layer.weight) &&
          model.spec().likelihood.kind == likelihood::Kind::Gaussian,
      UnsupportedError,
      "coordinate-ascent: supports one dense layer with the gaussian ",
      "family, fixed priors and the gaussian likelihood, but the model ",
      "is\n", model.describe(), "train it with the method \"elbo\" instead");
}

double dot(const double* a, const double* b, std::int64_t count) {
  return std::inner_product(a, a + count, b, 0.0);
}

}  // namespace

template <typename T>
CoordinateAscent<T>::CoordinateAscent(const MethodSetup& setup)
    : model_(setup.model),
      data_count_(setup.data_count),
      inputs_(setup.model.input_size()) {
  check_supported(model_);
  const WeightedLayer& layer = model_.layers().front();
  weight_prior_scale_ = *normal_prior_scale(layer.shape, layer.weight);
  coordinates_ = inputs_ + (layer.bias_size > 0 ? 1 : 0);
  columns_.resize(static_cast<std::size_t>(coordinates_ * data_count_));
  column_norms_.resize(static_cast<std::size_t>(coordinates_));
  residuals_.resize(static_cast<std::size_t>(data_count_));
}

template <typename T>
TrainingState<T> CoordinateAscent<T>::initial_state(std::uint64_t seed) const {
  TrainingState<T> state = train::initial_state<T>(model_, seed, data_count_);
  state.optimizer = {};  // there is none
  return state;
}

template <typename T>
void CoordinateAscent<T>::check(const TrainingState<T>& state,
                                const Batch<T>& batch,
                                const StepSettings& settings) const {
  const auto size = static_cast<std::int64_t>(state.parameters.size());
  RADIR_CHECK(size == model_.parameter_count(), ArgumentError,
              "coordinate-ascent: the state has ", size,
              " parameters, the model ", model_.parameter_count());
  RADIR_CHECK(batch.count == data_count_ && settings.data_count == data_count_,
              ArgumentError, "coordinate-ascent: a step needs all ",
              data_count_, " examples, but the batch has ", batch.count, " of ",
              settings.data_count);
  RADIR_CHECK(batch.inputs != nullptr && batch.targets != nullptr,
              ArgumentError,
              "coordinate-ascent: the batch has no inputs or no targets");
  RADIR_CHECK(settings.kl_weight > 0, ArgumentError,
              "coordinate-ascent: the KL weight must be above 0, but is ",
              settings.kl_weight, "; use a constant KL schedule");
}

template <typename T>
std::size_t CoordinateAscent<T>::location(std::int64_t output,
                                          std::int64_t j) const {
  const WeightedLayer& layer = model_.layers().front();
  const auto& infos = model_.parameters();
  return static_cast<std::size_t>(
      j < inputs_
          ? infos[layer.first_weight_parameter].offset + output * inputs_ + j
          : infos[layer.first_bias_parameter].offset + output);
}

template <typename T>
std::size_t CoordinateAscent<T>::log_scale(std::int64_t output,
                                           std::int64_t j) const {
  // The posterior's two arrays, equally long, follow each other.
  const WeightedLayer& layer = model_.layers().front();
  const std::int64_t size = j < inputs_ ? layer.shape.size() : layer.bias_size;
  return location(output, j) + static_cast<std::size_t>(size);
}

template <typename T>
void CoordinateAscent<T>::read_inputs(const Batch<T>& batch) {
  for (std::int64_t j = 0; j < coordinates_; ++j) {
    double* column = columns_.data() + j * data_count_;
    for (std::int64_t i = 0; i < data_count_; ++i) {
      column[i] =
          j < inputs_
              ? static_cast<double>(batch.inputs[batch.row(i) * inputs_ + j])
              : 1;
    }
    column_norms_[static_cast<std::size_t>(j)] =
        dot(column, column, data_count_);
  }
}

template <typename T>
void CoordinateAscent<T>::read_residuals(const Batch<T>& batch,
                                         const std::vector<T>& parameters,
                                         std::int64_t output) {
  for (std::int64_t i = 0; i < data_count_; ++i) {
    residuals_[static_cast<std::size_t>(i)] = static_cast<double>(
        batch.targets[batch.row(i) * model_.target_size() + output]);
  }
  for (std::int64_t j = 0; j < coordinates_; ++j) {
    const double* column = columns_.data() + j * data_count_;
    const auto mean = static_cast<double>(parameters[location(output, j)]);
    for (std::int64_t i = 0; i < data_count_; ++i) {
      residuals_[static_cast<std::size_t>(i)] -= mean * column[i];
    }
  }
}

/// Updates the weights of one output, given its residuals; returns the expected
/// sum of squared residuals after it.
template <typename T>
double CoordinateAscent<T>::update_output(std::vector<T>& parameters,
                                          std::int64_t output,
                                          double expected_precision) {
  double spread = 0;  // what the variance of the weights adds to the squares
  for (std::int64_t j = 0; j < coordinates_; ++j) {
    const double* column = columns_.data() + j * data_count_;
    const double norm = column_norms_[static_cast<std::size_t>(j)];
    const double prior_scale =
        j < inputs_ ? weight_prior_scale_ : model_.spec().bias_prior_scale;
    T& mean = parameters[location(output, j)];
    T& log_deviation = parameters[log_scale(output, j)];
    const double variance =
        1 / (expected_precision * norm + 1 / (prior_scale * prior_scale));
    const double old = static_cast<double>(mean);
    const double without =
        dot(column, residuals_.data(), data_count_) + old * norm;
    mean = static_cast<T>(variance * expected_precision * without);
    log_deviation = static_cast<T>(std::log(variance) / 2);
    const double change = static_cast<double>(mean) - old;
    for (std::int64_t i = 0; i < data_count_; ++i) {
      residuals_[static_cast<std::size_t>(i)] -= change * column[i];
    }
    spread += variance * norm;
  }
  return dot(residuals_.data(), residuals_.data(), data_count_) + spread;
}

template <typename T>
StepLoss CoordinateAscent<T>::step(TrainingState<T>& state,
                                   const Batch<T>& batch,
                                   const StepSettings& settings) {
  check(state, batch, settings);
  read_inputs(batch);
  std::vector<T> parameters = state.parameters;
  likelihood::Precision q = likelihood::precision_of(
      likelihood_parameters(model_, parameters).data());
  const double temperature = settings.kl_weight;
  double squares = 0;
  for (std::int64_t k = 0; k < model_.target_size(); ++k) {
    read_residuals(batch, parameters, k);
    squares += update_output(parameters, k, q.shape / q.rate / temperature);
  }

  const likelihood::Options& prior = model_.spec().likelihood;
  const auto examples = static_cast<double>(data_count_);
  const auto targets = static_cast<double>(data_count_ * model_.target_size());
  q.shape = prior.prior_shape + targets / (2 * temperature);
  q.rate = prior.prior_rate + squares / (2 * temperature);
  RADIR_CHECK(std::isfinite(q.rate), NumericalError,
              "coordinate-ascent: the sum of squared residuals is not finite ",
              "at step ", state.step + 1,
              "; standardise the inputs and targets first");
  const auto at = static_cast<std::size_t>(model_.likelihood_offset());
  parameters[at] = static_cast<T>(std::log(q.shape));
  parameters[at + 1] = static_cast<T>(std::log(q.rate));
  state.parameters = std::move(parameters);
  ++state.step;

  StepLoss loss;
  loss.nll = (targets * (math::detail::kHalfLog2Pi +
                         (std::log(q.rate) - math::digamma(q.shape)) / 2) +
              q.shape / q.rate * squares / 2) /
             examples;
  loss.kl =
      settings.kl_value
          ? (PosteriorSet<T>(model_).kl(state.parameters.data()) +
             model_.likelihood().kl(
                 likelihood_parameters(model_, state.parameters).data())) /
                examples
          : std::numeric_limits<double>::quiet_NaN();
  return loss;
}

template class CoordinateAscent<float>;
template class CoordinateAscent<double>;

}  // namespace radir::train
