#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "radir/kernels/network.h"
#include "radir/network/spec.h"

// A sequential network computed by the defining sums, in long double and datum
// by datum: the oracle of the kernels.

namespace radir::testing {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::LayerSpec;
using network::MaxPool2d;
using network::Relu;
using network::Select;
using network::Shape;
using Numbers = std::vector<long double>;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Weights of one layer, or their gradients.
struct ReferenceWeights {
  Numbers weight;
  Numbers bias;
};

/// Gradients, and the sums of the squares of the terms they are made of: their
/// roots are the sizes such sums have when signs are random, by which rounding
/// errors are judged.
struct ReferenceGradients {
  ReferenceWeights sum;
  ReferenceWeights squares;
};

/// One datum's way through a layer: forward() fills `output`, backward() adds
/// to `gradients` and to the returned gradient by the input.
class ReferenceLayer {
 public:
  ReferenceLayer(const network::Shape& input, const network::LayerSpec& spec)
      : input_(input), spec_(spec) {
    if (const auto* dense = std::get_if<network::Dense>(&spec)) {
      output_ = {dense->outputs, 1, 1};
      weights = {Numbers(at(dense->outputs * input.size())),
                 Numbers(at(dense->bias ? dense->outputs : 0))};
    } else if (const auto* conv = std::get_if<network::Conv2d>(&spec)) {
      const auto size = [](std::int64_t n, std::int64_t k, std::int64_t s,
                           std::int64_t p, std::int64_t d) {
        return (n + 2 * p - d * (k - 1) - 1) / s + 1;
      };
      output_ = {conv->outputs,
                 size(input.height, conv->kernel.h, conv->stride.h,
                      conv->padding.h, conv->dilation.h),
                 size(input.width, conv->kernel.w, conv->stride.w,
                      conv->padding.w, conv->dilation.w)};
      weights = {Numbers(at(conv->outputs * input.channels / conv->groups *
                            conv->kernel.h * conv->kernel.w)),
                 Numbers(at(conv->bias ? conv->outputs : 0))};
    } else if (const auto* pool = std::get_if<network::MaxPool2d>(&spec)) {
      output_ = {input.channels,
                 (input.height + 2 * pool->padding.h - pool->kernel.h) /
                         pool->stride.h +
                     1,
                 (input.width + 2 * pool->padding.w - pool->kernel.w) /
                         pool->stride.w +
                     1};
    } else if (const auto* select = std::get_if<network::Select>(&spec)) {
      output_ = {static_cast<std::int64_t>(select->indices.size()), 1, 1};
    } else {
      output_ = std::holds_alternative<network::Relu>(spec)
                    ? input
                    : network::Shape{input.size(), 1, 1};
    }
  }

  const network::Shape& output() const { return output_; }

  Numbers forward(const Numbers& x) const {
    Numbers y(at(output_.size()));
    pass(x, y, nullptr, nullptr);
    return y;
  }

  /// Gradient by the input, those by the weights being added to `gradients`.
  Numbers backward(const Numbers& x, const Numbers& dy,
                   ReferenceGradients& gradients) const {
    Numbers dx(x.size());
    Numbers copy = dy;
    pass(x, copy, &dx, &gradients);
    return dx;
  }

  ReferenceWeights weights;

