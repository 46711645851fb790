#include "radir/train/pbp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/evaluation.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"
#include "train/pbp_network.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

ModelSpec normal_spec(const network::NetworkSpec& network) {
  ModelSpec spec;
  spec.network = network;
  spec.weights = {posterior::GaussianOptions{}};
  return spec;
}

TEST(PbpNetwork, PassesMeansAndVariances) {
  // Three inputs without bias, the moments of the inputs known through a layer
  // before: here the last layer's sums alone.
  PbpNetwork network(network::multilayer_perceptron(2, {}, 1));
  PbpNetwork::Layer& layer = network.layers().front();
  layer.mean = {0.3, 0.8, -0.2};
  layer.variance = {1.2, 0.5, 0.7};
  const double inputs[] = {1, -0.5};
  const auto output = network.forward(inputs);
  EXPECT_NEAR(output.mean, (0.3 - 0.4 - 0.2) / std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(output.variance, (1.2 + 0.5 * 0.25 + 0.7) / 3, 1e-15);
}

/// log Z of a target for a network with one hidden layer.
double log_z(PbpNetwork& network, const double* inputs, double target) {
  const auto output = network.forward(inputs);
  return log_normaliser(target - output.mean, output.variance, {6, 6}, 0);
}

TEST(PbpNetwork, UpdatesByTheGradientsOfLogZ) {
  PbpNetwork network(network::multilayer_perceptron(2, {4, 3}, 1));
  std::uint32_t stream = 0;
  for (PbpNetwork::Layer& layer : network.layers()) {
    const auto size = static_cast<std::int64_t>(layer.mean.size());
    kernels::fill_normal({3, stream++, 0}, 0, size, layer.mean.data());
    kernels::fill_uniform({3, stream++, 0}, 0, size, layer.variance.data());
  }
  const double inputs[] = {0.7, -1.2};
  const double target = 0.9;
  PbpNetwork updated_network = network;
  const auto output = updated_network.forward(inputs);
  updated_network.update(
      log_normaliser_gradient(target - output.mean, output.variance, {6, 6}));
  constexpr double kStep = 1e-6;
  for (std::size_t l = 0; l < 3; ++l) {
    PbpNetwork::Layer& layer = network.layers()[l];
    const PbpNetwork::Layer& after = updated_network.layers()[l];
    for (std::size_t i = 0; i < layer.mean.size(); ++i) {
      const auto slope = [&](double& x) {
        const double x0 = x;
        x = x0 + kStep;
        const double above = log_z(network, inputs, target);
        x = x0 - kStep;
        const double below = log_z(network, inputs, target);
        x = x0;
        return (above - below) / (2 * kStep);
      };
      const double g = slope(layer.mean[i]);
      const double h = slope(layer.variance[i]);
      const double v = layer.variance[i];
      EXPECT_NEAR(after.mean[i], layer.mean[i] + v * g, 1e-8);
      EXPECT_NEAR(after.variance[i], v - v * v * (g * g - 2 * h), 1e-8);
    }
  }
}

TEST(PbpNetwork, AKnownNoiseGivesTheKalmanUpdate) {
  double mean = 0.3;
  double variance = 0.8;
  // A shape without end: the noise is known, of variance 0.5.
  EXPECT_TRUE(update_normal(
      log_normaliser_gradient(1 - 0.3, 0.8, {1e12, 0.5e12}), mean, variance));
  EXPECT_NEAR(mean, 0.3 + 0.8 / 1.3 * 0.7, 1e-10);
  EXPECT_NEAR(variance, 0.8 * 0.5 / 1.3, 1e-10);
}

TEST(PbpNetwork, NoiseAndPriorHaveTheKnownUpdates) {
  EXPECT_NEAR(log_normaliser(0.8, 0.5, {6, 6}, 0), -0.453549419648732, 1e-14);
  const auto noise = updated(0.8, 0.5, {6, 6});
  EXPECT_NEAR(noise.shape, 6.444294397776899, 1e-12);
  EXPECT_NEAR(noise.rate, 6.207210607968867, 1e-12);

  double mean = 0.7;
  double variance = 0.4;
  math::GammaPair<double> lambda = {6, 6};
  PriorFactor factor;
  factor.precision = 1 / 1.2;
  refresh(mean, variance, lambda, factor);
  EXPECT_NEAR(mean, 0.7, 1e-14);
  EXPECT_NEAR(variance, 0.4, 1e-14);
  EXPECT_NEAR(lambda.shape, 6.336939646652133, 1e-12);
  EXPECT_NEAR(lambda.rate, 6.207670336792185, 1e-12);
  EXPECT_NEAR(factor.shape, lambda.shape - 6, 1e-12);
}

TEST(PbpNetwork, KeepsWhatAnUpdateWouldSpoil) {
  double mean = 1;
  double variance = 2;
  EXPECT_FALSE(update_normal({1, 0}, mean, variance));  // v - v^2 < 0
  EXPECT_FALSE(update_normal({NAN, 0}, mean, variance));
  EXPECT_EQ(mean, 1);
  EXPECT_EQ(variance, 2);
  const auto kept = updated(NAN, 1, {6, 6});
  EXPECT_EQ(kept.shape, 6);
  EXPECT_EQ(kept.rate, 6);
  // Without its factor the weight would have no distribution.
  math::GammaPair<double> lambda = {6, 6};
  PriorFactor factor;
  factor.precision = 1;
  refresh(mean, variance, lambda, factor);
  EXPECT_EQ(variance, 2);
  EXPECT_EQ(lambda.shape, 6);
  EXPECT_EQ(factor.precision, 1);
}

/// y = x0 x1 with noise of deviation 0.1.
struct Surface {
  std::vector<double> inputs = std::vector<double>(2 * 300);
  std::vector<double> targets = std::vector<double>(300);

  explicit Surface(std::uint64_t seed) {
    kernels::fill_normal({seed, 1, 0}, 0, 600, inputs.data());
    kernels::fill_normal({seed, 2, 0}, 0, 300, targets.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = inputs[2 * i] * inputs[2 * i + 1] + targets[i] / 10;
    }
  }
  DataView<double> view() const {
    return {inputs.data(), targets.data(), nullptr, 300};
  }
};

TEST(Pbp, LearnsASurface) {
  const Model model(normal_spec(network::multilayer_perceptron(2, {30}, 1)));
  TrainerOptions options;
  options.method = "pbp";
  options.epochs = 40;
  const Surface training(1), test(2);
  const auto result = fit<double>(model, training.view(), options);
  EXPECT_EQ(result.state.step, 40);
  // That of the targets alone is 1.4.
  EXPECT_LT(predictive_nll(model, result.parameters, test.view(), 100, 1), 0.5);
  EXPECT_LT(result.history.back().nll, 0.3);
  EXPECT_GT(result.history.back().kl, 0);
}

TEST(Pbp, RefusesWhatItDoesNotSupport) {
  const auto make = [](const ModelSpec& spec) {
    const Model model(spec);
    Pbp<float>({model, 10, 10, {}, {}});
  };
  ModelSpec spec = normal_spec(network::multilayer_perceptron(2, {3}, 1));
  make(spec);
  ModelSpec other = spec;
  other.weights = {posterior::RadialDirectionalOptions{}};
  expect_error<UnsupportedError>([&] { make(other); },
                                 "pbp: supports the gaussian family");
  other = spec;
  other.likelihood.kind = likelihood::Kind::Categorical;
  other.network = network::multilayer_perceptron(2, {3}, 4);
  expect_error<UnsupportedError>([&] { make(other); }, "one target");
  other = spec;
  other.likelihood.prior_shape = 1;
  expect_error<ArgumentError>([&] { make(other); }, "must be above 1");
  other = spec;
  other.network.input = {1, 4, 4};
  other.network.layers = {network::Conv2d{2, {3, 3}}, network::Flatten{},
                          network::Dense{1}};
  expect_error<UnsupportedError>([&] { make(other); },
                                 "pbp: supports dense layers");
}

TEST(Pbp, RefusesABatchWithoutAllExamples) {
  const Model model(normal_spec(network::multilayer_perceptron(2, {3}, 1)));
  Pbp<double> method({model, 300, 300, {}, {}});
  EXPECT_EQ(method.batch_size(), 300);
  TrainingState<double> state = method.initial_state(1);
  const Surface data(1);
  StepSettings settings;
  settings.data_count = 300;
  Batch<double> batch{data.inputs.data(), data.targets.data(), nullptr, nullptr,
                      200};
  expect_error<ArgumentError>([&] { method.step(state, batch, settings); },
                              "a step needs all 300 examples");
  batch.count = 300;
  state.optimizer.slots.erase("lambda");
  expect_error<ArgumentError>([&] { method.step(state, batch, settings); },
                              "pbp: the state has");
}

}  // namespace
}  // namespace radir::train
