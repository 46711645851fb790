#include "radir/train/hmc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/math/predictive.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/posterior_density.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kExamples = 40;
constexpr std::int64_t kInputs = 2;

/// Examples of a curved function of two inputs, and its sign as a class.
template <typename T>
struct Data {
  std::vector<T> inputs = std::vector<T>(kInputs * kExamples);
  std::vector<T> targets = std::vector<T>(kExamples);
  std::vector<std::int64_t> labels = std::vector<std::int64_t>(kExamples);

  Data() {
    kernels::fill_normal({4, 0, 0}, 0, kInputs * kExamples, inputs.data());
    kernels::fill_normal({4, 1, 0}, 0, kExamples, targets.data());
    for (std::size_t i = 0; i < kExamples; ++i) {
      const T* x = &inputs[i * kInputs];
      targets[i] = std::sin(x[0]) - x[1] / 2 + T(0.3) * targets[i];
      labels[i] = targets[i] > 0 ? 1 : 0;
    }
  }

  DataView<T> view() const {
    return {inputs.data(), targets.data(), labels.data(), kExamples};
  }
  Batch<T> batch() const {
    return {inputs.data(), targets.data(), labels.data(), nullptr, kExamples};
  }
};

ModelSpec spec_of(std::int64_t hidden, likelihood::Kind kind) {
  posterior::RadialDirectionalOptions radial;
  radial.direction_prior = posterior::DirectionPrior::Uniform;
  radial.grouping = posterior::Grouping::Column;
  posterior::GaussianOptions output;
  output.learn_prior = true;
  ModelSpec spec;
  spec.likelihood.kind = kind;
  spec.network = network::multilayer_perceptron(
      kInputs, {hidden},
      kind == likelihood::Kind::Gaussian || kind == likelihood::Kind::TwoNormals
          ? 1
          : 2);
  spec.weights = {radial, output};
  return spec;
}

class DensityTest : public ::testing::TestWithParam<likelihood::Kind> {};