 private:
  // With dx, `y` is the gradient by the output and everything runs backward.
  void pass(const Numbers& x, Numbers& y, Numbers* dx,
            ReferenceGradients* gradients) const {
    if (std::holds_alternative<network::Dense>(spec_)) {
      dense(x, y, dx, gradients);
    } else if (const auto* conv = std::get_if<network::Conv2d>(&spec_)) {
      convolve(*conv, x, y, dx, gradients);
    } else if (const auto* pool = std::get_if<network::MaxPool2d>(&spec_)) {
      max_pool(*pool, x, y, dx);
    } else if (const auto* select = std::get_if<network::Select>(&spec_)) {
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t from = at(select->indices[i]);
        (dx != nullptr ? (*dx)[from] : y[i]) = dx != nullptr ? y[i] : x[from];
      }
    } else {
      const bool relu = std::holds_alternative<network::Relu>(spec_);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool passes = !relu || x[i] > 0;
        (dx != nullptr ? (*dx)[i] : y[i]) =
            passes ? (dx != nullptr ? y[i] : x[i]) : 0;
      }
    }
  }

  static void add(long double term, long double& sum, long double& square) {
    sum += term;
    square += term * term;
  }

  // The term weight w of output o and input i.
  void term(std::size_t o, std::size_t i, std::size_t w, const Numbers& x,
            Numbers& y, Numbers* dx, ReferenceGradients* gradients) const {
    if (dx == nullptr) {
      y[o] += weights.weight[w] * x[i];
    } else {
      (*dx)[i] += weights.weight[w] * y[o];
      add(x[i] * y[o], gradients->sum.weight[w], gradients->squares.weight[w]);
    }
  }

  void add_bias(Numbers& y, ReferenceGradients* gradients) const {
    if (weights.bias.empty()) return;
    const std::int64_t pixels = output_.height * output_.width;
    for (std::int64_t i = 0; i < output_.size(); ++i) {
      if (gradients == nullptr) {
        y[at(i)] += weights.bias[at(i / pixels)];
      } else {
        add(y[at(i)], gradients->sum.bias[at(i / pixels)],
            gradients->squares.bias[at(i / pixels)]);
      }
    }
  }

  void dense(const Numbers& x, Numbers& y, Numbers* dx,
             ReferenceGradients* gradients) const {
    for (std::int64_t o = 0; o < output_.channels; ++o) {
      for (std::int64_t i = 0; i < input_.size(); ++i) {
        term(at(o), at(i), at(o * input_.size() + i), x, y, dx, gradients);
      }
    }
    add_bias(y, gradients);
  }

  void convolve(const network::Conv2d& c, const Numbers& x, Numbers& y,
                Numbers* dx, ReferenceGradients* gradients) const {
    const std::int64_t inputs = input_.channels / c.groups;
    const std::int64_t outputs = c.outputs / c.groups;
    for (std::int64_t o = 0; o < c.outputs; ++o) {
      for (std::int64_t i = 0; i < inputs; ++i) {
        for (std::int64_t ky = 0; ky < c.kernel.h; ++ky) {
          for (std::int64_t kx = 0; kx < c.kernel.w; ++kx) {
            const std::int64_t w =
                ((o * inputs + i) * c.kernel.h + ky) * c.kernel.w + kx;
            const std::int64_t channel = o / outputs * inputs + i;
            for (std::int64_t oy = 0; oy < output_.height; ++oy) {
              for (std::int64_t ox = 0; ox < output_.width; ++ox) {
                const std::int64_t iy =
                    oy * c.stride.h - c.padding.h + ky * c.dilation.h;
                const std::int64_t ix =
                    ox * c.stride.w - c.padding.w + kx * c.dilation.w;
                if (iy < 0 || iy >= input_.height || ix < 0 ||
                    ix >= input_.width) {
                  continue;
                }
                term(at((o * output_.height + oy) * output_.width + ox),
                     at((channel * input_.height + iy) * input_.width + ix),
                     at(w), x, y, dx, gradients);
              }
            }
          }
        }
      }
    }
    add_bias(y, gradients);
  }

  void max_pool(const network::MaxPool2d& p, const Numbers& x, Numbers& y,
                Numbers* dx) const {
    for (std::int64_t o = 0; o < output_.size(); ++o) {
      const std::int64_t channel = o / (output_.height * output_.width);
      const std::int64_t oy = o / output_.width % output_.height;
      const std::int64_t ox = o % output_.width;
      long double best = -std::numeric_limits<long double>::infinity();
      std::int64_t winner = -1;
      for (std::int64_t ky = 0; ky < p.kernel.h; ++ky) {
        for (std::int64_t kx = 0; kx < p.kernel.w; ++kx) {
          const std::int64_t iy = oy * p.stride.h - p.padding.h + ky;
          const std::int64_t ix = ox * p.stride.w - p.padding.w + kx;
          if (iy < 0 || iy >= input_.height || ix < 0 || ix >= input_.width) {
            continue;
          }
          const std::int64_t i =
              (channel * input_.height + iy) * input_.width + ix;
          if (winner < 0 || x[at(i)] > best) {
            best = x[at(i)];
            winner = i;
          }
        }
      }
      if (dx == nullptr) {
        y[at(o)] = best;
      } else {
        (*dx)[at(winner)] += y[at(o)];
      }
    }
  }

  network::Shape input_;
  network::LayerSpec spec_;
  network::Shape output_;
};

/// The complete network, with random weights.
class ReferenceNetwork {
 public:
  ReferenceNetwork(const network::Shape& input,
                   const std::vector<network::LayerSpec>& specs, unsigned seed)
      : input_(input) {
    std::mt19937 engine(seed);
    network::Shape shape = input;
    for (const network::LayerSpec& spec : specs) {
      layers_.emplace_back(shape, spec);
      const auto outputs =
          static_cast<double>(layers_.back().output().channels);
      ReferenceWeights& w = layers_.back().weights;
      const double fan_in = static_cast<double>(w.weight.size()) / outputs;
      fill(w.weight, 1 / std::sqrt(fan_in), engine);
      fill(w.bias, 0.3, engine);
      shape = layers_.back().output();
    }
  }

  /// Rounded to float, so that both precisions start from the same numbers.
  static void fill(Numbers& numbers, double scale, std::mt19937& engine) {
    std::normal_distribution<double> normal(0, scale);
    for (long double& x : numbers) x = static_cast<float>(normal(engine));
  }

  const network::Shape& input() const { return input_; }
  network::Shape output() const {
    return layers_.empty() ? input_ : layers_.back().output();
  }

  /// Layers that have weights.
  std::vector<ReferenceWeights*> weights() {
    std::vector<ReferenceWeights*> result;
    for (ReferenceLayer& layer : layers_) {
      if (!layer.weights.weight.empty()) result.push_back(&layer.weights);
    }
    return result;
  }

  Numbers forward(Numbers x) const {
    for (const ReferenceLayer& layer : layers_) x = layer.forward(x);
    return x;
  }

  /// Adds one datum's gradients, given that by the outputs.
  void backward(const Numbers& x, Numbers dy,
                std::vector<ReferenceGradients>& gradients) const {
    std::vector<Numbers> inputs = {x};
    for (const ReferenceLayer& layer : layers_) {
      inputs.push_back(layer.forward(inputs.back()));
    }
    std::size_t w = gradients.size();
    for (std::size_t i = layers_.size(); i-- > 0;) {
      ReferenceGradients none;
      const bool has_weights = !layers_[i].weights.weight.empty();
      dy = layers_[i].backward(inputs[i], dy,
                               has_weights ? gradients[--w] : none);
    }
  }

  /// Zeros in the shape of the weights.
  std::vector<ReferenceGradients> zero_gradients() const {
    std::vector<ReferenceGradients> result;
    for (const ReferenceLayer& layer : layers_) {
      if (layer.weights.weight.empty()) continue;
      const ReferenceWeights zeros = {Numbers(layer.weights.weight.size()),
                                      Numbers(layer.weights.bias.size())};
      result.push_back({zeros, zeros});
    }
    return result;
  }

 private:
  network::Shape input_;
  std::vector<ReferenceLayer> layers_;
};

}  // namespace radir::testing
