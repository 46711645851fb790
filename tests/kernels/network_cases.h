#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/network_reference.h"
#include "radir/kernels/network.h"
#include "support/worst_error.h"

// Networks of every kind of layer, next to the defining sums.

namespace radir::testing {

/// A network to compute.
struct Case {
  const char* name;
  network::Shape input;
  std::vector<network::LayerSpec> layers;
  bool fast = false;  // some convolution goes by Winograd's algorithm
};

/// Sizes that fill no vector and no tile, and every option of every layer. A
/// layer before the one in question makes its input gradient count.
inline std::vector<Case> cases() {
  network::Conv2d strided{6, {3, 2}, {2, 3}};
  network::Conv2d padded{5, {4, 3}, {1, 1}, {2, 1}};
  network::Conv2d dilated{4, {3, 3}, {2, 1}, {1, 2}, {2, 3}};
  network::Conv2d grouped{6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 3};
  network::Conv2d depthwise{8, {2, 2}, {2, 2}, {0, 0}, {1, 1}, 4, false};
  network::Conv2d padded_five{9, {5, 5}, {1, 1}, {2, 2}};
  network::Conv2d padded_three{13, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, false};
  return {
      {"one dense layer", {3}, {network::Dense{1}}},
      {"regression",
       {13},
       {network::Dense{50}, network::Relu{}, network::Dense{1}}},
      {"wide",
       {37},
       {network::Dense{131}, network::Relu{}, network::Dense{67, false},
        network::Relu{}, network::Dense{10}}},
      {"long sums back",
       {5},
       {network::Dense{9}, network::Relu{}, network::Dense{400},
        network::Relu{}, network::Dense{2}}},
      {"ReLU first",
       {7},
       {network::Relu{}, network::Dense{9}, network::Relu{}, network::Relu{},
        network::Dense{2}}},
      {"small convolution",
       {2, 9, 8},
       {network::Conv2d{3, {1, 1}}, network::Conv2d{4, {3, 2}}, network::Relu{},
        network::Flatten{}, network::Dense{3}}},
      {"strided",
       {2, 10, 11},
       {network::Conv2d{3, {2, 2}}, strided, network::Flatten{},
        network::Dense{4}}},
      {"padded",
       {3, 7, 6},
       {padded, network::Relu{}, padded, network::Flatten{},
        network::Dense{4}}},
      {"dilated",
       {2, 12, 13},
       {network::Conv2d{2, {2, 1}}, dilated, network::Flatten{},
        network::Dense{3}}},
      {"grouped",
       {3, 6, 7},
       {grouped, grouped, network::Flatten{}, network::Dense{3}}},
      {"depthwise",
       {4, 9, 6},
       {network::Conv2d{4, {2, 1}}, depthwise, network::Flatten{},
        network::Dense{2}}},
      {"pooled",
       {3, 9, 11},
       {network::Conv2d{4, {2, 2}}, network::MaxPool2d{{2, 2}, {2, 2}},
        network::Relu{}, network::Flatten{}, network::Dense{3}}},
      {"overlapping windows",
       {3, 10, 9},
       {network::Conv2d{4, {2, 2}}, network::MaxPool2d{{3, 2}, {2, 1}, {1, 1}},
        network::Flatten{}, network::Dense{3}}},
      {"selected features",
       {2, 6, 5},
       {network::Conv2d{3, {2, 2}}, network::MaxPool2d{{2, 2}, {2, 2}},
        network::Select{{0, 3, 4, 10, 11}}, network::Relu{}, network::Dense{4},
        network::Select{{1, 3}}, network::Dense{3}}},
      {"selected inputs", {9}, {network::Select{{0, 2, 8}}, network::Dense{5}}},
      {"fast 5x5",
       {2, 14, 13},
       {network::Conv2d{10, {2, 2}}, network::Conv2d{12, {5, 5}},
        network::Relu{}, network::Flatten{}, network::Dense{5}},
       true},
      {"fast 5x5, padded",
       {9, 10, 7},
       {padded_five, network::Relu{}, padded_five, network::Flatten{},
        network::Dense{4}},
       true},
      {"fast 3x3",
       {13, 9, 12},
       {padded_three, network::Relu{}, network::Conv2d{11, {3, 3}},
        network::Flatten{}, network::Dense{3}},
       true},
      {"LeNet-5 of half size",
       {1, 16, 16},
       {network::Conv2d{10, {5, 5}}, network::MaxPool2d{{2, 2}, {2, 2}},
        network::Conv2d{12, {3, 3}}, network::MaxPool2d{{2, 2}, {2, 2}},
        network::Flatten{}, network::Dense{40}, network::Relu{},
        network::Dense{10}},
       true},
  };
}

template <typename T>
std::vector<T> to(const Numbers& numbers) {
  std::vector<T> result;
  for (long double x : numbers) result.push_back(static_cast<T>(x));
  return result;
}

/// A Network with the weights of a ReferenceNetwork, and room for gradients.
/// Where it has noise in the activations, variances are hundredths of squares.
template <typename T>
class Bound {
 public:
  Bound(ReferenceNetwork& reference,
        const std::vector<network::LayerSpec>& layers,
        const kernels::NetworkOptions& options)
      : network(reference.input(), layers, options) {
    for (const ReferenceWeights* w : reference.weights()) {
      for (const Numbers* numbers : {&w->weight, &w->bias}) {
        numbers_.push_back(to<T>(*numbers));
        results.emplace_back(numbers->size());
        variances_.push_back(numbers_.back());
        for (T& x : variances_.back()) x *= x / 100;
        variance_results.emplace_back(numbers->size());
      }
    }
    for (std::size_t i = 0; i < numbers_.size(); i += 2) {
      weights_.push_back({numbers_[i].data(),
                          numbers_[i + 1].data(),
                          variances_[i].data(),
                          variances_[i + 1].data(),
                          {1, static_cast<std::uint32_t>(i), 2}});
      gradients_.push_back({results[i].data(), results[i + 1].data(),
                            variance_results[i].data(),
                            variance_results[i + 1].data()});
    }
  }

