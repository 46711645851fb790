#pragma once

#include "kernels/cuda/channel_product.h"
#include "kernels/cuda/quad.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

// Layers of large networks forward and backward, shared among the members of a
// team. A dense layer is a convolution of images of one pixel. Activations are
// [channel][row][column][stride], the examples of a batch side by side and
// filled up to a whole number of quads. pool_step.h has the max-pooling.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// A pixel and a quad of examples, a column of a ChannelProduct.
struct ImageColumn {
  int y;
  int x;
  int example;

  RADIR_HOST_DEVICE ImageColumn(int column, const Extent& extent, int quads) {
    const int pixel = column / quads;
    example = (column - pixel * quads) * kQuad;
    y = pixel / extent.width;
    x = pixel - y * extent.width;
  }

  /// Where it stands in the activations of a channel.
  RADIR_HOST_DEVICE int place(const Extent& extent, int stride) const {
    return (y * extent.width + x) * stride + example;
  }
};

/// Channels that a slice of a ChannelProduct has: a divisor of all of them, for
/// enough work between two barriers.
RADIR_HOST_DEVICE inline int channels_at_once(int channels, int taps) {
  constexpr int kMostTaps = 32;
  for (int count = kMostTaps / taps; count > 1; --count) {
    if (channels % count == 0) return count;
  }
  return 1;
}

/// The activations of a layer, before pooling, from its inputs.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void image_forward(const Team& team,
                                            const TrainingPlan& plan,
                                            const LayerPlan& layer,
                                            const NetworkMemory<T>& memory,
                                            const T* input, int examples) {
  const Extent image = layer.image;
  const Extent kernel = layer.kernel;
  const Extent output = layer.output;
  const T* const bias =
      layer.has_bias ? memory.scratch + layer.bias.draw : nullptr;
  T* const to = memory.scratch + layer.activations;
  const int quads = quads_of(examples);
  const int stride = plan.stride;
  const int outputs = layer.outputs;
  const bool relu = layer.relu;
  ChannelProduct<T> product;
  product.rows = outputs;
  product.columns = output.size() * quads;
  const int at_once = channels_at_once(layer.inputs, kernel.size());
  product.slices = layer.inputs / at_once;
  product.taps = at_once * kernel.size();
  product.a = memory.scratch + layer.weight.draw_by_output;
  product.a_tap = whole_quads(outputs);
  product.a_step = product.taps * product.a_tap;
  product.b = input;
  product.b_step = at_once * image.size() * stride;
  team.multiply(
      product,
      [&](int tap, int column) {
        ImageColumn at(column, output, quads);
        const int channel = tap / kernel.size();
        const int own = tap - channel * kernel.size();
        const int ky = own / kernel.width;
        at.y += ky;
        at.x += own - ky * kernel.width;
        return channel * image.size() * stride + at.place(image, stride);
      },
      [&](int tile, int column, const T* sums) {
        const int place =
            ImageColumn(column, output, quads).place(output, stride);
        for (int i = 0; i < kQuad; ++i) {
          const int channel = tile * kQuad + i;
          if (channel >= outputs) return;
          const T shift = bias != nullptr ? bias[channel] : T(0);
          Quad<T> values = quad_of(sums + i * kQuad);
          for (int e = 0; e < kQuad; ++e) {
            values.at[e] += shift;
            if (relu && !(values.at[e] > 0)) values.at[e] = 0;
          }
          store_quad(values, to + channel * output.size() * stride + place);
        }
      });
}

/// The rows of pixels that the weight gradient of a convolution is summed over.
template <typename T>
struct ImageRows {
  Extent image;
  Extent kernel;
  Extent output;
  int stride;
  int outputs;
  const T* input;
  const T* by_output;  // the gradient by the activations

  RADIR_HOST_DEVICE ImageRows(const TrainingPlan& plan, const LayerPlan& layer,
                              const NetworkMemory<T>& memory, const T* inputs)
      : image(layer.image),
        kernel(layer.kernel),
        output(layer.output),
        stride(plan.stride),
        outputs(layer.outputs),
        input(inputs),
        by_output(memory.scratch + layer.activations) {}

  /// Of the gradient; past the last channel, that one.
  RADIR_HOST_DEVICE const T* gradient(int channel, int y) const {
    const int own = channel < outputs ? channel : outputs - 1;
    return by_output + (own * output.height + y) * output.width * stride;
  }

  /// The pixels that element k of a row of weights meets.
  RADIR_HOST_DEVICE const T* pixels(int k, int y) const {
    const int channel = k / kernel.size();
    const int tap = k - channel * kernel.size();
    const int ky = tap / kernel.width;
    const int x = tap - ky * kernel.width;
    return input +
           ((channel * image.height + y + ky) * image.width + x) * stride;
  }
};

/// The gradient by the bias of a layer. A term is a row of pixels and a quad.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void image_bias_gradient(const Team& team,
                                                  const ImageRows<T>& rows,
                                                  int quads, T* to, int turn) {
  team.template sum_each<1, T>(
      rows.outputs, rows.output.height * quads,
      [&](int out, int term, T* sums) {
        const int y = term / quads;
        const T* const d = rows.gradient(out, y) + (term - y * quads) * kQuad;
        for (int pixel = 0; pixel < rows.output.width; ++pixel) {
          const Quad<T> quad = load_quad(d + pixel * rows.stride);
          sums[0] += (quad.at[0] + quad.at[1]) + (quad.at[2] + quad.at[3]);
        }
      },
      [&](int out, const T* sums) { to[out] = sums[0]; }, turn);
}

