#include "radir/train/coordinate_ascent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/train/compiled_step.h"
#include "radir/train/evaluation.h"
#include "radir/train/predictor.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kExamples = 60;
constexpr std::int64_t kInputs = 3;
constexpr std::int64_t kOutputs = 2;

posterior::Options normal_weights() {
  posterior::GaussianOptions options;
  options.prior_scale = 0.8;
  return options;
}

ModelSpec linear_spec(bool bias = true) {
  ModelSpec spec;
  spec.network = {{kInputs, 1, 1}, {network::Dense{kOutputs, bias}}};
  spec.weights = {normal_weights()};
  spec.bias_prior_scale = 0.5;
  return spec;
}

/// Two linear functions of correlated inputs, with noise.
template <typename T>
struct LinearData {
  std::vector<T> inputs = std::vector<T>(kInputs * kExamples);
  std::vector<T> targets = std::vector<T>(kOutputs * kExamples);

  LinearData() {
    kernels::fill_normal({4, 0, 0}, 0, kInputs * kExamples, inputs.data());
    kernels::fill_normal({4, 1, 0}, 0, kOutputs * kExamples, targets.data());
    for (std::size_t i = 0; i < kExamples; ++i) {
      T* x = &inputs[i * kInputs];
      x[1] += x[0] / 2;
      T* y = &targets[i * kOutputs];
      y[0] = x[0] - x[1] / 2 + T(0.3) + y[0] / 2;
      y[1] = x[2] / 3 + y[1] / 2;
    }
  }

  DataView<T> view() const {
    return {inputs.data(), targets.data(), nullptr, kExamples};
  }
  Batch<T> batch() const {
    return {inputs.data(), targets.data(), nullptr, nullptr, kExamples};
  }
};

MethodSetup setup_for(const Model& model) {
  return {model, kExamples, kExamples, {}, {}};
}

/// The state after enough passes, and that the loss never rose on the way.
TrainingState<double> fixed_point(const Model& model,
                                  const LinearData<double>& data,
                                  const StepSettings& settings) {
  CoordinateAscent<double> method(setup_for(model));
  TrainingState<double> state = method.initial_state(7);
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 60; ++i) {
    const StepLoss loss = method.step(state, data.batch(), settings);
    const double sum = loss.nll + settings.kl_weight * loss.kl;
    EXPECT_LE(sum, last + 1e-12) << "pass " << i;
    last = sum;
  }
  return state;
}

// At the optimum of the evidence lower bound the compiled step's gradients,
// which are unbiased, average to zero.
TEST(CoordinateAscent, EndsWhereTheGradientOfTheElboIsZero) {
  const LinearData<double> data;
  for (const bool bias : {true, false}) {
    for (const double kl_weight : {1.0, 0.4}) {
      SCOPED_TRACE(kl_weight);
      const Model model(linear_spec(bias));
      StepSettings settings;
      settings.data_count = kExamples;
      settings.kl_weight = kl_weight;
      TrainingState<double> state = fixed_point(model, data, settings);
      CompiledStep<double> step(model, kExamples);
      const std::size_t size = state.parameters.size();
      std::vector<double> sum(size), squares(size);
      constexpr int kDraws = 20000;
      for (int i = 0; i < kDraws; ++i) {
        state.step = i;
        step.gradient(state, data.batch(), settings);
        for (std::size_t p = 0; p < size; ++p) {
          sum[p] += step.last_gradient()[p];
          squares[p] += step.last_gradient()[p] * step.last_gradient()[p];
        }
      }
      for (std::size_t p = 0; p < size; ++p) {
        const double mean = sum[p] / kDraws;
        const double error =
            std::sqrt((squares[p] / kDraws - mean * mean) / kDraws);
        EXPECT_NEAR(mean, 0, 5 * error + 1e-12) << "parameter " << p;
      }
    }
  }
}

/// The mean loss over many draws, the same for any parameters.
double mean_loss(const Model& model, const LinearData<double>& data,
                 const std::vector<double>& parameters) {
  StepSettings settings;
  settings.data_count = kExamples;
  settings.samples = 4000;
  CompiledStep<double> step(model, kExamples);
  const StepLoss loss =
      step.gradient(state_from(parameters, 3), data.batch(), settings);
  return loss.nll + loss.kl;
}

TEST(CoordinateAscent, ComesWhereGradientStepsGoButCloser) {
  const LinearData<double> data;
  const Model model(linear_spec());
  TrainerOptions options;
  options.method = "coordinate-ascent";
  options.epochs = 60;
  const auto exact = fit(model, data.view(), options);
  options.method = "elbo";
  options.epochs = 3000;
  options.batch_size = kExamples;
  options.samples = 4;
  options.optimizer.learning_rate = 0.01;
  options.learning_rate.kind = LearningRateSchedule::Kind::Cosine;
  const auto gradient = fit(model, data.view(), options);
  for (std::size_t p = 0; p < kInputs * kOutputs; ++p) {
    EXPECT_NEAR(exact.parameters[p], gradient.parameters[p], 0.02) << p;
  }
  const double lowest = mean_loss(model, data, exact.parameters);
  const double reached = mean_loss(model, data, gradient.parameters);
  EXPECT_LT(lowest, reached);
  EXPECT_LT(reached, lowest + 0.01);
}

