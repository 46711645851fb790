#pragma once

#include <cstdint>

#include "radir/core/config.h"

// A complete training of networks of dense layers and convolutions, as plain
// numbers and offsets: what a device needs to run it without asking the host.
// Filled in by radir/train; run by kernels/cuda.

namespace radir::kernels {

/// Layers with weights.
constexpr int kMostTrainedLayers = 4;
/// Of a convolution's kernel.
constexpr int kMostTrainedTaps = 100;

/// Neighbours, such as the examples of a batch, that are read and written as
/// one: see kernels/cuda/quad.h.
constexpr int kQuad = 4;

/// Rounded up to a whole number of quads.
RADIR_HOST_DEVICE constexpr std::int32_t whole_quads(std::int32_t count) {
  return (count + kQuad - 1) / kQuad * kQuad;
}

/// Where the four arrays of RadiusFactors begin in the flat parameters.
struct FactorOffsets {
  std::int32_t loc_a = 0;
  std::int32_t log_var_a = 0;
  std::int32_t loc_b = 0;
  std::int32_t log_var_b = 0;
};

/// The rows, or the columns, of a radial-directional weight: what is learnt
/// (offsets into the flat parameters), its prior, and its memory.
struct SidePlan {
  std::int32_t groups = 0;  ///< 0: the weight lacks this side
  std::int32_t length = 0;  ///< of a direction
  bool is_row = true;
  bool shared_concentration = true;
  bool global_radius = true;
  std::int32_t direction = 0;
  std::int32_t log_concentration = 0;
  FactorOffsets local;
  FactorOffsets global;
  /// Of the prior, whose mean directions are the posterior's own; 0 is the
  /// uniform law.
  double prior_concentration = 0;
  double log_local_scale = 0;
  double log_global_scale = 0;
  double degrees_of_freedom = 1;
  // Set by lay_out:
  std::int32_t first_group = 0;  ///< among the groups of both sides
  std::int32_t part = 0;         ///< noise, then this side's factor
  std::int32_t of_groups = 0;    ///< kGroupArrays arrays
  std::int32_t numbers = 0;      ///< kSideNumbers doubles
};

/// The posterior of a weight or a bias: radial-directional with one or two
/// sides, or normal where it has none.
struct WeightPlan {
  std::int32_t rows = 0;
  std::int32_t columns = 0;       ///< of the matrix: the length of a row
  std::int32_t column_width = 1;  ///< neighbours in a row that one column has
  std::uint32_t stream = 0;       ///< the first of its random streams
  SidePlan row;
  SidePlan column;
  std::int32_t loc = 0;
  std::int32_t log_scale = 0;
  double log_prior_scale = 0;
  // Set by lay_out:
  std::int32_t draw = 0;
  std::int32_t gradient = 0;   ///< by the draw
  std::int32_t deviation = 0;  ///< normal: of the draw from its mean
  std::int32_t radius_noise = 0;
  std::int32_t exponential = 0;
  /// In a large network, the draw in other orders, to read a quad of channels
  /// at once: [input][tap][output] and [output][tap][input], the last index
  /// filled up to a whole number of quads.
  bool has_orders = false;
  std::int32_t draw_by_output = 0;
  std::int32_t draw_by_input = 0;

  RADIR_HOST_DEVICE std::int32_t size() const { return rows * columns; }
  RADIR_HOST_DEVICE std::int32_t inputs() const {
    return columns / column_width;
  }
  RADIR_HOST_DEVICE std::int32_t groups() const {
    return row.groups + column.groups;
  }
};

/// Of an image.
struct Extent {
  std::int32_t height = 1;
  std::int32_t width = 1;

  RADIR_HOST_DEVICE std::int32_t size() const { return height * width; }
};

/// A convolution of stride 1 without padding, then ReLU, then max-pooling of
/// windows that do not overlap. A dense layer has images of one pixel.
struct LayerPlan {
  std::int32_t inputs = 0;   ///< channels
  std::int32_t outputs = 0;  ///< likewise
  Extent image;              ///< of an input channel
  Extent kernel;
  Extent output;  ///< of an output channel, before pooling
  bool relu = false;
  bool has_pool = false;
  Extent window;  ///< of the pooling
  Extent window_step;
  Extent pooled;  ///< `output` without pooling
  bool has_bias = true;
  WeightPlan weight;
  WeightPlan bias;
  // Set by lay_out:
  /// [outputs][output][stride], then their gradient.
  std::int32_t activations = 0;
  /// The same after pooling; without it the same array.
  std::int32_t pooled_activations = 0;

