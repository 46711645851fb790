#pragma once

#include <cmath>

#include "kernels/cuda/quad.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// Dense layers of small networks forward and backward, shared among the members
// of a team. Activations are [feature][stride], the examples of a batch side by
// side and filled up to a whole number of quads.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// Rows of a product that one item computes for a quad of examples.
constexpr int kTileRows = 4;

/// A product of a matrix with the activations of a batch: row r of the result
/// is sum_k a[r row_step + k depth_step] b[k stride + ...].
template <typename T>
struct BatchProduct {
  int rows;
  int depth;
  const T* a;
  int row_step;
  int depth_step;
  const T* b;
  int quads;
  int stride;
};

/// Of few rows: the members share the depth.
template <typename T, typename Team, typename Store>
RADIR_HOST_DEVICE inline void multiply_rows(const Team& team,
                                            const BatchProduct<T>& p,
                                            const Store& store) {
  team.template sum_each<kQuad, T>(
      p.rows * p.quads, p.depth,
      [&](int item, int k, T* sums) {
        const int row = item / p.quads;
        const int example = (item - row * p.quads) * kQuad;
        const T w = p.a[row * p.row_step + k * p.depth_step];
        const Quad<T> x = load_quad(p.b + k * p.stride + example);
        for (int e = 0; e < kQuad; ++e) sums[e] += w * x.at[e];
      },
      [&](int item, const T* sums) {
        const int row = item / p.quads;
        Quad<T> sum;
        for (int e = 0; e < kQuad; ++e) sum.at[e] = sums[e];
        store(row, (item - row * p.quads) * kQuad, sum);
      });
}

/// Calls store(row, example, sums) for each row and quad of examples.
template <typename T, typename Team, typename Store>
RADIR_HOST_DEVICE inline void multiply(const Team& team,
                                       const BatchProduct<T>& p,
                                       const Store& store) {
  if (p.rows < kTileRows) return multiply_rows(team, p, store);
  const int down = (p.rows + kTileRows - 1) / kTileRows;
  // Neighbouring items take neighbouring examples.
  team.for_each(p.quads * down, [&](int item) {
    const int tile = item / p.quads;
    const int example = (item - tile * p.quads) * kQuad;
    const int top = tile * kTileRows;
    Quad<T> sum[kTileRows] = {};
    const T* a[kTileRows];
    for (int r = 0; r < kTileRows; ++r) {
      a[r] = p.a + (top + r < p.rows ? top + r : p.rows - 1) * p.row_step;
    }
    const T* b = p.b + example;
    RADIR_NOT_UNROLLED
    for (int k = 0; k < p.depth; ++k) {
      const Quad<T> x = load_quad(b);
      b += p.stride;
      for (int r = 0; r < kTileRows; ++r) {
        const T w = *a[r];
        a[r] += p.depth_step;
        for (int e = 0; e < kQuad; ++e) sum[r].at[e] += w * x.at[e];
      }
    }
    for (int r = 0; r < kTileRows; ++r) {
      if (top + r < p.rows) store(top + r, example, sum[r]);
    }
  });
}

/// The activations of a layer from its inputs.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void layer_forward(const Team& team,
                                            const TrainingPlan& plan,
                                            const LayerPlan& layer,
                                            const NetworkMemory<T>& memory,
                                            const T* input, int examples) {
  T* const output = memory.scratch + layer.activations;
  const T* const bias =
      layer.has_bias ? memory.scratch + layer.bias.draw : nullptr;
  const BatchProduct<T> product = {layer.outputs,
                                   layer.inputs,
                                   memory.scratch + layer.weight.draw,
                                   layer.inputs,
                                   1,
                                   input,
                                   quads_of(examples),
                                   plan.stride};
  const bool relu = layer.relu;
  const int stride = plan.stride;
  multiply(team, product, [&](int row, int example, Quad<T> sum) {
    const T shift = bias != nullptr ? bias[row] : T(0);
    for (int e = 0; e < kQuad; ++e) {
      const T value = sum.at[e] + shift;
      sum.at[e] = relu && !(value > 0) ? T(0) : value;
    }
    store_quad(sum, output + row * stride + example);
  });
}

