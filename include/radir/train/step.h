#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/model.h"
#include "radir/train/optimizer.h"
#include "radir/train/penalty.h"

// What goes into a training step of any method and what comes out of it.

namespace radir::train {

/// Everything that changes in training: what a checkpoint holds.
template <typename T>
struct TrainingState {
  std::vector<T> parameters;
  OptimizerState<T> optimizer;
  Device device = Device::Cpu;  ///< where the arrays are
  std::uint64_t seed = 0;
  std::int64_t step = 0;  ///< steps done
};

/// The state before the first step from the given parameters.
template <typename T>
TrainingState<T> state_from(std::vector<T> parameters, std::uint64_t seed,
                            const Optimizer& optimizer = {});

/// The same from random parameters. `data_count` sets where the precision's
/// posterior starts (its shape has a known optimum); targets are taken to be
/// standardised.
template <typename T>
TrainingState<T> initial_state(const Model& model, std::uint64_t seed,
                               std::int64_t data_count,
                               const Optimizer& optimizer = {});

/// A minibatch: `count` examples, each `indices[i]` of the arrays (or the i-th
/// where indices is null).
template <typename T>
struct Batch {
  const T* inputs = nullptr;             ///< [examples][input_size]
  const T* targets = nullptr;            ///< [examples][target_size], or null
  const std::int64_t* labels = nullptr;  ///< [examples], for classes
  const std::int64_t* indices = nullptr;
  std::int64_t count = 0;

  /// Where example i of the batch is in the arrays.
  std::int64_t row(std::int64_t i) const {
    return indices == nullptr ? i : indices[i];
  }

  /// Examples from `begin` on, of these sizes.
  Batch part(std::int64_t begin, std::int64_t size, std::int64_t input_size,
             std::int64_t target_size) const {
    Batch result = *this;
    result.count = size;
    if (indices != nullptr) {
      result.indices += begin;
      return result;
    }
    result.inputs += begin * input_size;
    if (targets != nullptr) result.targets += begin * target_size;
    if (labels != nullptr) result.labels += begin;
    return result;
  }
};

struct StepSettings {
  /// Examples the ELBO is about, N: all of the training set.
  std::int64_t data_count = 0;
  /// Examples of the batch over all workers that share it (GradientExchange);
  /// 0: this worker has all of it.
  std::int64_t shared_batch = 0;
  double kl_weight = 1;
  /// Weight samples averaged in one step.
  int samples = 1;
  Optimizer optimizer;
  /// Factor on the learning rate of scales such as radii or gates
  /// (ParameterInfo::is_scale).
  double scale_rate = 1;
  /// Largest norm of the gradient of all workers; 0: no limit.
  double max_gradient_norm = 0;
  /// Counts as a part of the KL; null: none.
  const Penalty* penalty = nullptr;
  /// Whether the value of the KL is wanted. Its gradient is always part of the
  /// step; the value of a small network's takes a tenth of the step's time.
  bool kl_value = true;
};

/// The two parts of the loss, in nats per example: nll is the batch's mean
/// expected negative log-likelihood, kl the KL divergence of all parameters
/// over N. With a shared batch, both are this worker's share of the sum.
struct StepLoss {
  double nll = 0;
  double kl = 0;  ///< NaN where StepSettings::kl_value is false
};

/// Replaces gradient and loss of one worker by their sums over all workers.
/// Every worker must get the same bits, or their parameters drift apart.
template <typename T>
using GradientExchange =
    std::function<void(T* gradient, std::int64_t count, StepLoss& loss)>;

}  // namespace radir::train
