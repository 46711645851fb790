#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/network.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "support/expect_error.h"

// Layers whose noise is drawn in the activations.

namespace radir::kernels {
namespace {

constexpr RandomStream kNoise{9, 4, 2};

/// Weights of every layer, means and variances, with their gradients.
template <typename T>
struct Parameters {
  Parameters(const Network<T>& network, const std::vector<bool>& noisy) {
    for (std::size_t l = 0; l < noisy.size(); ++l) {
      const WeightSize size = network.weight_sizes()[l];
      for (int i = 0; i < 2; ++i) {  // means, then variances
        add(size.weight, i == 1);
        add(size.bias, i == 1);
      }
    }
    for (std::size_t l = 0; l < noisy.size(); ++l) {
      const auto value = [&](std::size_t i) {
        return values[4 * l + i].data();
      };
      const auto gradient = [&](std::size_t i) {
        return gradients[4 * l + i].data();
      };
      RandomStream noise = kNoise;
      noise.stream += static_cast<std::uint32_t>(l);
      weights.push_back({value(0), value(1), value(2), value(3), noise});
      weight_gradients.push_back(
          {gradient(0), gradient(1), gradient(2), gradient(3)});
    }
  }

  std::vector<std::vector<T>> values;
  std::vector<std::vector<T>> gradients;
  std::vector<Weights<T>> weights;
  std::vector<WeightGradients<T>> weight_gradients;

 private:
  void add(std::int64_t size, bool variance) {
    std::vector<T> numbers(static_cast<std::size_t>(size));
    fill_normal({1, static_cast<std::uint32_t>(values.size()), 0}, 0, size,
                numbers.data());
    for (T& x : numbers) x *= variance ? x * T(0.2) : T(0.4);
    values.push_back(numbers);
    gradients.emplace_back(numbers.size());
  }
};

struct Case {
  const char* name;
  network::Shape input;
  std::vector<network::LayerSpec> layers;
  std::vector<bool> noisy;
};

std::vector<Case> cases() {
  return {
      {"dense",
       {5},
       {network::Dense{7}, network::Relu{}, network::Dense{3}},
       {true, true}},
      {"dense among others",
       {5},
       {network::Dense{9}, network::Relu{}, network::Dense{6, false},
        network::Relu{}, network::Dense{2}},
       {false, true, false}},
      {"convolution",
       {2, 6, 5},
       {network::Conv2d{3, {2, 2}}, network::MaxPool2d{{2, 2}, {2, 2}},
        network::Conv2d{4, {2, 1}, {1, 1}, {1, 0}}, network::Relu{},
        network::Flatten{}, network::Dense{2}},
       {true, true, false}},
      {"convolution by Winograd's algorithm",
       {8, 9, 9},
       {network::Conv2d{8, {3, 3}, {1, 1}, {1, 1}}, network::Relu{},
        network::Conv2d{9, {3, 3}}, network::Flatten{}, network::Dense{2}},
       {true, true, true}},
  };
}

/// sum of c_i y_i over all outputs of a batch, with c fixed random numbers.
template <typename T>
struct Problem {
  explicit Problem(const Case& c, ThreadPool* pool = nullptr)
      : network(c.input, c.layers, options(c, pool)),
        parameters(network, c.noisy),
        inputs(static_cast<std::size_t>(kBatch * c.input.size())),
        factors(
            static_cast<std::size_t>(kBatch * network.output_shape().size())) {
    fill_normal({2, 0, 0}, 0, static_cast<std::int64_t>(inputs.size()),
                inputs.data());
    fill_normal({2, 1, 0}, 0, static_cast<std::int64_t>(factors.size()),
                factors.data());
  }

  static NetworkOptions options(const Case& c, ThreadPool* pool) {
    NetworkOptions result;
    result.max_batch = kBatch;
    result.pool = pool;
    result.activation_noise = c.noisy;
    return result;
  }

  std::vector<T> outputs() {
    network.set_input(inputs.data(), kBatch);
    network.forward(parameters.weights.data());
    std::vector<T> rows(factors.size());
    network.copy_outputs(rows.data());
    return rows;
  }

  double loss() {
    const std::vector<T> rows = outputs();
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += static_cast<double>(rows[i]) * static_cast<double>(factors[i]);
    }
    return sum;
  }

