#include "radir/kernels/network.h"

#include <gtest/gtest.h>

#include "kernels/each_isa.h"
#include "kernels/network_cases.h"
#include "radir/core/error.h"
#include "support/expect_error.h"
#include "support/worst_error.h"

namespace radir::testing {
namespace {

using kernels::Network;
using kernels::NetworkOptions;
using kernels::SampledPrediction;
using kernels::WeightGradients;
using kernels::Weights;
using kernels::WeightSize;

template <typename T>
void expect_matches_reference() {
  WorstError<T> direct("direct sums", kAllowedEps);
  WorstError<T> fast("fast convolutions", kFastAllowedEps);
  for (const Case& c : cases()) {
    for (std::int64_t batch : {1, 5, 16, 33}) {
      ReferenceNetwork reference(c.input, c.layers, 1);
      const Expected expected(reference, batch, 2);
      for_each_isa([&](Isa isa) {
        NetworkOptions options;
        options.max_batch = batch;
        options.isa = isa;
        Bound<T> bound(reference, c.layers, options);
        compare_step(c.fast ? fast : direct, bound, expected, batch,
                     std::string(to_string(isa)) + ", " + c.name + ", batch " +
                         std::to_string(batch));
      });
    }
  }
  direct.verify();
  fast.verify();
}

TEST(Network, MatchesTheDefiningSumsInDouble) {
  expect_matches_reference<double>();
}

TEST(Network, MatchesTheDefiningSumsInFloat) {
  expect_matches_reference<float>();
}

TEST(Network, GradientsAreDifferenceQuotients) {
  const std::vector<network::LayerSpec> layers = {
      network::Conv2d{8, {3, 3}, {1, 1}, {1, 1}},
      network::MaxPool2d{{2, 2}, {2, 2}},
      network::Relu{},
      network::Flatten{},
      network::Dense{7},
      network::Relu{},
      network::Dense{2}};
  ReferenceNetwork reference({8, 6, 6}, layers, 3);
  const Expected expected(reference, 3, 4);
  const auto rows = to<double>(expected.rows);
  NetworkOptions options;
  options.max_batch = 3;
  const auto loss = [&] {
    Bound<double> bound(reference, layers, options);
    const auto y = bound.step(rows, 3, expected.direction);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += y[i] * static_cast<double>(expected.direction[i]);
    }
    return sum;
  };
  Bound<double> bound(reference, layers, options);
  bound.step(rows, 3, expected.direction);
  constexpr double kStep = 1e-6;
  for (std::size_t layer = 0; layer < reference.weights().size(); ++layer) {
    Numbers& weight = reference.weights()[layer]->weight;
    for (std::size_t i = 0; i < weight.size(); i += 1 + weight.size() / 20) {
      const long double kept = weight[i];
      weight[i] = kept + kStep;
      const double above = loss();
      weight[i] = kept - kStep;
      const double below = loss();
      weight[i] = kept;
      EXPECT_NEAR(bound.results[2 * layer][i], (above - below) / (2 * kStep),
                  1e-6)
          << "layer " << layer << ", weight " << i;
    }
  }
}

TEST(Network, AnyNumberOfThreadsGivesTheSameBits) {
  // Large enough for every kind of layer to be worth threads.
  const std::vector<network::LayerSpec> layers = {
      network::Conv2d{12, {5, 5}, {1, 1}, {1, 1}},
      network::MaxPool2d{{2, 2}, {2, 2}},
      network::Conv2d{30, {5, 5}},
      network::Conv2d{20, {2, 2}, {2, 2}, {1, 1}},
      network::MaxPool2d{{2, 2}, {1, 1}},
      network::Relu{},
      network::Flatten{},
      network::Dense{300},
      network::Relu{},
      network::Dense{10}};
  ReferenceNetwork reference({1, 28, 28}, layers, 5);
  constexpr std::int64_t kBatch = 50;
  Numbers rows(kBatch * 28 * 28);
  Numbers direction(kBatch * 10);
  std::mt19937 engine(6);
  ReferenceNetwork::fill(rows, 1, engine);
  ReferenceNetwork::fill(direction, 1, engine);
  for_each_isa([&](Isa isa) {
    std::vector<float> outputs;
    std::vector<std::vector<float>> gradients;
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      NetworkOptions options;
      options.max_batch = kBatch;
      options.pool = &pool;
      options.isa = isa;
      Bound<float> bound(reference, layers, options);
      const auto y = bound.step(to<float>(rows), kBatch, direction);
      if (threads == 1) {
        outputs = y;
        gradients = bound.results;
        continue;
      }
      EXPECT_TRUE(same_bits(y, outputs)) << threads << " threads";
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_TRUE(same_bits(bound.results[i], gradients[i]))
            << threads << " threads, tensor " << i;
      }
    }
  });
}

