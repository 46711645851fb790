#pragma once

#include "kernels/cuda/dense_step.h"
#include "kernels/cuda/image_step.h"
#include "kernels/cuda/pool_step.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// The layers of a network forward and backward, as the plan and the team want
// them.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// Whether the team trains the plan as a large one; known to the compiler where
/// it trains plans of one kind.
template <typename Team>
RADIR_HOST_DEVICE inline bool trains_as_large(const TrainingPlan& plan) {
  return Team::kTrainsLarge && (!Team::kTrainsSmall || plan.is_large);
}

/// The results of the layer below, or the examples.
template <typename T>
RADIR_HOST_DEVICE inline T* input_of(const TrainingPlan& plan,
                                     const NetworkMemory<T>& memory,
                                     int layer) {
  return memory.scratch +
         (layer == 0 ? plan.input : plan.layer[layer - 1].pooled_activations);
}

template <typename T, typename Team>
RADIR_HOST_DEVICE inline void forward_layer(const Team& team,
                                            const TrainingPlan& plan,
                                            const NetworkMemory<T>& memory,
                                            int i, int examples) {
  const LayerPlan& layer = plan.layer[i];
  const T* const input = input_of(plan, memory, i);
  if (trains_as_large<Team>(plan)) {
    if constexpr (Team::kTrainsLarge) {
      image_forward(team, plan, layer, memory, input, examples);
      if (!layer.has_pool) return;
      team.sync();
      pool_forward(team, plan, layer, memory, examples);
    }
  } else if constexpr (Team::kTrainsSmall) {
    layer_forward(team, plan, layer, memory, input, examples);
  }
}

/// The gradients by the weights of a layer.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void weight_gradient(const Team& team,
                                              const TrainingPlan& plan,
                                              const LayerPlan& layer,
                                              const NetworkMemory<T>& memory,
                                              const T* input, int examples) {
  if constexpr (Team::kTrainsLarge) {
    if (layer.has_pool) {
      pool_backward(team, plan, layer, memory, examples);
      team.sync();
    }
    if (!layer.is_dense()) {
      image_weight_gradient(team, plan, layer, memory, input, examples);
      return;
    }
  }
  layer_weight_gradient(team, plan, layer, memory, input, examples);
}

/// The gradients by the weights and by the inputs of a layer. Meets at the end.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void backward_layer(const Team& team,
                                             const TrainingPlan& plan,
                                             const NetworkMemory<T>& memory,
                                             int i, int examples) {
  const LayerPlan& layer = plan.layer[i];
  weight_gradient(team, plan, layer, memory, input_of(plan, memory, i),
                  examples);
  team.sync();
  if (i == 0) return;
  const LayerPlan& below = plan.layer[i - 1];
  if (trains_as_large<Team>(plan)) {
    if constexpr (Team::kTrainsLarge) {
      image_input_gradient(team, plan, layer, below, memory, examples);
    }
  } else if constexpr (Team::kTrainsSmall) {
    layer_input_gradient(team, plan, layer, below, memory, examples);
  }
  team.sync();
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
