#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/network.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "support/expect_error.h"

// Layers whose inputs are dropped at random, against networks without dropout
// that see one example, through weights whose columns are multiplied by the
// same factors.

namespace radir::kernels {
namespace {

constexpr std::int64_t kBatch = 21;

struct Case {
  const char* name;
  network::Shape input;
  std::vector<network::LayerSpec> layers;
  std::vector<double> dropout;
  /// Of each layer with weights: input channels, and the numbers of a row of
  /// the weight that belong to each.
  std::vector<std::int64_t> channels;
  std::vector<std::int64_t> per_channel;
};

std::vector<Case> cases() {
  return {{"dense",
           {5},
           {network::Dense{9}, network::Relu{}, network::Dense{3}},
           {0.3, 0.5},
           {5, 9},
           {1, 1}},
          {"some layers",
           {5},
           {network::Dense{9}, network::Relu{}, network::Dense{8},
            network::Relu{}, network::Dense{2, false}},
           {0, 0.4, 0},
           {5, 9, 8},
           {1, 1, 1}},
          {"convolutions",
           {3, 6, 6},
           {network::Conv2d{4, {3, 3}}, network::Relu{},
            network::Conv2d{2, {2, 2}}, network::Flatten{}, network::Dense{2}},
           {0.3, 0.2, 0},
           {3, 4, 18},
           {9, 4, 1}}};
}

template <typename T>
struct Problem {
  explicit Problem(const Case& c, ThreadPool* pool = nullptr)
      : network(c.input, c.layers, options(c, pool)),
        inputs(static_cast<std::size_t>(kBatch * c.input.size())) {
    fill_normal({2, 0, 0}, 0, static_cast<std::int64_t>(inputs.size()),
                inputs.data());
    std::uint32_t stream = 0;
    for (const WeightSize& size : network.weight_sizes()) {
      for (std::int64_t count : {size.weight, size.bias}) {
        std::vector<T> numbers(static_cast<std::size_t>(count));
        fill_normal({1, stream++, 0}, 0, count, numbers.data());
        for (T& x : numbers) x *= T(0.5);
        values.push_back(numbers);
        gradients.push_back(numbers);
      }
    }
    for (std::size_t l = 0; l < network.weight_sizes().size(); ++l) {
      Weights<T> layer;
      layer.weight = values[2 * l].data();
      layer.bias = values[2 * l + 1].data();
      layer.noise = {9, static_cast<std::uint32_t>(l), 4};
      weights.push_back(layer);
      weight_gradients.push_back(
          {gradients[2 * l].data(), gradients[2 * l + 1].data()});
    }
  }

  static NetworkOptions options(const Case& c, ThreadPool* pool) {
    NetworkOptions result;
    result.max_batch = kBatch;
    result.pool = pool;
    result.dropout = c.dropout;
    return result;
  }

  /// The factor of an input channel of an example.
  double factor(const Case& c, std::size_t l, std::int64_t example,
                std::int64_t channel) const {
    if (c.dropout[l] == 0) return 1;
    T uniform;
    fill_uniform(weights[l].noise, example * c.channels[l] + channel, 1,
                 &uniform);
    return uniform < T(c.dropout[l]) ? 0 : 1 / (1 - c.dropout[l]);
  }

  /// Outputs of the whole batch, and gradients of their sum.
  std::vector<T> run() {
    network.set_input(inputs.data(), kBatch);
    network.forward(weights.data());
    std::vector<T> rows(
        static_cast<std::size_t>(kBatch * network.output_shape().size()));
    network.copy_outputs(rows.data());
    for (std::int64_t u = 0; u < network.output_shape().size(); ++u) {
      for (std::int64_t n = 0; n < network.stride(); ++n) {
        network.output_gradient()[u * network.stride() + n] =
            n < kBatch ? T(1) : T(0);
      }
    }
    network.backward(weights.data(), weight_gradients.data());
    return rows;
  }

  Network<T> network;
  std::vector<T> inputs;
  std::vector<std::vector<T>> values;  // weight, bias of each layer
  std::vector<std::vector<T>> gradients;
  std::vector<Weights<T>> weights;
  std::vector<WeightGradients<T>> weight_gradients;
};

TEST(Dropout, IsTheNetworkOfTheMaskedWeights) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Problem<double> problem(c);
    const std::vector<double> rows = problem.run();
    Case plain_case = c;
    plain_case.dropout.clear();
    Problem<double> plain(plain_case);
    const auto outputs =
        static_cast<std::size_t>(problem.network.output_shape().size());
    std::vector<std::vector<double>> sums = problem.gradients;
    for (auto& sum : sums) sum.assign(sum.size(), 0);
    for (std::int64_t n = 0; n < kBatch; ++n) {
      const auto column_factor = [&](std::size_t l, std::size_t i) {
        const auto at = static_cast<std::int64_t>(i) / c.per_channel[l];
        return problem.factor(c, l, n, at % c.channels[l]);
      };
      for (std::size_t l = 0; l < c.dropout.size(); ++l) {
        for (std::size_t i = 0; i < plain.values[2 * l].size(); ++i) {
          plain.values[2 * l][i] =
              problem.values[2 * l][i] * column_factor(l, i);
        }
      }
      // The same example everywhere: the sum of gradients is kBatch times it.
      for (std::int64_t m = 0; m < kBatch; ++m) {
        for (std::int64_t j = 0; j < c.input.size(); ++j) {
          plain.inputs[static_cast<std::size_t>(m * c.input.size() + j)] =
              problem.inputs[static_cast<std::size_t>(n * c.input.size() + j)];
        }
      }
      const std::vector<double> wanted = plain.run();
      for (std::size_t u = 0; u < outputs; ++u) {
        EXPECT_NEAR(rows[static_cast<std::size_t>(n) * outputs + u], wanted[u],
                    1e-12);
      }
      for (std::size_t b = 0; b < sums.size(); ++b) {
        for (std::size_t i = 0; i < sums[b].size(); ++i) {
          sums[b][i] += plain.gradients[b][i] / kBatch *
                        (b % 2 == 0 ? column_factor(b / 2, i) : 1);
        }
      }
    }
    for (std::size_t b = 0; b < sums.size(); ++b) {
      for (std::size_t i = 0; i < sums[b].size(); ++i) {
        EXPECT_NEAR(problem.gradients[b][i], sums[b][i], 1e-11);
      }
    }
  }
}

TEST(Dropout, BitsDoNotDependOnTheNumberOfThreads) {
  ThreadPool pool(3);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Problem<float> one(c), several(c, &pool);
    EXPECT_EQ(one.run(), several.run());
    EXPECT_EQ(one.gradients, several.gradients);
  }
}

TEST(Dropout, RejectsImpossibleRates) {
  NetworkOptions options;
  options.dropout = {0.5};
  const std::vector<network::LayerSpec> layers = {
      network::Dense{2}, network::Relu{}, network::Dense{1}};
  const auto make = [&] { Network<float>({3}, layers, options); };
  ::radir::testing::expect_error<ArgumentError>(make, "dropout has 1 entries");
  options.dropout = {0.5, 1};
  ::radir::testing::expect_error<ArgumentError>(make, "below 1, but is 1");
}

}  // namespace
}  // namespace radir::kernels