TEST(Network, AChangedBatchSizeLeavesNoTrace) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    ReferenceNetwork reference(c.input, c.layers, 7);
    const Expected large(reference, 37, 8);
    const Expected small(reference, 6, 9);
    NetworkOptions options;
    options.max_batch = 37;
    Bound<float> fresh(reference, c.layers, options);
    Bound<float> used(reference, c.layers, options);
    const auto want = fresh.step(to<float>(small.rows), 6, small.direction);
    used.step(to<float>(large.rows), 37, large.direction);
    const auto got = used.step(to<float>(small.rows), 6, small.direction);
    EXPECT_TRUE(same_bits(got, want));
    for (std::size_t i = 0; i < fresh.results.size(); ++i) {
      EXPECT_TRUE(same_bits(used.results[i], fresh.results[i])) << i;
    }
  }
}

TEST(Network, TakesTheRowsThatIndicesName) {
  const std::vector<network::LayerSpec> layers = {network::Flatten{}};
  NetworkOptions options;
  options.max_batch = 3;
  for_each_isa([&](Isa isa) {
    options.isa = isa;
    Network<double> network({2, 1, 2}, layers, options);
    const std::vector<double> rows = {0,  1,  2,  3,  10, 11,
                                      12, 13, 20, 21, 22, 23};
    const std::vector<std::int64_t> indices = {2, 0, 2};
    network.set_input(rows.data(), 3, indices.data());
    network.forward(nullptr);
    std::vector<double> y(12);
    network.copy_outputs(y.data());
    EXPECT_EQ(
        y, (std::vector<double>{20, 21, 22, 23, 0, 1, 2, 3, 20, 21, 22, 23}));
  });
}

TEST(Network, TheFirstOfEqualPixelsTakesTheGradient) {
  // The convolution copies a constant image; its weight gradient is then the
  // number of windows whose winner sees a pixel that differs from the others.
  const std::vector<network::LayerSpec> layers = {
      network::Conv2d{1, {1, 1}}, network::MaxPool2d{{2, 2}, {2, 2}}};
  NetworkOptions options;
  for_each_isa([&](Isa isa) {
    options.isa = isa;
    Network<float> network({1, 2, 2}, layers, options);
    // Zero weight: all four products are equal, whatever the pixels.
    const float weight = 0;
    const float bias = 1;
    float weight_gradient = 0;
    float bias_gradient = 0;
    const Weights<float> weights = {&weight, &bias};
    const WeightGradients<float> gradients = {&weight_gradient, &bias_gradient};
    const float pixels[] = {3, 5, 7, 11};
    network.set_input(pixels, 1);
    EXPECT_EQ(network.forward(&weights)[0], 1);
    network.output_gradient()[0] = 2;
    network.backward(&weights, &gradients);
    EXPECT_EQ(weight_gradient, 2 * pixels[0]);
    EXPECT_EQ(bias_gradient, 2);
  });
}

TEST(Network, PoolingKeepsNotANumber) {
  const std::vector<network::LayerSpec> layers = {
      network::MaxPool2d{{1, 3}, {1, 3}}};
  for_each_isa([&](Isa isa) {
    NetworkOptions options;
    options.isa = isa;
    Network<double> network({1, 1, 3}, layers, options);
    const double pixels[] = {1, NAN, 2};
    network.set_input(pixels, 1);
    EXPECT_TRUE(std::isnan(network.forward(nullptr)[0]));
  });
}