TEST_P(DensityTest, GradientIsThatOfTheEnergy) {
  const Model model(spec_of(4, GetParam()));
  PosteriorDensity<double> density(model, kExamples);
  const Data<double> data;
  density.set_data(data.batch());
  const auto size = static_cast<std::size_t>(density.size());
  std::vector<double> x(size);
  std::vector<double> gradient(size);
  std::vector<double> unused(size);
  density.initialize(3, x.data());
  density.gradient(x.data(), gradient.data());
  for (std::size_t i = 0; i < size; ++i) {
    constexpr double kStep = 1e-6;
    const double at = x[i];
    x[i] = at + kStep;
    const double above = density.gradient(x.data(), unused.data()).total();
    x[i] = at - kStep;
    const double below = density.gradient(x.data(), unused.data()).total();
    x[i] = at;
    const double difference = (above - below) / (2 * kStep);
    EXPECT_NEAR(gradient[i], difference, 1e-4 * (1 + std::abs(difference)))
        << "coordinate " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Likelihoods, DensityTest,
                         ::testing::Values(likelihood::Kind::Gaussian,
                                           likelihood::Kind::TwoNormals,
                                           likelihood::Kind::PredictedNoise,
                                           likelihood::Kind::Categorical),
                         [](const auto& parameter) {
                           std::string name =
                               likelihood::to_string(parameter.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The logarithm of the evidence of targets, by quadrature over the precision,
/// for outputs of 0.
TEST(PosteriorDensity, IntegratesThePrecisionOut) {
  ModelSpec spec = spec_of(3, likelihood::Kind::Gaussian);
  spec.likelihood.prior_shape = 2;
  spec.likelihood.prior_rate = 0.5;
  const Model model(spec);
  PosteriorDensity<double> density(model, 3);
  const std::vector<double> inputs(6, 0.0);
  const std::vector<double> targets = {0.4, -1.1, 0.7};
  density.set_data({inputs.data(), targets.data(), nullptr, nullptr, 3});
  // Coordinates of 0 are weights of 0.
  std::vector<double> x(static_cast<std::size_t>(density.size()), 0.0);
  std::vector<double> gradient(x.size());
  const double nll = density.gradient(x.data(), gradient.data()).nll;

  const double squares = 0.4 * 0.4 + 1.1 * 1.1 + 0.7 * 0.7;
  double evidence = 0;
  constexpr double kWidth = 1e-4;
  for (double tau = kWidth / 2; tau < 60; tau += kWidth) {
    const double prior = 0.25 * tau * std::exp(-0.5 * tau);  // Gamma(2, 0.5)
    evidence += kWidth * prior * std::pow(tau / (2 * M_PI), 1.5) *
                std::exp(-tau * squares / 2);
  }
  EXPECT_NEAR(nll, -std::log(evidence), 1e-6);
}

/// A linear network with known noise: its posterior is normal, with known
/// moments.
TEST(Hmc, SamplesAPosteriorThatIsKnown) {
  posterior::GaussianOptions normal;
  normal.prior_scale = 0.8;
  ModelSpec spec;
  spec.network = {{1, 1, 1}, {network::Dense{1, false}}};
  spec.weights = {normal};
  // A prior this sharp fixes the precision at 4.
  spec.likelihood.prior_shape = 4e6;
  spec.likelihood.prior_rate = 1e6;
  const Model model(spec);
  std::vector<double> inputs(20);
  std::vector<double> targets(20);
  kernels::fill_normal({1, 0, 0}, 0, 20, inputs.data());
  kernels::fill_normal({1, 1, 0}, 0, 20, targets.data());
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    xx += inputs[i] * inputs[i];
    xy += inputs[i] * targets[i];
  }
  const double variance = 1 / (4 * xx + 1 / 0.64);
  const double mean = variance * 4 * xy;

  TrainerOptions options;
  options.method = "hmc";
  options.hmc.warmup = 200;
  options.hmc.draws = 4000;
  options.hmc.kept = 4000;
  options.hmc.leapfrog_steps = 5;
  options.epochs = options.hmc.iterations();
  const auto result =
      fit<double>(model, {inputs.data(), targets.data(), nullptr, 20}, options);
  const auto size =
      static_cast<std::size_t>(Model(spec_of_draws(spec)).parameter_count());
  ASSERT_EQ(result.parameters.size(), 4000 * size);
  double sum = 0;
  double squares = 0;
  for (std::size_t d = 0; d < 4000; ++d) {
    const double w = result.parameters[d * size];
    sum += w / 4000;
    squares += (w - mean) * (w - mean) / 4000;
  }
  // Draws are hardly correlated: four standard errors, for 2,000 of them.
  EXPECT_NEAR(sum, mean, 4 * std::sqrt(variance / 2000));
  EXPECT_NEAR(squares / variance, 1, 4 * std::sqrt(2.0 / 2000));
  const ChainStatistics statistics =
      chain_statistics(result.state, options.hmc);
  EXPECT_GT(statistics.acceptance, 0.6);
  EXPECT_LE(statistics.acceptance, 1);
  EXPECT_EQ(statistics.divergences, 0);
}

TrainerOptions short_chain() {
  TrainerOptions options;
  options.method = "hmc";
  options.hmc.warmup = 20;
  options.hmc.draws = 12;
  options.hmc.kept = 4;
  options.hmc.leapfrog_steps = 10;
  options.hmc.start_steps = 50;
  options.epochs = options.hmc.iterations();
  options.seed = 9;
  return options;
}

/// Where there are many data, the draws of the noise are near the truth.
TEST(Hmc, FindsANarrowAndAWideNoise) {
  constexpr std::int64_t kRows = 3000;
  constexpr double kScale = 0.2, kRatio = 4, kShare = 0.25;
  std::vector<double> inputs(kRows), targets(kRows), choices(kRows);
  kernels::fill_normal({1, 0, 0}, 0, kRows, inputs.data());
  kernels::fill_normal({1, 1, 0}, 0, kRows, targets.data());
  kernels::fill_uniform({1, 2, 0}, 0, kRows, choices.data());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double ratio = choices[i] < kShare ? kRatio : 1;
    targets[i] = 0.7 * inputs[i] + ratio * kScale * targets[i];
  }
  ModelSpec spec;
  spec.network = {{1, 1, 1}, {network::Dense{1, false}}};
  spec.weights = {posterior::GaussianOptions{}};
  spec.likelihood.kind = likelihood::Kind::TwoNormals;
  TrainerOptions options = short_chain();
  options.hmc.warmup = 100;
  options.hmc.draws = 100;
  options.hmc.kept = 50;
  options.epochs = options.hmc.iterations();
  const auto result = fit<double>(
      Model(spec), {inputs.data(), targets.data(), nullptr, kRows}, options);
  double scale = 0, ratio = 0, share = 0, weight = 0;
  const auto draws = separate_draws(spec, result.parameters);
  ASSERT_EQ(draws.size(), 50u);
  for (const std::vector<double>& draw : draws) {
    weight += draw[0] / 50;
    scale += std::exp(draw[1]) / 50;
    ratio += (1 + std::exp(draw[2])) / 50;
    share += 1 / (1 + std::exp(-draw[3])) / 50;
  }
  // Three standard errors of the best estimates, or more.
  EXPECT_NEAR(weight, 0.7, 0.02);
  EXPECT_NEAR(scale, kScale, 0.02);
  EXPECT_NEAR(ratio, kRatio, 0.5);
  EXPECT_NEAR(share, kShare, 0.06);
}

TEST(Hmc, DrawsDoNotDependOnThreadsOrOnAStop) {
  const Model model(spec_of(6, likelihood::Kind::PredictedNoise));
  const Data<float> data;
  const TrainerOptions options = short_chain();
  const auto expected = fit<float>(model, data.view(), options);
  const auto size = static_cast<std::size_t>(
      Model(spec_of_draws(model.spec())).parameter_count());
  EXPECT_EQ(expected.parameters.size(), 4 * size);

  ThreadPool pool(3);
  EXPECT_EQ(fit<float>(model, data.view(), options, nullptr, &pool).parameters,
            expected.parameters);

  for (std::int64_t stop : {7, 20, 27}) {
    Resumption<float> first;
    first.between_steps = [&](const TrainerProgress<float>& progress) {
      return progress.state.step < stop;
    };
    Resumption<float> second;
    second.from = fit<float>(model, data.view(), options, nullptr, {}, first);
    ASSERT_EQ(second.from->state.step, stop);
    EXPECT_EQ(
        fit<float>(model, data.view(), options, nullptr, {}, second).parameters,
        expected.parameters)
        << "stopped after " << stop;
  }
}

/// Nats per row where the chain of a wide network starts, for targets that have
/// a share of noise.
double nats_at_start(double noise, std::int64_t columns) {
  constexpr std::int64_t kRows = 120;
  std::vector<float> inputs(static_cast<std::size_t>(columns * kRows));
  std::vector<float> targets(kRows);
  kernels::fill_normal({7, 0, 0}, 0, columns * kRows, inputs.data());
  kernels::fill_normal({7, 1, 0}, 0, kRows, targets.data());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const float x = inputs[i * static_cast<std::size_t>(columns)];
    targets[i] = static_cast<float>(noise) * targets[i] +
                 static_cast<float>(1 - noise) * std::sin(2 * x);
  }
  ModelSpec spec = spec_of(50, likelihood::Kind::Gaussian);
  spec.network = network::multilayer_perceptron(columns, {50, 50}, 1);
  spec.weights.insert(spec.weights.begin(), spec.weights.front());
  const Model model(spec);
  MethodSetup setup{model, kRows, kRows, Optimizer{}, Execution{}};
  setup.hmc = short_chain().hmc;
  setup.hmc.start_steps = 1000;
  // One short step leaves the chain where it starts.
  setup.hmc.leapfrog_steps = 1;
  Hmc<float> chain(setup);
  TrainingState<float> state = chain.initial_state(3);
  const Batch<float> batch{inputs.data(), targets.data(), nullptr, nullptr,
                           kRows};
  StepSettings settings;
  settings.data_count = kRows;
  chain.step(state, batch, settings);

  PosteriorDensity<float> density(model, kRows);
  density.set_data(batch);
  std::vector<float> gradient(state.parameters.size());
  return density.gradient(state.parameters.data(), gradient.data()).nll / kRows;
}

// A chain would not come back from weights that fit noise; a signal without
// noise has to be found before the prior hides it.
TEST(Hmc, StartsWithTheSignalButNotWithTheNoise) {
  // Of noise alone nothing can be known: 1.42 nats with a deviation of 1. All
  // steps come to 0.11, the least that the prior of the noise allows.
  EXPECT_GT(nats_at_start(1, 10), 0.8);
  EXPECT_LT(nats_at_start(0, 1), 0.3);
}

TEST(Hmc, RefusesWhatItCannotDo) {
  const Model model(spec_of(3, likelihood::Kind::Gaussian));
  const Data<float> data;
  TrainerOptions options = short_chain();
  options.validation_share = 0.2;
  expect_error<ArgumentError>([&] { fit<float>(model, data.view(), options); },
                              "validation");
  options = short_chain();
  options.hmc.kept = 13;
  expect_error<ArgumentError>([&] { fit<float>(model, data.view(), options); },
                              "cannot keep 13 of 12");
  const Model agnostic([] {
    ModelSpec spec = spec_of(3, likelihood::Kind::Gaussian);
    spec.weights = {posterior::Options()};
    return spec;
  }());
  expect_error<UnsupportedError>(
      [&] { fit<float>(agnostic, data.view(), short_chain()); },
      "direction_prior=uniform");
}

}  // namespace
}  // namespace radir::train