TEST(CoordinateAscent, ItsResultPredictsAsAnyOther) {
  const LinearData<float> data;
  const Model model(linear_spec());
  TrainerOptions options;
  options.method = "coordinate-ascent";
  options.epochs = 30;
  options.batch_size = 7;  // has no effect
  options.validation_share = 0.2;
  const auto result = fit(model, data.view(), options);
  EXPECT_EQ(result.state.step, 30);
  EXPECT_TRUE(result.history.back().validation_nll.has_value());
  Predictor<float> predictor(model, result.parameters, 500, 1);
  const float row[kInputs] = {1, 1, -1};
  std::vector<float> outputs(500 * kOutputs);
  predictor.run(row, 1, outputs.data());
  double mean[kOutputs] = {};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    mean[i % kOutputs] += static_cast<double>(outputs[i]) / 500;
  }
  EXPECT_NEAR(mean[0], 0.8, 0.25);
  EXPECT_NEAR(mean[1], -1.0 / 3, 0.25);
  // Noise of half a standard deviation: log(0.5) + log(2 pi e) / 2 per target.
  EXPECT_NEAR(predictive_nll(model, result.parameters, data.view(), 100, 1),
              2 * (std::log(0.5) + 1.4189), 0.2);
}

TEST(CoordinateAscent, ResumesToTheSameBits) {
  const LinearData<float> data;
  const Model model(linear_spec());
  TrainerOptions options;
  options.method = "coordinate-ascent";
  options.epochs = 9;
  options.seed = 5;
  const auto complete = fit(model, data.view(), options);
  for (std::int64_t stop : {0, 1, 4, 8}) {
    TrainerProgress<float> reached;
    fit<float>(model, data.view(), options, nullptr, nullptr,
               {std::nullopt, [&](const TrainerProgress<float>& progress) {
                  reached = progress;
                  return progress.state.step < stop;
                }});
    const auto resumed = fit<float>(model, data.view(), options, nullptr,
                                    nullptr, {reached, nullptr});
    EXPECT_EQ(resumed.parameters, complete.parameters) << stop;
    EXPECT_EQ(resumed.history.back().nll, complete.history.back().nll);
  }
  // The progress of another method has another optimiser state.
  options.method = "elbo";
  expect_error<ArgumentError>(
      [&] {
        fit<float>(model, data.view(), options, nullptr, nullptr,
                   {complete, nullptr});
      },
      "the progress is that of another");
}

TEST(CoordinateAscent, RefusesWhatItCannotTrain) {
  const auto expect_refused = [](const ModelSpec& spec) {
    const Model model(spec);
    expect_error<UnsupportedError>(
        [&] { CoordinateAscent<float> method(setup_for(model)); },
        "supports one dense layer with the gaussian family");
  };
  ModelSpec spec = linear_spec();
  spec.network = network::multilayer_perceptron(kInputs, {4}, kOutputs);
  expect_refused(spec);
  spec = linear_spec();
  spec.weights = {posterior::Options()};
  expect_refused(spec);
  spec = linear_spec();
  spec.weights[0].get<posterior::GaussianOptions>().learn_prior = true;
  expect_refused(spec);
  spec = linear_spec();
  spec.likelihood.kind = likelihood::Kind::PredictedNoise;
  expect_refused(spec);
}

TEST(CoordinateAscent, RefusesBadSteps) {
  const LinearData<float> data;
  const Model model(linear_spec());
  CoordinateAscent<float> method(setup_for(model));
  TrainingState<float> state = method.initial_state(1);
  StepSettings settings;
  settings.data_count = kExamples;
  const auto expect_refused = [&](const Batch<float>& batch, const char* part) {
    expect_error<ArgumentError>([&] { method.step(state, batch, settings); },
                                part);
  };
  Batch<float> batch = data.batch();
  batch.count = 10;
  expect_refused(batch, "needs all 60 examples, but the batch has 10");
  batch = data.batch();
  batch.targets = nullptr;
  expect_refused(batch, "no inputs or no targets");
  settings.kl_weight = 0;
  expect_refused(data.batch(), "KL weight must be above 0");
  settings.kl_weight = 1;
  state.parameters.pop_back();
  expect_refused(data.batch(), "the state has 17 parameters, the model 18");
}

}  // namespace
}  // namespace radir::train
