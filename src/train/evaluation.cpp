#include "radir/train/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/likelihood/likelihood.h"
#include "radir/math/predictive.h"
#include "radir/train/predictor.h"

namespace radir::train {

template <typename T>
std::vector<double> likelihood_parameters(const Model& model,
                                          const std::vector<T>& parameters) {
  return {parameters.begin() + model.likelihood_offset(), parameters.end()};
}

template <typename T>
std::vector<double> log_likelihoods(const Model& model,
                                    const std::vector<T>& parameters,
                                    const T* outputs, std::int64_t samples,
                                    const DataView<T>& data) {
  const std::vector<double> own = likelihood_parameters(model, parameters);
  likelihood::Draws<T> draws;
  draws.num_outputs = model.output_size();
  draws.count = samples;
  draws.stride = data.count * model.output_size();
  std::vector<double> result(static_cast<std::size_t>(data.count));
  std::vector<double> of_samples(static_cast<std::size_t>(samples));
  for (std::int64_t row = 0; row < data.count; ++row) {
    draws.outputs = outputs + row * model.output_size();
    likelihood::Targets<T> target;
    if (model.likelihood().has_labels()) {
      target.labels = data.labels + row;
    } else {
      target.values = data.targets + row * model.target_size();
    }
    model.likelihood().log_likelihoods(draws, target, own.data(),
                                       of_samples.data());
    result[static_cast<std::size_t>(row)] =
        math::log_mean_exp(of_samples.data(), samples);
  }
  return result;
}

namespace {

/// Calls visit(examples, their outputs under all draws) for parts of the data,
/// so that the outputs stay small.
template <typename T, typename Visit>
void for_each_chunk(const Model& model, const std::vector<T>& parameters,
                    const DataView<T>& data, std::int64_t samples,
                    std::uint64_t seed, Execution execution,
                    const Visit& visit) {
  RADIR_CHECK(data.count > 0, ArgumentError,
              "predictive_nll: there are no examples");
  Predictor<T> predictor(model, parameters, samples, seed, execution);
  constexpr std::int64_t kChunk = 4096;
  std::vector<T> outputs;
  for (std::int64_t begin = 0; begin < data.count; begin += kChunk) {
    DataView<T> chunk = data;
    chunk.count = std::min(kChunk, data.count - begin);
    chunk.inputs += begin * model.input_size();
    if (chunk.targets != nullptr) chunk.targets += begin * model.target_size();
    if (chunk.labels != nullptr) chunk.labels += begin;
    outputs.resize(
        static_cast<std::size_t>(samples * chunk.count * model.output_size()));
    predictor.run(chunk.inputs, chunk.count, outputs.data());
    visit(chunk, outputs.data());
  }
}

}  // namespace

template <typename T>
std::vector<double> predictive_log_likelihoods(const Model& model,
                                               const std::vector<T>& parameters,
                                               const DataView<T>& data,
                                               std::int64_t samples,
                                               std::uint64_t seed,
                                               Execution execution) {
  std::vector<double> result;
  for_each_chunk(model, parameters, data, samples, seed, execution,
                 [&](const DataView<T>& chunk, const T* outputs) {
                   for (double value : log_likelihoods(
                            model, parameters, outputs, samples, chunk)) {
                     result.push_back(value);
                   }
                 });
  return result;
}

template <typename T>
double predictive_nll(const Model& model, const std::vector<T>& parameters,
                      const DataView<T>& data, std::int64_t samples,
                      std::uint64_t seed, Execution execution) {
  double sum = 0;
  for (double value : predictive_log_likelihoods(model, parameters, data,
                                                 samples, seed, execution)) {
    sum -= value;
  }
  return sum / static_cast<double>(data.count);
}

template <typename T>
bool scale_noise(const Model& model, double factor,
                 std::vector<T>& parameters) {
  std::vector<double> own = likelihood_parameters(model, parameters);
  if (!model.likelihood().scale_noise(factor, own.data())) return false;
  std::transform(own.begin(), own.end(),
                 parameters.begin() + model.likelihood_offset(),
                 [](double value) { return static_cast<T>(value); });
  return true;
}

std::vector<double> noise_factors() {
  constexpr int kLowest = -16;  // quarters of a power of 2
  constexpr int kHighest = 64;
  std::vector<double> factors;
  for (int quarter = kLowest; quarter <= kHighest; ++quarter) {
    factors.push_back(std::exp2(quarter / 4.0));
  }
  return factors;
}

template <typename T>
NoiseFit fit_noise(const Model& model,
                   const std::vector<std::vector<T>>& networks,
                   const DataView<T>& data, std::int64_t samples,
                   std::uint64_t seed, const std::vector<double>& factors,
                   Execution execution) {
  std::vector<T> probe = networks.at(0);
  const bool has_noise = scale_noise(model, 1, probe);
  const std::vector<double> tried = has_noise ? factors : std::vector{1.0};
  // Of each factor and example, one number per network.
  const auto count = static_cast<std::size_t>(data.count);
  std::vector<std::vector<double>> values(tried.size() * count);
  for (const std::vector<T>& parameters : networks) {
    std::vector<std::vector<T>> scaled(tried.size(), parameters);
    for (std::size_t k = 0; k < tried.size(); ++k) {
      scale_noise(model, tried[k], scaled[k]);
    }
    std::size_t row = 0;
    for_each_chunk(model, parameters, data, samples, seed, execution,
                   [&](const DataView<T>& chunk, const T* outputs) {
                     for (std::size_t k = 0; k < tried.size(); ++k) {
                       std::size_t at = k * count + row;
                       for (double value : log_likelihoods(
                                model, scaled[k], outputs, samples, chunk)) {
                         values[at++].push_back(value);
                       }
                     }
                     row += static_cast<std::size_t>(chunk.count);
                   });
  }
  NoiseFit best;
  best.nll = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < tried.size(); ++k) {
    double nll = 0;
    for (std::size_t row = 0; row < count; ++row) {
      const std::vector<double>& of_networks = values[k * count + row];
      nll -= math::log_mean_exp(of_networks.data(),
                                static_cast<std::int64_t>(of_networks.size())) /
             static_cast<double>(count);
    }
    if (nll < best.nll) best = {tried[k], nll};
  }
  return best;
}

#define RADIR_INSTANTIATE(T)                                                 \
  template std::vector<double> likelihood_parameters<T>(                     \
      const Model&, const std::vector<T>&);                                  \
  template std::vector<double> log_likelihoods<T>(                           \
      const Model&, const std::vector<T>&, const T*, std::int64_t,           \
      const DataView<T>&);                                                   \
  template std::vector<double> predictive_log_likelihoods<T>(                \
      const Model&, const std::vector<T>&, const DataView<T>&, std::int64_t, \
      std::uint64_t, Execution);                                             \
  template double predictive_nll<T>(const Model&, const std::vector<T>&,     \
                                    const DataView<T>&, std::int64_t,        \
                                    std::uint64_t, Execution);               \
  template bool scale_noise<T>(const Model&, double, std::vector<T>&);       \
  template NoiseFit fit_noise<T>(                                            \
      const Model&, const std::vector<std::vector<T>>&, const DataView<T>&,  \
      std::int64_t, std::uint64_t, const std::vector<double>&, Execution);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::train
