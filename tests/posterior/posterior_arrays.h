#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/weight_posterior.h"

namespace radir::posterior {

/// A posterior with arrays of its own, started from seed 7.
template <typename T>
struct PosteriorArrays {
  PosteriorArrays(const network::WeightShape& shape, const Options& options)
      : posterior(shape, options) {
    for (const ParameterBlock& block : posterior.parameter_blocks()) {
      values.emplace_back(static_cast<std::size_t>(block.size));
      gradients.emplace_back(static_cast<std::size_t>(block.size), T(0));
    }
    bind();
    posterior.initialize({7, 0, 0}, mutable_inputs);
  }
  // The pointers stay with the arrays.
  PosteriorArrays(PosteriorArrays&&) = default;

  void bind() {
    inputs.clear();
    mutable_inputs.clear();
    outputs.clear();
    for (auto& array : values) {
      inputs.push_back(array.data());
      mutable_inputs.push_back(array.data());
    }
    for (auto& array : gradients) outputs.push_back(array.data());
  }

  /// Parameters as after some training: nothing at its starting value.
  void disturb() {
    for (std::size_t b = 0; b < values.size(); ++b) {
      const ParameterBlock& block = posterior.parameter_blocks()[b];
      std::vector<T> noise(static_cast<std::size_t>(block.size));
      kernels::fill_normal({11, static_cast<std::uint32_t>(b), 0}, 0,
                           block.size, noise.data());
      for (std::size_t i = 0; block.trainable && i < noise.size(); ++i) {
        values[b][i] += T(block.weight_shaped() ? 0.03 : 0.3) * noise[i];
      }
    }
  }

  std::vector<T> draw(std::uint64_t step, ThreadPool* pool = nullptr) {
    std::vector<T> weight(static_cast<std::size_t>(posterior.shape().size()));
    posterior.sample(inputs, {3, 0, step}, weight.data(), pool);
    return weight;
  }

  /// Checks `gradients` against central differences of a function of `values`,
  /// some of each array; not those whose names contain any of `but`.
  void expect_gradient(const std::function<double()>& value,
                       const std::vector<std::string>& but = {}) {
    for (std::size_t b = 0; b < values.size(); ++b) {
      const ParameterBlock& block = posterior.parameter_blocks()[b];
      const bool excluded =
          std::any_of(but.begin(), but.end(), [&](const std::string& part) {
            return block.name.find(part) != std::string::npos;
          });
      if (excluded) continue;
      for (std::size_t i = 0; i < values[b].size();
           i += 1 + values[b].size() / 5) {
        if (!block.trainable) {
          EXPECT_EQ(gradients[b][i], 0) << block.name;
          continue;
        }
        constexpr T kStep = T(1e-5);
        const T x0 = values[b][i];
        values[b][i] = x0 + kStep;
        const double above = value();
        values[b][i] = x0 - kStep;
        const double difference = (above - value()) / (2 * kStep);
        values[b][i] = x0;
        EXPECT_NEAR(gradients[b][i], difference,
                    1e-5 * std::max(1.0, std::fabs(difference)))
            << block.name << "[" << i << "]";
      }
    }
  }

  WeightPosterior<T> posterior;
  std::vector<std::vector<T>> values;
  std::vector<std::vector<T>> gradients;
  Arrays<const T> inputs;
  Arrays<T> mutable_inputs;
  Arrays<T> outputs;
};

}  // namespace radir::posterior
