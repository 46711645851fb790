#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/kernels/adam.h"
#include "radir/train/model.h"

namespace radir::train {

/// Everything that changes in training: what a checkpoint holds.
template <typename T>
struct TrainingState {
  std::vector<T> parameters;
  std::vector<T> first_moment;
  std::vector<T> second_moment;
  std::uint64_t seed = 0;
  std::int64_t step = 0;  ///< steps done
};

/// Starting values of all parameters. `data_count` sets where the precision's
/// posterior starts (its shape has a known optimum); targets are taken to be
/// standardised.
template <typename T>
TrainingState<T> initial_state(const Model& model, std::uint64_t seed,
                               std::int64_t data_count);

/// A minibatch: `count` examples, each `indices[i]` of the arrays (or the i-th
/// where indices is null).
template <typename T>
struct Batch {
  const T* inputs = nullptr;             ///< [examples][input_size]
  const T* targets = nullptr;            ///< [examples][target_size], or null
  const std::int64_t* labels = nullptr;  ///< [examples], for classes
  const std::int64_t* indices = nullptr;
  std::int64_t count = 0;
};

struct StepSettings {
  /// Examples the ELBO speaks of, N: the whole training set.
  std::int64_t data_count = 0;
  double kl_weight = 1;
  /// Weight samples averaged in one step.
  int samples = 1;
  kernels::AdamOptions adam;
  /// Factor on the learning rate of the locations of the radii
  /// (ParameterInfo::radius_location).
  double radius_rate = 1;
  /// Largest norm of the gradient; 0: no limit.
  double max_gradient_norm = 0;
  /// Whether the value of the KL is wanted. Its gradient is always part of the
  /// step; the value of a small network's takes a tenth of the step's time.
  bool kl_value = true;
};

/// The two parts of the loss, in nats per example: nll is the batch's mean
/// expected negative log-likelihood, kl the whole KL divergence over N.
struct StepLoss {
  double nll = 0;
  double kl = 0;  ///< NaN where StepSettings::kl_value is false
};

/// One training step of a built-in network with no autograd in it: sample the
/// weights, run the network forward and backward, add the KL's gradient, and
/// take an Adam step over the flat parameter buffer.
///
/// Minimises nll + kl_weight * kl. The bits of the result depend on the state
/// and the batch alone, not on the number of threads. Allocates nothing after
/// construction.
template <typename T>
class CompiledStep {
 public:
  CompiledStep(const Model& model, std::int64_t max_batch,
               ThreadPool* pool = nullptr);
  ~CompiledStep();
  CompiledStep(CompiledStep&&) noexcept;
  CompiledStep& operator=(CompiledStep&&) noexcept;

  /// Advances the state by one step. Throws NumericalError, leaving the state
  /// as it was, when the loss or a gradient is not finite; the message names
  /// seed, step and the first parameter concerned.
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings);

  /// Loss and gradient of the current state for the noise of its next step,
  /// without taking it.
  StepLoss gradient(const TrainingState<T>& state, const Batch<T>& batch,
                    const StepSettings& settings);
  /// What the last call computed, laid out as the parameters.
  const std::vector<T>& last_gradient() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::train
