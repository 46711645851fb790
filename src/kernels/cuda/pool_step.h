#pragma once

#include "kernels/cuda/quad.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// Max-pooling of windows that do not overlap, shared among the members of a
// team: see image_step.h.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// A place of the window in a channel, and a quad of examples.
struct PoolCell {
  int channel;
  int y;  // the place, counted in steps of the window
  int x;
  int example;

  RADIR_HOST_DEVICE PoolCell(int item, const Extent& places, int quads) {
    const int cells = item / quads;
    example = (item - cells * quads) * kQuad;
    const int rows = cells / places.width;
    x = cells - rows * places.width;
    channel = rows / places.height;
    y = rows - channel * places.height;
  }
};

/// The largest activation of a window, and which one that is: the first of
/// equal ones.
template <typename T>
struct Largest {
  Quad<T> value;
  int place[kQuad];
};

template <typename T>
RADIR_HOST_DEVICE inline Largest<T> largest_of(const LayerPlan& layer,
                                               const T* first, int stride) {
  Largest<T> largest = {load_quad(first), {}};
  for (int i = 1; i < layer.window.size(); ++i) {
    const int y = i / layer.window.width;
    const int x = i - y * layer.window.width;
    const Quad<T> value =
        load_quad(first + (y * layer.output.width + x) * stride);
    for (int e = 0; e < kQuad; ++e) {
      if (value.at[e] > largest.value.at[e]) {
        largest.value.at[e] = value.at[e];
        largest.place[e] = i;
      }
    }
  }
  return largest;
}

/// Where the window of a cell begins in the activations of its layer.
template <typename T>
RADIR_HOST_DEVICE inline T* window_of(const LayerPlan& layer, T* activations,
                                      const PoolCell& cell, int stride) {
  const int y =
      cell.channel * layer.output.height + cell.y * layer.window_step.height;
  const int x = cell.x * layer.window_step.width;
  return activations + (y * layer.output.width + x) * stride + cell.example;
}

template <typename T, typename Team>
RADIR_HOST_DEVICE inline void pool_forward(const Team& team,
                                           const TrainingPlan& plan,
                                           const LayerPlan& layer,
                                           const NetworkMemory<T>& memory,
                                           int examples) {
  const int quads = quads_of(examples);
  const int stride = plan.stride;
  const Extent pooled = layer.pooled;
  const T* const from = memory.scratch + layer.activations;
  T* const to = memory.scratch + layer.pooled_activations;
  team.for_each(layer.outputs * pooled.size() * quads, [&](int item) {
    const PoolCell cell(item, pooled, quads);
    const Largest<T> largest =
        largest_of(layer, window_of(layer, from, cell, stride), stride);
    store_quad(
        largest.value,
        to +
            ((cell.channel * pooled.height + cell.y) * pooled.width + cell.x) *
                stride +
            cell.example);
  });
}

/// Replaces the activations by the gradient by them, through the layer's ReLU,
/// from that by their maxima. Each item has the activations from a window to
/// the next.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void pool_backward(const Team& team,
                                            const TrainingPlan& plan,
                                            const LayerPlan& layer,
                                            const NetworkMemory<T>& memory,
                                            int examples) {
  const int quads = quads_of(examples);
  const int stride = plan.stride;
  const Extent pooled = layer.pooled;
  const Extent step = layer.window_step;
  const Extent output = layer.output;
  const Extent cells = {(output.height + step.height - 1) / step.height,
                        (output.width + step.width - 1) / step.width};
  T* const activations = memory.scratch + layer.activations;
  const T* const by_maximum = memory.scratch + layer.pooled_activations;
  team.for_each(layer.outputs * cells.size() * quads, [&](int item) {
    const PoolCell cell(item, cells, quads);
    T* const first = window_of(layer, activations, cell, stride);
    Quad<T> gradient = {};
    Largest<T> largest = {};
    if (cell.y < pooled.height && cell.x < pooled.width) {
      largest = largest_of<T>(layer, first, stride);
      gradient = load_quad(
          by_maximum +
          ((cell.channel * pooled.height + cell.y) * pooled.width + cell.x) *
              stride +
          cell.example);
      for (int e = 0; e < kQuad; ++e) {
        if (layer.relu && !(largest.value.at[e] > 0)) gradient.at[e] = 0;
      }
    }
    const int below = output.height - cell.y * step.height;
    const int right = output.width - cell.x * step.width;
    for (int y = 0; y < step.height && y < below; ++y) {
      for (int x = 0; x < step.width && x < right; ++x) {
        const bool in_window =
            y < layer.window.height && x < layer.window.width;
        const int place = y * layer.window.width + x;
        Quad<T> to;
        for (int e = 0; e < kQuad; ++e) {
          to.at[e] =
              in_window && place == largest.place[e] ? gradient.at[e] : T(0);
        }
        store_quad(to, first + (y * output.width + x) * stride);
      }
    }
  });
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