/// The gradient by the weight and the bias of a layer, whose activations have
/// been replaced by their gradient. A term is a row of pixels and a quad.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void image_weight_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const NetworkMemory<T>& memory, const T* input, int examples) {
  constexpr int kIn = 4;  // elements of a row that one item computes
  const ImageRows<T> rows(plan, layer, memory, input);
  T* const to = memory.scratch + layer.weight.gradient;
  const int quads = quads_of(examples);
  const int depth = layer.inputs * layer.kernel.size();
  const int across = (depth + kIn - 1) / kIn;
  const int terms = layer.output.height * quads;
  const int items = quads_of(layer.outputs) * across;
  team.template sum_each_long<kIn * kQuad, T>(
      items, terms,
      [&](int item, int term, T* sums) {
        const int tile = item / across;
        const int first_in = (item - tile * across) * kIn;
        const int y = term / quads;
        const int example = (term - y * quads) * kQuad;
        const T* d[kQuad];
        const T* x[kIn];
        for (int o = 0; o < kQuad; ++o) {
          d[o] = rows.gradient(tile * kQuad + o, y) + example;
        }
        for (int i = 0; i < kIn; ++i) {
          const int in = first_in + i;
          x[i] = rows.pixels(in < depth ? in : depth - 1, y) + example;
        }
        RADIR_NOT_UNROLLED
        for (int pixel = 0; pixel < rows.output.width; ++pixel) {
          const int at = pixel * rows.stride;
          Quad<T> in[kIn];
          for (int i = 0; i < kIn; ++i) in[i] = load_quad(x[i] + at);
          for (int o = 0; o < kQuad; ++o) {
            const Quad<T> out = load_quad(d[o] + at);
            for (int i = 0; i < kIn; ++i) {
              for (int e = 0; e < kQuad; ++e) {
                sums[o * kIn + i] += out.at[e] * in[i].at[e];
              }
            }
          }
        }
      },
      [&](int item, const T* sums) {
        const int tile = item / across;
        const int first_in = (item - tile * across) * kIn;
        for (int n = 0; n < kQuad * kIn; ++n) {
          const int out = tile * kQuad + n / kIn;
          const int in = first_in + n % kIn;
          if (out < rows.outputs && in < depth) to[out * depth + in] = sums[n];
        }
      });
  if (!layer.has_bias) return;
  image_bias_gradient(team, rows, quads, memory.scratch + layer.bias.gradient,
                      team.turn_after_sums(0, items, terms));
}

/// Replaces the results of the layer below, which are the inputs of this one,
/// by the gradient by them; through its ReLU, unless its pooling comes between.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void image_input_gradient(
    const Team& team, const TrainingPlan& plan, const LayerPlan& layer,
    const LayerPlan& below, const NetworkMemory<T>& memory, int examples) {
  const Extent image = layer.image;
  const Extent kernel = layer.kernel;
  const Extent output = layer.output;
  T* const to = memory.scratch + below.pooled_activations;
  const int quads = quads_of(examples);
  const int stride = plan.stride;
  const int inputs = layer.inputs;
  const bool relu = below.relu && !below.has_pool;
  ChannelProduct<T> product;
  product.rows = inputs;
  product.columns = image.size() * quads;
  const int at_once = channels_at_once(layer.outputs, kernel.size());
  product.slices = layer.outputs / at_once;
  product.taps = at_once * kernel.size();
  product.a = memory.scratch + layer.weight.draw_by_input;
  product.a_tap = whole_quads(inputs);
  product.a_step = product.taps * product.a_tap;
  product.b = memory.scratch + layer.activations;
  product.b_step = at_once * output.size() * stride;
  team.multiply(
      product,
      // Of the pixel of the output where a weight meets this one.
      [&](int tap, int column) {
        ImageColumn at(column, image, quads);
        const int channel = tap / kernel.size();
        const int own = tap - channel * kernel.size();
        const int ky = own / kernel.width;
        at.y -= ky;
        at.x -= own - ky * kernel.width;
        const bool is_there = at.y >= 0 && at.x >= 0 && at.y < output.height &&
                              at.x < output.width;
        if (!is_there) return -1;
        return channel * output.size() * stride + at.place(output, stride);
      },
      [&](int tile, int column, const T* sums) {
        const int place =
            ImageColumn(column, image, quads).place(image, stride);
        for (int i = 0; i < kQuad; ++i) {
          const int channel = tile * kQuad + i;
          if (channel >= inputs) return;
          T* const at = to + channel * image.size() * stride + place;
          Quad<T> sum = quad_of(sums + i * kQuad);
          if (relu) {
            const Quad<T> value = load_quad(at);
            for (int e = 0; e < kQuad; ++e) {
              if (!(value.at[e] > 0)) sum.at[e] = 0;
            }
          }
          store_quad(sum, at);
        }
      });
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