  void backward() {
    loss();
    const std::int64_t units = network.output_shape().size();
    for (std::int64_t u = 0; u < units; ++u) {
      for (std::int64_t n = 0; n < network.stride(); ++n) {
        network.output_gradient()[u * network.stride() + n] =
            n < kBatch ? factors[static_cast<std::size_t>(n * units + u)] : 0;
      }
    }
    network.backward(parameters.weights.data(),
                     parameters.weight_gradients.data());
  }

  static constexpr std::int64_t kBatch = 3;
  Network<T> network;
  Parameters<T> parameters;
  std::vector<T> inputs;
  std::vector<T> factors;
};

TEST(ActivationNoise, GradientsAreFiniteDifferences) {
  for (const Case& c : cases()) {
    Problem<double> problem(c);
    problem.backward();
    for (std::size_t b = 0; b < problem.parameters.values.size(); ++b) {
      if (b % 4 >= 2 && !c.noisy[b / 4]) continue;
      std::vector<double>& values = problem.parameters.values[b];
      for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / 9) {
        const double x = values[i];
        const double h = 1e-6 * std::max(std::abs(x), 1e-2);
        values[i] = x + h;
        const double above = problem.loss();
        values[i] = x - h;
        const double difference = (above - problem.loss()) / (2 * h);
        values[i] = x;
        EXPECT_NEAR(problem.parameters.gradients[b][i], difference,
                    1e-5 * std::max(1.0, std::abs(difference)))
            << c.name << ", array " << b << "[" << i << "]";
      }
    }
  }
}

// One unit: x = (1, -2), means (0.5, 0.25), variances (0.04, 0.09).
TEST(ActivationNoise, IsThatOfTheWeights) {
  const double x[] = {1, -2};
  const double mean[] = {0.5, 0.25};
  const double variance[] = {0.04, 0.09};
  NetworkOptions options;
  options.activation_noise = {true};
  Network<double> network({2}, {network::Dense{1, false}}, options);
  network.set_input(x, 1);
  const Weights<double> weights{mean, nullptr, variance, nullptr, kNoise};
  double eps = 0;
  fill_normal(kNoise, 0, 1, &eps);
  EXPECT_NEAR(network.forward(&weights)[0], std::sqrt(0.4) * eps, 1e-15);
}

// Number example * units + unit of the stream, whatever the batch around it.
TEST(ActivationNoise, HasItsPlaceInTheStream) {
  const Case c{"", {2}, {network::Dense{3, false}}, {true}};
  Problem<double> problem(c);
  std::vector<double>& means = problem.parameters.values[0];
  std::fill(means.begin(), means.end(), 0);
  std::fill(problem.inputs.begin(), problem.inputs.end(), 1);
  const std::vector<double>& variances = problem.parameters.values[2];
  std::vector<double> eps(9);
  fill_normal(kNoise, 0, 9, eps.data());
  const std::vector<double> outputs = problem.outputs();
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t unit = i % 3;
    const double variance = variances[2 * unit] + variances[2 * unit + 1];
    EXPECT_NEAR(outputs[i], std::sqrt(variance) * eps[i], 1e-14);
  }
}

TEST(ActivationNoise, TheNumberOfThreadsChangesNoBit) {
  ThreadPool pool(3);
  for (const Case& c : cases()) {
    Problem<float> alone(c);
    Problem<float> shared(c, &pool);
    EXPECT_EQ(alone.outputs(), shared.outputs()) << c.name;
    alone.backward();
    shared.backward();
    EXPECT_EQ(alone.parameters.gradients, shared.parameters.gradients)
        << c.name;
  }
}

TEST(ActivationNoise, OfUnitsWithoutInputIsFinite) {
  for (const Case& c : cases()) {
    Problem<float> problem(c);
    std::fill(problem.inputs.begin(), problem.inputs.end(), 0.0f);
    for (std::size_t b = 3; b < problem.parameters.values.size(); b += 4) {
      auto& bias_variance = problem.parameters.values[b];
      std::fill(bias_variance.begin(), bias_variance.end(), 0.0f);
    }
    EXPECT_TRUE(std::isfinite(problem.loss()));
    problem.backward();
    for (const auto& gradient : problem.parameters.gradients) {
      for (float x : gradient) EXPECT_TRUE(std::isfinite(x)) << c.name;
    }
  }
}

TEST(ActivationNoise, IsGivenForAllLayersOrNone) {
  NetworkOptions options;
  options.activation_noise = {true};
  testing::expect_error<ArgumentError>(
      [&] {
        Network<float>({2}, {network::Dense{3}, network::Dense{1}}, options);
      },
      "activation_noise has 1 entries, but there are 2 layers with weights");
}

}  // namespace
}  // namespace radir::kernels
