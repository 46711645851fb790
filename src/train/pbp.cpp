#include "radir/train/pbp.h"

#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/gaussian.h"
#include "radir/likelihood/options.h"
#include "radir/math/constants.h"
#include "radir/math/moment_matching.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/evaluation.h"
#include "train/pbp_network.h"

namespace radir::train {
namespace {

using math::GammaPair;
using math::MeanVariance;

/// Of lambda, the precision of the weights under their prior.
constexpr double kPriorShape = 6;
constexpr double kPriorRate = 6;
/// The mean of 1/lambda.
constexpr double kPriorVariance = kPriorRate / (kPriorShape - 1);

/// Stream of the starting means, far from those of the weights and the trainer.
constexpr std::uint32_t kStartStream = 0x40000020;

/// Arrays of the state beside the parameters: the factors of the weights' prior
/// as natural parameters (of the normal 1/v and m/v, of the Gamma distribution
/// what they add to shape and rate), and lambda's shape and rate.
constexpr const char* kFactorPrecision = "factor_precision";
constexpr const char* kFactorShift = "factor_shift";
constexpr const char* kFactorShape = "factor_shape";
constexpr const char* kFactorRate = "factor_rate";
constexpr const char* kLambda = "lambda";

bool is_normal(const network::WeightShape& shape,
               const posterior::Options& options) {
  const posterior::WeightPosterior<float> posterior(shape, options);
  const auto* normal = posterior.options().get_if<posterior::GaussianOptions>();
  return normal != nullptr && !normal->learn_prior;
}

void check_supported(const Model& model) {
  bool normal = true;
  for (const WeightedLayer& layer : model.layers()) {
    normal = normal && is_normal(layer.shape, layer.weight);
  }
  RADIR_CHECK(
      normal && model.output_size() == 1 &&
          model.spec().likelihood.kind == likelihood::Kind::Gaussian,
      UnsupportedError,
      "pbp: supports the gaussian family with a fixed prior, one target and ",
      "the gaussian likelihood, but the model is\n", model.describe(),
      "train it with the method \"elbo\" instead");
  RADIR_CHECK(model.spec().likelihood.prior_shape > 1, ArgumentError,
              "pbp: the shape of the precision's prior must be above 1, but ",
              "is ", model.spec().likelihood.prior_shape,
              "; the published one is 6, with a rate of 6");
}

/// The factors before the first pass: N(0, kPriorVariance), without lambda.
template <typename T>
OptimizerState<T> fresh_factors(const Model& model) {
  std::int64_t count = 0;
  for (const WeightedLayer& layer : model.layers()) {
    count += layer.shape.size() + layer.bias_size;
  }
  OptimizerState<T> state;
  const auto size = static_cast<std::size_t>(count);
  state.slots[kFactorPrecision].assign(size,
                                       static_cast<T>(1 / kPriorVariance));
  for (const char* name : {kFactorShift, kFactorShape, kFactorRate}) {
    state.slots[name].assign(size, T(0));
  }
  state.slots[kLambda] = {T(kPriorShape), T(kPriorRate)};
  return state;
}

}  // namespace

template <typename T>
Pbp<T>::Pbp(const MethodSetup& setup)
    : model_(setup.model), data_count_(setup.data_count) {
  network_ = std::make_unique<PbpNetwork>(model_.spec().network);
  check_supported(model_);
}

template <typename T>
Pbp<T>::~Pbp() = default;

template <typename T>
template <typename Visit>
void Pbp<T>::for_each_weight(const Visit& visit) const {
  const auto& infos = model_.parameters();
  for (std::size_t l = 0; l < model_.layers().size(); ++l) {
    const WeightedLayer& layer = model_.layers()[l];
    const PbpNetwork::Layer& own = network_->layers()[l];
    // Of weights and of biases, the means come before the log scales.
    const auto weights =
        static_cast<std::size_t>(infos[layer.first_weight_parameter].offset);
    const auto size = static_cast<std::size_t>(layer.shape.size());
    const auto biases =
        layer.bias_size > 0
            ? static_cast<std::size_t>(infos[layer.first_bias_parameter].offset)
            : 0;
    const auto bias_size = static_cast<std::size_t>(layer.bias_size);
    const auto inputs = static_cast<std::size_t>(own.inputs);
    for (std::size_t i = 0; i < own.mean.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(own.fan_in());
      const auto column = i % static_cast<std::size_t>(own.fan_in());
      const std::size_t mean =
          column < inputs ? weights + row * inputs + column : biases + row;
      visit(mean, mean + (column < inputs ? size : bias_size), l, i);
    }
  }
}

/// The model's weights are those of the network over the root of the fan-in.
template <typename T>
void Pbp<T>::read(const std::vector<T>& parameters) {
  for_each_weight([&](std::size_t mean, std::size_t log_scale, std::size_t l,
                      std::size_t i) {
    PbpNetwork::Layer& layer = network_->layers()[l];
    const auto fan_in = static_cast<double>(layer.fan_in());
    layer.mean[i] = static_cast<double>(parameters[mean]) * std::sqrt(fan_in);
    layer.variance[i] =
        std::exp(2 * static_cast<double>(parameters[log_scale])) * fan_in;
  });
}

template <typename T>
void Pbp<T>::write(std::vector<T>& parameters) const {
  for_each_weight([&](std::size_t mean, std::size_t log_scale, std::size_t l,
                      std::size_t i) {
    const PbpNetwork::Layer& layer = network_->layers()[l];
    const auto fan_in = static_cast<double>(layer.fan_in());
    parameters[mean] = static_cast<T>(layer.mean[i] / std::sqrt(fan_in));
    parameters[log_scale] =
        static_cast<T>(std::log(layer.variance[i] / fan_in) / 2);
  });
}

template <typename T>
TrainingState<T> Pbp<T>::initial_state(std::uint64_t seed) const {
  TrainingState<T> state;
  state.seed = seed;
  state.parameters.resize(static_cast<std::size_t>(model_.parameter_count()));
  std::uint32_t stream = kStartStream;
  for (PbpNetwork::Layer& layer : network_->layers()) {
    kernels::fill_normal({seed, stream++, 0}, 0,
                         static_cast<std::int64_t>(layer.mean.size()),
                         layer.mean.data());
    for (double& mean : layer.mean) {
      mean /= std::sqrt(static_cast<double>(layer.fan_in()));
    }
    layer.variance.assign(layer.mean.size(), kPriorVariance);
  }
  write(state.parameters);
  const auto own = static_cast<std::size_t>(model_.likelihood_offset());
  state.parameters[own] =
      static_cast<T>(std::log(model_.spec().likelihood.prior_shape));
  state.parameters[own + 1] =
      static_cast<T>(std::log(model_.spec().likelihood.prior_rate));

  state.optimizer = fresh_factors<T>(model_);
  return state;
}

template <typename T>
void Pbp<T>::check(const TrainingState<T>& state, const Batch<T>& batch,
                   const StepSettings& settings) const {
  const auto size = static_cast<std::int64_t>(state.parameters.size());
  RADIR_CHECK(size == model_.parameter_count() &&
                  have_same_slots(state.optimizer, fresh_factors<T>(model_)),
              ArgumentError, "pbp: the state has ", size,
              " parameters or other arrays than the model's, which has ",
              model_.parameter_count());
  RADIR_CHECK(batch.count == data_count_ && settings.data_count == data_count_,
              ArgumentError, "pbp: a step needs all ", data_count_,
              " examples, but the batch has ", batch.count, " of ",
              settings.data_count);
  RADIR_CHECK(batch.inputs != nullptr && batch.targets != nullptr,
              ArgumentError, "pbp: the batch has no inputs or no targets");
}

template <typename T>
StepLoss Pbp<T>::step(TrainingState<T>& state, const Batch<T>& batch,
                      const StepSettings& settings) {
  check(state, batch, settings);
  read(state.parameters);
  const auto precision = likelihood::precision_of(
      likelihood_parameters(model_, state.parameters).data());
  GammaPair<double> noise = {precision.shape, precision.rate};
  std::vector<double> inputs(static_cast<std::size_t>(model_.input_size()));
  StepLoss loss;
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const T* const row = batch.inputs + batch.row(i) * model_.input_size();
    inputs.assign(row, row + model_.input_size());
    const MeanVariance<double> output = network_->forward(inputs.data());
    const double difference =
        static_cast<double>(batch.targets[batch.row(i)]) - output.mean;
    loss.nll += math::detail::kHalfLog2Pi -
                log_normaliser(difference, output.variance, noise, 0);
    network_->update(
        log_normaliser_gradient(difference, output.variance, noise));
    noise = updated(difference, output.variance, noise);
  }
  loss.nll /= static_cast<double>(batch.count);
  RADIR_CHECK(std::isfinite(loss.nll), NumericalError,
              "pbp: the loss is not finite at step ", state.step + 1,
              "; standardise the inputs and targets first");
  loss.kl = refresh_prior(state.optimizer) / static_cast<double>(data_count_);
  write(state.parameters);
  const auto own = static_cast<std::size_t>(model_.likelihood_offset());
  state.parameters[own] = static_cast<T>(std::log(noise.shape));
  state.parameters[own + 1] = static_cast<T>(std::log(noise.rate));
  ++state.step;
  return loss;
}