  RADIR_HOST_DEVICE bool is_dense() const { return image.size() == 1; }
};

/// Numbers of one step, the same for all networks.
struct StepNumbers {
  double kl_weight = 1;
  double learning_rate = 0;
  double adam_rate = 0;      ///< with the correction of the first moment
  double moment_factor = 1;  ///< the correction of the second
};

enum class TrainedLikelihood : std::int32_t {
  Gaussian,        ///< likelihood::Kind::Gaussian
  PredictedNoise,  ///< likelihood::Kind::PredictedNoise
  Categorical,     ///< likelihood::Kind::Categorical
};

struct TrainingPlan {
  std::int32_t layers = 0;
  LayerPlan layer[kMostTrainedLayers];
  std::int32_t parameters = 0;
  std::int32_t inputs = 0;
  std::int32_t targets = 0;  ///< numbers of a row; 1 for classes
  TrainedLikelihood likelihood = TrainedLikelihood::Gaussian;
  std::int32_t likelihood_offset = 0;
  double prior_shape = 1;
  double prior_rate = 1;

  std::int32_t rows = 0;     ///< of the training table
  std::int32_t batch = 0;    ///< of a step; the last of an epoch may be smaller
  std::int32_t batches = 0;  ///< of an epoch
  std::int64_t epochs = 0;
  std::int64_t report_every = 1;  ///< epochs
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double max_gradient_norm = 0;  ///< 0: no limit
  double own_step_rate = 0;      ///< of the likelihood's parameters
  std::uint32_t shuffle_stream = 0;

  // Set by lay_out:
  /// Too large for one multiprocessor, or with images: all of a device's
  /// multiprocessors train it together.
  bool is_large = false;
  std::int32_t stride = 0;         ///< of the examples of a batch
  std::int32_t input = 0;          ///< of the batch, [inputs][stride]
  std::int32_t target = 0;         ///< [targets][stride]
  std::int32_t scratch_count = 0;  ///< numbers of the type of the training
  std::int32_t double_count = 0;   ///< doubles

  RADIR_HOST_DEVICE std::int64_t steps() const { return epochs * batches; }
  /// Reports that a complete training leaves.
  RADIR_HOST_DEVICE std::int64_t reports() const {
    return (epochs + report_every - 1) / report_every;
  }
};

/// Arrays per group: see kernels/cuda/weight_step.h.
constexpr int kGroupArrays = 14;
/// Of the global radius: its log and two slopes.
constexpr int kSideNumbers = 3;
/// Doubles of a step: see kernels/cuda/loss_step.h.
constexpr int kStepDoubles = 10;

/// Numbers of a network, with gradient and scratch, up to which it is not
/// large: about what the fast memory of a multiprocessor holds.
constexpr std::int64_t kMostSmallNumbers = 1 << 16;

/// Fills in the members marked so: where arrays stand in the memory of a
/// network.
void lay_out(TrainingPlan& plan);

/// Mean loss of an epoch and KL at its last step, in nats per example.
struct EpochLoss {
  double nll = 0;
  double kl = 0;
};

/// What became of a network.
struct TrainingOutcome {
  std::int64_t failed_step = 0;  ///< 0: none; from 1
  double nll = 0;                ///< of the last step
  double epoch_nll = 0;          ///< so far, of an incomplete epoch
  /// Cosines for which no proposal was accepted.
  std::int64_t unaccepted = 0;
};

/// Several networks of one plan and one table, trained from step `begin` to
/// step `end`. All pointers are to memory of the host.
template <typename T>
struct TrainingRequest {
  TrainingPlan plan;
  const StepNumbers* numbers = nullptr;  ///< [plan.steps()]
  const T* inputs = nullptr;             ///< [plan.rows][plan.inputs]
  /// [plan.rows][plan.targets]; numbers of classes, from 0.
  const T* targets = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t networks = 0;
  const std::uint64_t* seeds = nullptr;     ///< [networks]
  const std::int32_t* row_order = nullptr;  ///< [networks][plan.rows]
  T* parameters = nullptr;                  ///< [networks][plan.parameters]
  T* first_moment = nullptr;                ///< likewise
  T* second_moment = nullptr;               ///< likewise
  /// Likewise; that of the last step; null: not wanted.
  T* gradient = nullptr;
  EpochLoss* reports = nullptr;         ///< [networks][plan.reports()]
  TrainingOutcome* outcomes = nullptr;  ///< [networks]

  /// Threads that work on a network; 0: the device's choice.
  std::int32_t threads = 0;
  /// Called between launches with the steps done; false stops there.
  bool (*proceed)(void* context, std::int64_t steps) = nullptr;
  void* context = nullptr;
  // Results:
  std::int64_t done = 0;      ///< steps, `end` unless stopped
  double device_seconds = 0;  ///< that the kernels took
};

}  // namespace radir::kernels
