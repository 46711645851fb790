#include "radir/train/compiled_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/math/constants.h"
#include "radir/math/gamma.h"
#include "radir/network/spec.h"
#include "radir/posterior/dropout.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/matrix_gaussian.h"
#include "radir/posterior/options.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_posterior.h"

namespace radir::train {
namespace {

using math::VmfEstimator;
using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;
using posterior::Grouping;

constexpr double kLogTwoPi = 2 * math::detail::kHalfLog2Pi;

/// Inputs and targets or labels of a few examples.
struct Data {
  std::vector<double> inputs;
  std::vector<double> targets;
  std::vector<std::int64_t> labels;
  std::int64_t count = 0;

  Batch<double> batch() const {
    Batch<double> result;
    result.inputs = inputs.data();
    if (!targets.empty()) result.targets = targets.data();
    if (!labels.empty()) result.labels = labels.data();
    result.count = count;
    return result;
  }
};

/// Checks, for every parameter, that stochastic gradients average to the
/// central difference of `exact`, the loss with all noise integrated out.
void expect_unbiased_gradients(
    const Model& model, TrainingState<double> state, const Data& data,
    const StepSettings& settings, int draws,
    const std::function<double(const std::vector<double>&)>& exact) {
  CompiledStep<double> step(model, data.count);
  const std::size_t size = state.parameters.size();
  std::vector<double> mean(size, 0), square(size, 0);
  for (int i = 0; i < draws; ++i) {
    state.step = i;
    step.gradient(state, data.batch(), settings);
    for (std::size_t p = 0; p < size; ++p) {
      const double g = step.last_gradient()[p];
      mean[p] += g / draws;
      square[p] += g * g / draws;
    }
  }
  for (const ParameterInfo& info : model.parameters()) {
    for (std::int64_t i = 0; i < info.size(); ++i) {
      const auto p = static_cast<std::size_t>(info.offset + i);
      constexpr double h = 1e-5;
      std::vector<double> moved = state.parameters;
      moved[p] = state.parameters[p] + h;
      const double above = exact(moved);
      moved[p] = state.parameters[p] - h;
      const double difference = (above - exact(moved)) / (2 * h);
      const double variance = square[p] - mean[p] * mean[p];
      const double error = std::sqrt(std::max(0.0, variance) / draws);
      EXPECT_NEAR(mean[p], difference,
                  5 * error + 1e-7 * std::max(1.0, std::fabs(difference)))
          << info.name << "[" << i << "]";
    }
  }
}

/// KL part of the loss for the given parameters.
double kl_of(const Model& model, TrainingState<double> state,
             const std::vector<double>& parameters, const Data& data,
             const StepSettings& settings) {
  state.parameters = parameters;
  CompiledStep<double> step(model, data.count);
  return settings.kl_weight * step.gradient(state, data.batch(), settings).kl;
}

/// E[-log N(y | f, 1/tau)] from E(y - f)^2 and the log shape and rate.
double expected_nll(double squared_error, double log_shape, double log_rate) {
  const double shape = std::exp(log_shape);
  return -(math::digamma(shape) - log_rate) / 2 + kLogTwoPi / 2 +
         shape / (2 * std::exp(log_rate)) * squared_error;
}

// With one input set to 1 and the others to 0, each output is one weight plus
// its bias, so the expected loss needs the mean and variance of each weight
// alone, which are known exactly.
void check_linear_network(const posterior::Options& options,
                          std::size_t inputs = 4, int draws = 40000) {
  constexpr std::size_t kOutputs = 3;
  const auto width = static_cast<std::int64_t>(inputs);
  ModelSpec spec;
  spec.network = {{width, 1, 1}, {Dense{kOutputs}}};
  spec.weights = {options};
  const Model model(spec);

  Data data;
  data.count = width;
  data.inputs.assign(inputs * inputs, 0);
  for (std::size_t j = 0; j < inputs; ++j) data.inputs[j * inputs + j] = 1;
  data.targets.resize(inputs * kOutputs);
  kernels::fill_normal({5, 0, 0}, 0,
                       static_cast<std::int64_t>(data.targets.size()),
                       data.targets.data());
  StepSettings settings;
  settings.data_count = 50;
  settings.kl_weight = 0.7;
  auto state = initial_state<double>(model, 11, 50);

  const WeightedLayer& layer = model.layers()[0];
  posterior::WeightPosterior<double> weight({1, kOutputs, width, 1}, options);
  posterior::WeightPosterior<double> bias({1, kOutputs, 1, 1}, layer.bias);
  const auto exact = [&](const std::vector<double>& parameters) {
    const auto read_moments = [&](posterior::WeightPosterior<double>& posterior,
                                  std::size_t first, std::vector<double>& mean,
                                  std::vector<double>& variance) {
      posterior::Arrays<const double> arrays;
      for (std::size_t i = 0; i < posterior.parameter_blocks().size(); ++i) {
        arrays.push_back(parameters.data() +
                         model.parameters()[first + i].offset);
      }
      posterior.moments(arrays, mean.data(), variance.data());
    };
    std::vector<double> mean(inputs * kOutputs), variance(mean.size());
    read_moments(weight, layer.first_weight_parameter, mean, variance);
    std::vector<double> bias_mean(kOutputs), bias_variance(kOutputs);
    read_moments(bias, layer.first_bias_parameter, bias_mean, bias_variance);
    const double* log_shape =
        &parameters[static_cast<std::size_t>(model.likelihood_offset())];
    double sum = 0;
    for (std::size_t j = 0; j < inputs; ++j) {
      for (std::size_t i = 0; i < kOutputs; ++i) {
        const std::size_t w = i * inputs + j;
        const double residual =
            data.targets[j * kOutputs + i] - mean[w] - bias_mean[i];
        const double squared =
            residual * residual + variance[w] + bias_variance[i];
        sum += expected_nll(squared, log_shape[0], log_shape[1]);
      }
    }
    return sum / static_cast<double>(inputs) +
           kl_of(model, state, parameters, data, settings);
  };
  SCOPED_TRACE(weight.describe());
  expect_unbiased_gradients(model, state, data, settings, draws, exact);
}

TEST(CompiledStep, GradientsOfALinearNetworkAreUnbiased) {
  for (Grouping grouping :
       {Grouping::Row, Grouping::Column, Grouping::Double}) {
    for (VmfEstimator estimator :
         {VmfEstimator::Implicit, VmfEstimator::Rejection}) {
      posterior::RadialDirectionalOptions options;
      options.grouping = grouping;
      options.estimator = estimator;
      if (estimator == VmfEstimator::Rejection) {
        options.learn_prior = true;
        options.direction_prior = posterior::DirectionPrior::MeanDirection;
      }
      options.direction_gap = 0.2;
      options.initial_noise = 0.4;
      check_linear_network(options);
    }
  }
  for (auto noise : {posterior::GaussianOptions::Noise::Weights,
                     posterior::GaussianOptions::Noise::Activations}) {
    posterior::GaussianOptions options;
    options.noise = noise;
    options.initial_noise = 0.4;
    check_linear_network(options);
  }
  posterior::DropoutOptions dropout;
  dropout.rate = 0.3;
  dropout.prior_scale = 2;
  check_linear_network(dropout);
  posterior::MatrixGaussianOptions matrix;
  matrix.pseudo_data = 2;
  matrix.pseudo_noise = 1e-6;  // its moments have this to first order
  matrix.initial_noise = 0.4;
  check_linear_network(matrix);
  posterior::GroupNormalJeffreysOptions jeffreys;
  jeffreys.initial_gate_noise = 0.4;
  check_linear_network(jeffreys);
  posterior::GroupHorseshoeOptions horseshoe;
  horseshoe.initial_gate_noise = 0.3;
  check_linear_network(horseshoe);
  check_linear_network(posterior::HardConcreteOptions{});
}

TEST(CompiledStep, GradientsOfLongDirectionsAreUnbiased) {
  for (std::size_t inputs : {30u, 300u}) {
    for (Grouping grouping : {Grouping::Row, Grouping::Double}) {
      posterior::RadialDirectionalOptions options;
      options.grouping = grouping;
      options.direction_gap = 0.1;
      options.initial_noise = 0.4;
      check_linear_network(options, inputs, inputs == 30 ? 8000 : 1000);
    }
  }
}

// The noise of a hidden layer goes through a ReLU; per example, the units of
// one layer are independent given its inputs whichever way it is drawn, so that
// the expected gradients agree.
TEST(CompiledStep, NoiseInActivationsHasTheGradientsOfNoiseInWeights) {
  using Noise = posterior::GaussianOptions::Noise;
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(3, {4}, 1);
  Data data;
  data.count = 5;
  data.inputs.resize(15);
  data.targets.resize(5);
  kernels::fill_normal({5, 0, 0}, 0, 15, data.inputs.data());
  kernels::fill_normal({5, 1, 0}, 0, 5, data.targets.data());
  StepSettings settings;
  settings.data_count = 50;
  constexpr int kDraws = 40000;
  std::vector<double> mean[2], square[2];
  for (std::size_t side : {0, 1}) {
    posterior::GaussianOptions options;
    options.noise = side == 0 ? Noise::Weights : Noise::Activations;
    options.initial_noise = 0.3;
    spec.weights = {options};
    const Model model(spec);
    auto state = initial_state<double>(model, 11, 50);
    CompiledStep<double> step(model, data.count);
    mean[side].resize(state.parameters.size());
    square[side].resize(state.parameters.size());
    for (int i = 0; i < kDraws; ++i) {
      state.step = i;
      step.gradient(state, data.batch(), settings);
      for (std::size_t p = 0; p < state.parameters.size(); ++p) {
        const double g = step.last_gradient()[p];
        mean[side][p] += g / kDraws;
        square[side][p] += g * g / kDraws;
      }
    }
  }
  double variances[2] = {0, 0};
  for (std::size_t p = 0; p < mean[0].size(); ++p) {
    double squared_error = 0;
    for (std::size_t side : {0, 1}) {
      const double variance = square[side][p] - mean[side][p] * mean[side][p];
      squared_error += variance / kDraws;
      variances[side] += variance;
    }
    EXPECT_NEAR(mean[0][p], mean[1][p], 5 * std::sqrt(squared_error)) << p;
  }
  EXPECT_LT(variances[1], variances[0]);  // what it is for
}

TEST(CompiledStep, GroupLassoRemovesInputsThatDoNotMatter) {
  posterior::GroupLassoOptions options;
  options.grouping = Grouping::Column;
  options.strength = 20;
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(4, {8}, 1);
  spec.weights = {options, posterior::PointOptions{}};
  const Model model(spec);
  Data data;
  data.count = 200;
  data.inputs.resize(800);
  kernels::fill_normal({5, 0, 0}, 0, 800, data.inputs.data());
  for (std::size_t i = 0; i < 200; ++i) {
    data.targets.push_back(data.inputs[4 * i] - data.inputs[4 * i + 2]);
  }
  StepSettings settings;
  settings.data_count = 200;
  settings.optimizer.learning_rate = 0.01;
  auto state = initial_state<double>(model, 1, 200);
  CompiledStep<double> step(model, data.count);
  double before = 0, after = 0;
  for (int i = 0; i < 1000; ++i) {
    after = step.step(state, data.batch(), settings).nll;
    if (i == 0) before = after;
  }
  EXPECT_LT(after, before);
  std::vector<double> norms(4);
  for (std::size_t w = 0; w < 32; ++w) {
    norms[w % 4] += std::abs(state.parameters[w]);
  }
  EXPECT_GT(norms[0], 0.1);
  EXPECT_EQ(norms[1], 0);
  EXPECT_GT(norms[2], 0.1);
  EXPECT_EQ(norms[3], 0);
}

// Two inputs, one hidden ReLU unit (a direction on the circle times a radius),
// one output weight, no biases: the expected loss is an integral over an angle,
// a log-normal radius and a normal weight; the last has a closed form.
TEST(CompiledStep, GradientsThroughAReluAreUnbiased) {
  for (VmfEstimator estimator :
       {VmfEstimator::Implicit, VmfEstimator::Rejection}) {
    posterior::RadialDirectionalOptions options;
    options.grouping = Grouping::Row;
    options.estimator = estimator;
    options.direction_gap = 0.3;
    options.initial_noise = 0.5;
    options.global_scale.reset();
    ModelSpec spec;
    spec.network = {{2, 1, 1}, {Dense{1, false}, Relu{}, Dense{1, false}}};
    spec.weights = {options};
    const Model model(spec);
    Data data;
    data.count = 3;
    data.inputs = {0.8, -0.5, 0.3, 1.2, -0.7, 0.4};
    data.targets = {0.5, -0.2, 1.1};
    StepSettings settings;
    settings.data_count = 20;
    auto state = initial_state<double>(model, 3, 20);

    const auto exact = [&](const std::vector<double>& p) {
      // direction (2), log concentration, loc_a, log_var_a, loc_b, log_var_b,
      // then loc and log scale of the output weight, log shape, log rate.
      const double angle = std::atan2(p[1], p[0]);
      const double kappa = std::exp(p[2]);
      const double log_mean = (p[3] + p[5]) / 2;
      const double log_sd = std::sqrt((std::exp(p[4]) + std::exp(p[6])) / 4);
      const double w = p[7];
      const double w_square = w * w + std::exp(2 * p[8]);
      constexpr int kAngles = 4000, kRadii = 161;
      double angle_weights = 0, radius_weights = 0, sum = 0;
      // E[r] and E[r^2] of the radius by the same trapezoid rule.
      double r_mean = 0, r_square = 0;
      for (int k = 0; k < kRadii; ++k) {
        const double z = -8 + 16.0 * k / (kRadii - 1);
        const double density = std::exp(-z * z / 2);
        const double r = std::exp(log_mean + log_sd * z);
        radius_weights += density;
        r_mean += density * r;
        r_square += density * r * r;
      }
      r_mean /= radius_weights;
      r_square /= radius_weights;
      for (int a = 0; a < kAngles; ++a) {
        const double t = 2 * 3.14159265358979323846 * (a + 0.5) / kAngles;
        const double density = std::exp(kappa * (std::cos(t - angle) - 1));
        angle_weights += density;
        for (std::size_t n = 0; n < 3; ++n) {
          const double h =
              std::max(0.0, std::cos(t) * data.inputs[2 * n] +
                                std::sin(t) * data.inputs[2 * n + 1]);
          const double y = data.targets[n];
          const double squared =
              y * y - 2 * y * w * r_mean * h + w_square * r_square * h * h;
          sum += density * squared / 3;
        }
      }
      return expected_nll(sum / angle_weights, p[9], p[10]) +
             kl_of(model, state, p, data, settings);
    };
    SCOPED_TRACE(estimator == VmfEstimator::Implicit ? "implicit"
                                                     : "rejection");
    expect_unbiased_gradients(model, state, data, settings, 60000, exact);
  }
}

ModelSpec small_image_network() {
  ModelSpec spec;
  spec.network = {
      {1, 12, 12},
      {Conv2d{6, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Conv2d{8, {3, 3}}, Relu{},
       Flatten{}, Dense{20}, Relu{}, Dense{4}}};
  spec.likelihood.kind = likelihood::Kind::Categorical;
  return spec;
}

std::vector<float> train_small_images(ThreadPool* pool, int steps) {
  const Model model(small_image_network());
  constexpr std::int64_t kBatch = 32;
  std::vector<float> images(kBatch * 144);
  kernels::fill_normal({9, 0, 0}, 0, kBatch * 144, images.data());
  std::vector<std::int64_t> labels(kBatch);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int64_t>(i % 4);
  }
  Batch<float> batch;
  batch.inputs = images.data();
  batch.labels = labels.data();
  batch.count = kBatch;
  StepSettings settings;
  settings.data_count = 1000;
  settings.max_gradient_norm = 10;
  CompiledStep<float> step(model, kBatch, pool);
  auto state = initial_state<float>(model, 21, 1000);
  double first = 0, last = 0;
  for (int i = 0; i < steps; ++i) {
    last = step.step(state, batch, settings).nll;
    if (i == 0) first = last;
  }
  EXPECT_LT(last, 0.5 * first) << "nothing was learnt";
  return state.parameters;
}

TEST(CompiledStep, BitsDoNotDependOnTheNumberOfThreads) {
  const std::vector<float> alone = train_small_images(nullptr, 200);
  for (int threads : {2, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(train_small_images(&pool, 200), alone) << threads << " threads";
  }
}

TEST(CompiledStep, SeveralSamplesAverageTheirGradients) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(3, {5}, 1);
  const Model model(spec);
  Data data;
  data.count = 2;
  data.inputs = {1, 2, 3, -1, 0, 1};
  data.targets = {0.5, -0.5};
  StepSettings settings;
  settings.data_count = 10;
  settings.kl_weight = 0;
  auto state = initial_state<double>(model, 2, 10);
  CompiledStep<double> step(model, 2);
  std::vector<double> sum(state.parameters.size(), 0);
  for (int i = 0; i < 3; ++i) {
    state.step = 3 + i;  // the noise of samples 0, 1, 2 of step 1 of three
    step.gradient(state, data.batch(), settings);
    for (std::size_t p = 0; p < sum.size(); ++p) {
      sum[p] += step.last_gradient()[p] / 3;
    }
  }
  state.step = 1;
  settings.samples = 3;
  step.gradient(state, data.batch(), settings);
  for (std::size_t p = 0; p < sum.size(); ++p) {
    EXPECT_NEAR(step.last_gradient()[p], sum[p], 1e-12) << p;
  }
}

TEST(CompiledStep, ANonFiniteLossIsReportedAndTheStateKept) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(2, {3}, 1);
  const Model model(spec);
  Data data;
  data.count = 1;
  data.inputs = {1, std::numeric_limits<double>::infinity()};
  data.targets = {0};
  StepSettings settings;
  settings.data_count = 10;
  CompiledStep<double> step(model, 1);
  auto state = initial_state<double>(model, 77, 10);
  const auto before = state.parameters;
  try {
    step.step(state, data.batch(), settings);
    FAIL() << "nothing was thrown";
  } catch (const NumericalError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("layer1.weight"), std::string::npos) << text;
    EXPECT_NE(text.find("step 1 (seed 77"), std::string::npos) << text;
  }
  EXPECT_EQ(state.parameters, before);
  EXPECT_EQ(state.step, 0);
}

TEST(CompiledStep, RefusesWhatDoesNotFit) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(2, {3}, 1);
  const Model model(spec);
  CompiledStep<double> step(model, 4);
  auto state = initial_state<double>(model, 1, 10);
  Data data;
  data.count = 1;
  data.inputs = {1, 2};
  StepSettings settings;
  EXPECT_THROW(step.step(state, data.batch(), settings), ArgumentError);
  settings.data_count = 10;
  EXPECT_THROW(step.step(state, data.batch(), settings), ArgumentError);
  data.targets = {1};
  EXPECT_NO_THROW(step.step(state, data.batch(), settings));
  state.parameters.pop_back();
  EXPECT_THROW(step.step(state, data.batch(), settings), ArgumentError);
  EXPECT_THROW(initial_state<double>(model, 1, 0), ArgumentError);
}

}  // namespace
}  // namespace radir::train