/// The gradient by the weight of a layer, whose activations have been replaced
/// by their gradient.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void layer_matrix_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const NetworkMemory<T>& memory, const T* input, int quads) {
  constexpr int kIn = Team::kTrainsSmall ? 2 : 4;
  constexpr int kOut = 4;
  const T* const by_output = memory.scratch + layer.activations;
  T* const to = memory.scratch + layer.weight.gradient;
  const int inputs = layer.inputs;
  const int outputs = layer.outputs;
  const int across = (inputs + kIn - 1) / kIn;
  const int down = (outputs + kOut - 1) / kOut;
  const int stride = plan.stride;
  team.template sum_each<kIn * kOut, T, /*kLeast=*/8>(
      across * down, quads,
      [&](int item, int quad, T* sums) {
        const int out = item / across * kOut;
        const int in = (item - out / kOut * across) * kIn;
        const int example = quad * kQuad;
        Quad<T> x[kIn];
        for (int i = 0; i < kIn; ++i) {
          const int row = in + i < inputs ? in + i : in;
          x[i] = load_quad(input + row * stride + example);
        }
        for (int o = 0; o < kOut; ++o) {
          const int row = out + o < outputs ? out + o : out;
          const Quad<T> d = load_quad(by_output + row * stride + example);
          for (int i = 0; i < kIn; ++i) {
            for (int e = 0; e < kQuad; ++e) {
              sums[o * kIn + i] += d.at[e] * x[i].at[e];
            }
          }
        }
      },
      [&](int item, const T* sums) {
        const int out = item / across * kOut;
        const int in = (item - out / kOut * across) * kIn;
        for (int o = 0; o < kOut; ++o) {
          for (int i = 0; i < kIn; ++i) {
            if (out + o < outputs && in + i < inputs) {
              to[(out + o) * inputs + in + i] = sums[o * kIn + i];
            }
          }
        }
      });
}

/// The gradient by the weight and the bias of a layer.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void layer_weight_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const NetworkMemory<T>& memory, const T* input, int examples) {
  const int quads = quads_of(examples);
  layer_matrix_gradient(team, plan, layer, memory, input, quads);
  if (!layer.has_bias) return;
  const T* const by_output = memory.scratch + layer.activations;
  T* const of_bias = memory.scratch + layer.bias.gradient;
  const int stride = plan.stride;
  team.template sum_each<1, T>(
      layer.outputs, quads,
      [&](int out, int quad, T* sums) {
        const Quad<T> d = load_quad(by_output + out * stride + quad * kQuad);
        sums[0] += (d.at[0] + d.at[1]) + (d.at[2] + d.at[3]);
      },
      [&](int out, const T* sums) { of_bias[out] = sums[0]; });
}

/// Replaces the activations of the layer below, through its ReLU, by the
/// gradient by them.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void layer_input_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const LayerPlan& below, const NetworkMemory<T>& memory, int examples) {
  T* const input = memory.scratch + below.activations;
  const BatchProduct<T> product = {layer.inputs,
                                   layer.outputs,
                                   memory.scratch + layer.weight.draw,
                                   1,
                                   layer.inputs,
                                   memory.scratch + layer.activations,
                                   quads_of(examples),
                                   plan.stride};
  const bool relu = below.relu;
  const int stride = plan.stride;
  multiply(team, product, [&](int row, int example, Quad<T> sum) {
    T* const place = input + row * stride + example;
    if (relu) {
      const Quad<T> value = load_quad(place);
      for (int e = 0; e < kQuad; ++e) {
        if (!(value.at[e] > 0)) sum.at[e] = 0;
      }
    }
    store_quad(sum, place);
  });
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
