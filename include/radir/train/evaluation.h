#pragma once

#include <cstdint>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/trainer.h"

namespace radir::train {

/// The parameters of the likelihood's own among those of the model.
template <typename T>
std::vector<double> likelihood_parameters(const Model& model,
                                          const std::vector<T>& parameters);

/// Log-likelihood of each example under the mixture of the weight samples,
/// log mean_s p(target | sample s), in nats and in the targets' own units as
/// the network sees them. `outputs` is [samples][count][output_size], as
/// Predictor writes it.
template <typename T>
std::vector<double> log_likelihoods(const Model& model,
                                    const std::vector<T>& parameters,
                                    const T* outputs, std::int64_t samples,
                                    const DataView<T>& data);

/// The same of all examples, under `samples` draws.
template <typename T>
std::vector<double> predictive_log_likelihoods(const Model& model,
                                               const std::vector<T>& parameters,
                                               const DataView<T>& data,
                                               std::int64_t samples,
                                               std::uint64_t seed,
                                               Execution execution = {});

/// Mean negative log-likelihood of the examples under `samples` draws.
template <typename T>
double predictive_nll(const Model& model, const std::vector<T>& parameters,
                      const DataView<T>& data, std::int64_t samples,
                      std::uint64_t seed, Execution execution = {});

/// Multiplies the variance of the noise among the parameters. Returns false,
/// and does nothing, where the likelihood has none of its own.
template <typename T>
bool scale_noise(const Model& model, double factor, std::vector<T>& parameters);

/// A factor of the noise's variance, and the mean negative log-likelihood with
/// it.
struct NoiseFit {
  double factor = 1;
  double nll = 0;
};

/// Powers of 2^(1/4) from 1/16 to 2^16.
std::vector<double> noise_factors();

/// The factor with which examples that were not trained on are most likely
/// under the mixture of `samples` draws of each network; 1 where the likelihood
/// has no noise of its own. The residuals of the training set say too little
/// about the noise where the weights are numbers or nearly so.
template <typename T>
NoiseFit fit_noise(const Model& model,
                   const std::vector<std::vector<T>>& networks,
                   const DataView<T>& data, std::int64_t samples,
                   std::uint64_t seed,
                   const std::vector<double>& factors = noise_factors(),
                   Execution execution = {});

}  // namespace radir::train