  /// Outputs as rows; gradients of sum(direction * outputs) go to `results`.
  std::vector<T> step(const std::vector<T>& rows, std::int64_t batch,
                      const Numbers& direction,
                      const kernels::BatchShards& shards = {}) {
    network.set_input(rows.data(), batch);
    if (!shards.ends.empty()) network.set_shards(shards);
    network.forward(weights_.data());
    const std::int64_t outputs = network.output_shape().size();
    std::vector<T> y(at(batch * outputs));
    network.copy_outputs(y.data());
    T* const gradient = network.output_gradient();
    std::fill_n(gradient, outputs * network.stride(), T(0));
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t o = 0; o < outputs; ++o) {
        gradient[o * network.stride() + n] =
            static_cast<T>(direction[at(n * outputs + o)]);
      }
    }
    network.backward(weights_.data(), gradients_.data());
    return y;
  }

  kernels::Network<T> network;
  std::vector<std::vector<T>> results;  // weight, bias of each layer in turn
  std::vector<std::vector<T>> variance_results;

 private:
  std::vector<std::vector<T>> numbers_;
  std::vector<std::vector<T>> variances_;
  std::vector<kernels::Weights<T>> weights_;
  std::vector<kernels::WeightGradients<T>> gradients_;
};

/// Inputs, a direction in the space of outputs, and the outcome to expect.
struct Expected {
  Expected(const ReferenceNetwork& reference, std::int64_t batch, unsigned seed)
      : rows(at(batch * reference.input().size())),
        direction(at(batch * reference.output().size())),
        gradients(reference.zero_gradients()) {
    std::mt19937 engine(seed);
    ReferenceNetwork::fill(rows, 1, engine);
    ReferenceNetwork::fill(direction, 1, engine);
    const std::int64_t inputs = reference.input().size();
    const std::int64_t outputs_size = reference.output().size();
    for (std::int64_t n = 0; n < batch; ++n) {
      const Numbers x(rows.begin() + n * inputs,
                      rows.begin() + (n + 1) * inputs);
      const Numbers y = reference.forward(x);
      outputs.insert(outputs.end(), y.begin(), y.end());
      reference.backward(x,
                         Numbers(direction.begin() + n * outputs_size,
                                 direction.begin() + (n + 1) * outputs_size),
                         gradients);
    }
  }

  Numbers rows;
  Numbers direction;
  Numbers outputs;
  std::vector<ReferenceGradients> gradients;
};

inline double largest(const Numbers& numbers) {
  long double result = 0;
  for (long double x : numbers) result = std::max(result, std::fabs(x));
  return static_cast<double>(result);
}

/// Errors are measured against a complete tensor's size: a sum's rounding error
/// grows with its terms, not with its result.
template <typename T>
void compare(WorstError<T>& worst, const std::vector<T>& got,
             const Numbers& want, double scale, const std::string& where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst.add_scaled(got[i], static_cast<double>(want[i]), scale,
                     [&] { return where + " " + std::to_string(i); });
  }
}

// Sums have up to N = 4000 terms here, and rounding errors of random signs grow
// like sqrt(N) / 2. Winograd's transforms, whose matrices have entries from
// 1/90 to 5.25, multiply them by up to ten (root mean square: six).
constexpr double kAllowedEps = 32;
constexpr double kFastAllowedEps = 10 * kAllowedEps;

template <typename T>
void compare_step(WorstError<T>& worst, Bound<T>& bound,
                  const Expected& expected, std::int64_t batch,
                  const std::string& where,
                  const kernels::BatchShards& shards = {}) {
  compare(worst,
          bound.step(to<T>(expected.rows), batch, expected.direction, shards),
          expected.outputs, largest(expected.outputs), where + ", output");
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    const auto& [sum, squares] = expected.gradients[i];
    const std::string layer = where + ", layer " + std::to_string(i);
    compare(worst, bound.results[2 * i], sum.weight,
            std::sqrt(largest(squares.weight)), layer + " weight");
    compare(worst, bound.results[2 * i + 1], sum.bias,
            std::sqrt(largest(squares.bias)), layer + " bias");
  }
}

inline bool same_bits(const std::vector<float>& a,
                      const std::vector<float>& b) {
  if (a.size() != b.size() || a.empty()) return a.size() == b.size();
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace radir::testing