TEST(SampledPrediction, EqualsOneNetworkPerSample) {
  const std::vector<network::LayerSpec> layers = {
      network::Dense{50}, network::Relu{}, network::Dense{3}};
  constexpr std::int64_t kSamples = 4;
  constexpr std::int64_t kRows = 1203;
  std::vector<ReferenceNetwork> references;
  for (unsigned s = 0; s < kSamples; ++s) {
    references.emplace_back(network::Shape{13}, layers, s);
  }
  Numbers rows(kRows * 13);
  std::mt19937 engine(10);
  ReferenceNetwork::fill(rows, 1, engine);
  std::vector<std::vector<float>> numbers;
  for (ReferenceNetwork& reference : references) {
    for (const ReferenceWeights* w : reference.weights()) {
      numbers.push_back(to<float>(w->weight));
      numbers.push_back(to<float>(w->bias));
    }
  }
  std::vector<Weights<float>> weights;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    weights.push_back({numbers[i].data(), numbers[i + 1].data()});
  }
  WorstError<float> worst("sampled prediction", kAllowedEps);
  std::vector<float> first;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    NetworkOptions options;
    options.max_batch = 0;
    options.pool = &pool;
    SampledPrediction<float> prediction({13}, layers, options);
    std::vector<float> outputs(kSamples * kRows * 3);
    prediction.run(to<float>(rows).data(), kRows, weights.data(), kSamples,
                   outputs.data());
    if (threads == 1) first = outputs;
    EXPECT_TRUE(same_bits(outputs, first)) << threads << " threads";
  }
  for (std::int64_t s = 0; s < kSamples; ++s) {
    for (std::int64_t n = 0; n < kRows; n += 100) {
      const Numbers y = references[at(s)].forward(
          Numbers(rows.begin() + n * 13, rows.begin() + (n + 1) * 13));
      compare(worst,
              std::vector<float>(first.begin() + (s * kRows + n) * 3,
                                 first.begin() + (s * kRows + n + 1) * 3),
              y, largest(y),
              "sample " + std::to_string(s) + ", row " + std::to_string(n));
    }
  }
  worst.verify();
}

TEST(Network, ReportsSizes) {
  NetworkOptions options;
  options.max_batch = 20;
  Network<float> network(
      {1, 28, 28},
      {network::Conv2d{20, {5, 5}}, network::MaxPool2d{{2, 2}, {2, 2}},
       network::Flatten{}, network::Dense{10, false}},
      options);
  ASSERT_EQ(network.weight_sizes().size(), 2u);
  EXPECT_EQ(network.weight_sizes()[0].weight, 500);
  EXPECT_EQ(network.weight_sizes()[0].bias, 20);
  EXPECT_EQ(network.weight_sizes()[1].weight, 20 * 12 * 12 * 10);
  EXPECT_EQ(network.weight_sizes()[1].bias, 0);
  EXPECT_EQ(network.output_shape().channels, 10);
  const std::vector<float> images(17 * 784);
  network.set_input(images.data(), 17);
  EXPECT_EQ(network.batch(), 17);
  EXPECT_EQ(network.stride(), 32);
}

TEST(Network, RefusesLayersThatDoNotFit) {
  expect_error<ArgumentError>(
      [] {
        Network<float>({1, 4, 4}, {network::Relu{}, network::Conv2d{1, {5, 2}}},
                       NetworkOptions());
      },
      "layer 2 (conv 1 5x2)");
}

TEST(Network, RefusesAnInstructionSetTheProcessorLacks) {
  if (active_isa() == Isa::Avx512) {
    GTEST_SKIP() << "this processor has every instruction set";
  }
  NetworkOptions options;
  options.isa = Isa::Avx512;
  expect_error<ArgumentError>(
      [&] { Network<float>({3}, {network::Dense{1}}, options); },
      "instruction set avx512 is not available");
}

TEST(Network, RefusesWrongUse) {
  NetworkOptions options;
  options.max_batch = 0;
  expect_error<ArgumentError>(
      [&] { Network<float>({3}, {network::Dense{1}}, options); },
      "max_batch must be positive");
  options.max_batch = 4;
  options.gradients = false;
  Network<float> network({3}, {network::Dense{1}}, options);
  expect_error<ArgumentError>([&] { network.forward(nullptr); },
                              "call set_input() first");
  expect_error<ArgumentError>([&] { network.set_input(nullptr, 5); },
                              "between 1 and max_batch = 4, but is 5");
  expect_error<ArgumentError>([&] { network.backward(nullptr, nullptr); },
                              "NetworkOptions::gradients");
}

}  // namespace
}  // namespace radir::testing
