#pragma once

#include <cmath>

#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// Dense layers forward and backward, shared among the members of a team.
// Activations are [feature][stride], the examples of a batch side by side.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// Rows and examples of a product that one item computes.
constexpr int kTileRows = 4;
constexpr int kTileExamples = 4;

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
  int examples;
  int stride;
};

/// Calls store(row, example, sum) for each number of a product.
template <typename T, typename Team, typename Store>
RADIR_HOST_DEVICE inline void multiply(const Team& team,
                                       const BatchProduct<T>& p,
                                       const Store& store) {
  if (p.rows < kTileRows) {
    team.template sum_each<1, T>(
        p.rows * p.examples, p.depth,
        [&](int item, int k, T* sums) {
          sums[0] += p.a[item / p.examples * p.row_step + k * p.depth_step] *
                     p.b[k * p.stride + item % p.examples];
        },
        [&](int item, const T* sums) {
          store(item / p.examples, item % p.examples, sums[0]);
        });
    return;
  }
  // Neighbouring items take neighbouring examples.
  const int across = (p.examples + kTileExamples - 1) / kTileExamples;
  const int down = (p.rows + kTileRows - 1) / kTileRows;
  team.for_each(across * down, [&](int item) {
    const int first = item % across;
    const int top = item / across * kTileRows;
    T sum[kTileRows][kTileExamples] = {};
    const T* a[kTileRows];
    const T* b[kTileExamples];
    for (int r = 0; r < kTileRows; ++r) {
      a[r] = p.a + (top + r < p.rows ? top + r : p.rows - 1) * p.row_step;
    }
    for (int e = 0; e < kTileExamples; ++e) {
      const int example = first + e * across;
      b[e] = p.b + (example < p.examples ? example : p.examples - 1);
    }
    for (int k = 0; k < p.depth; ++k) {
      T x[kTileExamples];
      for (int e = 0; e < kTileExamples; ++e) x[e] = b[e][k * p.stride];
      for (int r = 0; r < kTileRows; ++r) {
        const T w = a[r][k * p.depth_step];
        for (int e = 0; e < kTileExamples; ++e) sum[r][e] += w * x[e];
      }
    }
    for (int r = 0; r < kTileRows; ++r) {
      for (int e = 0; e < kTileExamples; ++e) {
        const int example = first + e * across;
        if (top + r < p.rows && example < p.examples) {
          store(top + r, example, sum[r][e]);
        }
      }
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
                                   examples,
                                   plan.stride};
  const bool relu = layer.relu;
  const int stride = plan.stride;
  multiply(team, product, [&](int row, int example, T sum) {
    if (bias != nullptr) sum += bias[row];
    output[row * stride + example] = relu && !(sum > 0) ? T(0) : sum;
  });
}

/// The gradient by the weight and the bias of a layer, whose activations have
/// been replaced by their gradient.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void layer_weight_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const NetworkMemory<T>& memory, const T* input, int examples) {
  constexpr int kIn = 2;
  constexpr int kOut = 4;
  const T* const by_output = memory.scratch + layer.activations;
  T* const to = memory.scratch + layer.weight.gradient;
  const int inputs = layer.inputs;
  const int outputs = layer.outputs;
  const int across = (inputs + kIn - 1) / kIn;
  const int down = (outputs + kOut - 1) / kOut;
  const int stride = plan.stride;
  team.template sum_each<kIn * kOut, T>(
      across * down, examples,
      [&](int item, int example, T* sums) {
        const int in = item % across * kIn;
        const int out = item / across * kOut;
        T x[kIn];
        for (int i = 0; i < kIn; ++i) {
          x[i] = input[(in + i < inputs ? in + i : in) * stride + example];
        }
        for (int o = 0; o < kOut; ++o) {
          const int row = out + o < outputs ? out + o : out;
          const T d = by_output[row * stride + example];
          for (int i = 0; i < kIn; ++i) sums[o * kIn + i] += d * x[i];
        }
      },
      [&](int item, const T* sums) {
        const int in = item % across * kIn;
        const int out = item / across * kOut;
        for (int o = 0; o < kOut; ++o) {
          for (int i = 0; i < kIn; ++i) {
            if (out + o < outputs && in + i < inputs) {
              to[(out + o) * inputs + in + i] = sums[o * kIn + i];
            }
          }
        }
      });
  if (!layer.has_bias) return;
  T* const of_bias = memory.scratch + layer.bias.gradient;
  team.template sum_each<1, T>(
      layer.outputs, examples,
      [&](int out, int example, T* sums) {
        sums[0] += by_output[out * stride + example];
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
                                   examples,
                                   plan.stride};
  const bool relu = below.relu;
  const int stride = plan.stride;
  multiply(team, product, [&](int row, int example, T sum) {
    T& value = input[row * stride + example];
    value = relu && !(value > 0) ? T(0) : sum;
  });
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