/// Returns the KL of the weights from their prior at the mean of its variance.
template <typename T>
double Pbp<T>::refresh_prior(OptimizerState<T>& state) {
  auto& slots = state.slots;
  std::vector<T>& precision = slots.find(kFactorPrecision)->second;
  std::vector<T>& shift = slots.find(kFactorShift)->second;
  std::vector<T>& shape = slots.find(kFactorShape)->second;
  std::vector<T>& rate = slots.find(kFactorRate)->second;
  std::vector<T>& stored = slots.find(kLambda)->second;
  GammaPair<double> lambda = {static_cast<double>(stored[0]),
                              static_cast<double>(stored[1])};
  std::size_t at = 0;
  for (PbpNetwork::Layer& layer : network_->layers()) {
    for (std::size_t i = 0; i < layer.mean.size(); ++i, ++at) {
      PriorFactor factor = {
          static_cast<double>(precision[at]), static_cast<double>(shift[at]),
          static_cast<double>(shape[at]), static_cast<double>(rate[at])};
      refresh(layer.mean[i], layer.variance[i], lambda, factor);
      precision[at] = static_cast<T>(factor.precision);
      shift[at] = static_cast<T>(factor.shift);
      shape[at] = static_cast<T>(factor.shape);
      rate[at] = static_cast<T>(factor.rate);
    }
  }
  stored = {static_cast<T>(lambda.shape), static_cast<T>(lambda.rate)};

  const double prior = lambda.rate / (lambda.shape - 1);
  double kl = 0;
  for (const PbpNetwork::Layer& layer : network_->layers()) {
    for (std::size_t i = 0; i < layer.mean.size(); ++i) {
      const double ratio = layer.variance[i] / prior;
      kl += (ratio - 1 - std::log(ratio) +
             layer.mean[i] * layer.mean[i] / prior) /
            2;
    }
  }
  return kl;
}

template class Pbp<float>;
template class Pbp<double>;

}  // namespace radir::train
