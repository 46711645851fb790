#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/model.h"
#include "radir/train/sharded_sum.h"
#include "radir/train/step.h"

namespace radir::train {

/// One training step of a built-in network with no autograd in it: sample the
/// weights, run the network forward and backward, add the KL's gradient, and
/// let the optimiser update the flat parameter buffer.
///
/// Minimises nll + kl_weight * kl. The bits of the result depend on the state
/// and the batch alone, not on the number of threads. Allocates nothing after
/// construction.
///
/// Several workers can share a batch: each has a part of it, the same state
/// and settings, and an `exchange` that adds the gradients up. They draw the
/// same weights, so their step is that of one worker with the complete batch.
///
/// With `sharded` the gradients of the weights are added up shard by shard and
/// then along a binary tree. Shards are cut where vectors end
/// (kernels::kShardRows), so some of a small batch are empty. Every worker is
/// given the complete batch and computes the subtrees that `sharded` asks it
/// for, each in one pass. In float only.
template <typename T>
class CompiledStep {
 public:
  CompiledStep(const Model& model, std::int64_t max_batch,
               Execution execution = {}, GradientExchange<T> exchange = nullptr,
               ShardedSum* sharded = nullptr);
  ~CompiledStep();
  CompiledStep(CompiledStep&&) noexcept;
  CompiledStep& operator=(CompiledStep&&) noexcept;

  /// Advances the state by one step: gradient, exchange, update. Returns the
  /// loss after the exchange. Throws NumericalError, leaving the state as it
  /// was, when the loss or a gradient is not finite; the message names seed,
  /// step and the first parameter concerned.
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings);

  /// Loss and gradient of the current state for the noise of its next step,
  /// without taking it. The gradient is this worker's own.
  StepLoss gradient(const TrainingState<T>& state, const Batch<T>& batch,
                    const StepSettings& settings);
  /// What the last call computed, laid out as the parameters.
  const std::vector<T>& last_gradient() const;
  /// Takes the step of the last gradient. Throws as step().
  void update(TrainingState<T>& state, const StepSettings& settings);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::train
