#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "radir/kernels/random.h"
#include "radir/likelihood/gaussian.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/point.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/train/predictor.h"
#include "radir/train/schedule.h"
#include "radir/train/trainer.h"

// Where the posterior of the precision of a Gaussian likelihood ends.

namespace radir::train {
namespace {

constexpr std::int64_t kRows = 150;
constexpr std::int64_t kInputs = 3;

// Draws 0, 2 and 1.5 for the target 1, with a precision known to be 0.5.
TEST(Precision, DrawsAreAMixture) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(1, {}, 1);
  const Model model(spec);
  std::vector<double> parameters(
      static_cast<std::size_t>(model.parameter_count()));
  const auto own = static_cast<std::size_t>(model.likelihood_offset());
  parameters[own] = std::log(1e11);
  parameters[own + 1] = std::log(2e11);
  const double outputs[] = {0, 2, 1.5};
  const double input = 0, target = 1;
  const auto found =
      log_likelihoods(model, parameters, outputs, 3,
                      DataView<double>{&input, &target, nullptr, 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0], -1.449028542259431, 1e-8);
}

TEST(Precision, TheNoiseOfExamplesIsFound) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(1, {}, 1);
  spec.weights = {posterior::PointOptions{}};
  const Model model(spec);
  // The network says 0, the noise has variance 1 and claims to have 1/16.
  std::vector<double> parameters(
      static_cast<std::size_t>(model.parameter_count()));
  const auto own = static_cast<std::size_t>(model.likelihood_offset());
  parameters[own] = std::log(1e6);
  parameters[own + 1] = std::log(1e6 / 16);
  std::vector<double> inputs(5000, 1), targets(5000);
  kernels::fill_normal({3, 0, 0}, 0, 5000, targets.data());
  const DataView<double> data{inputs.data(), targets.data(), nullptr, 5000};
  const NoiseFit fit = fit_noise<double>(model, {parameters}, data, 2, 1);
  EXPECT_NEAR(fit.factor, 16, 1e-9);
  // Twice the same network is the same mixture; one factor leaves no choice.
  const NoiseFit twice =
      fit_noise<double>(model, {parameters, parameters}, data, 2, 1);
  EXPECT_EQ(twice.factor, fit.factor);
  EXPECT_NEAR(twice.nll, fit.nll, 1e-12);
  const NoiseFit fixed =
      fit_noise<double>(model, {parameters}, data, 2, 1, {1});
  EXPECT_EQ(fixed.factor, 1);
  EXPECT_NEAR(fixed.nll, predictive_nll(model, parameters, data, 2, 1), 1e-12);
  EXPECT_TRUE(scale_noise(model, fit.factor, parameters));
  EXPECT_NEAR(predictive_nll(model, parameters, data, 2, 1), fit.nll, 1e-12);

  spec.network = network::multilayer_perceptron(1, {}, 3);
  spec.likelihood.kind = likelihood::Kind::Categorical;
  const Model classes(spec);
  parameters.assign(static_cast<std::size_t>(classes.parameter_count()), 0);
  EXPECT_FALSE(scale_noise(classes, 2, parameters));
  const std::vector<std::int64_t> labels(5000, 1);
  const NoiseFit none = fit_noise<double>(
      classes, {parameters},
      DataView<double>{inputs.data(), nullptr, labels.data(), 5000}, 2, 1);
  EXPECT_EQ(none.factor, 1);
  EXPECT_NEAR(none.nll, std::log(3.0), 1e-12);
}

/// A curve with two outputs and noise of 0.2.
struct Curve {
  Curve() {
    kernels::fill_normal({3, 0, 0}, 0, kRows * kInputs, inputs.data());
    kernels::fill_normal({3, 1, 0}, 0, 2 * kRows, targets.data());
    for (std::size_t i = 0; i < kRows; ++i) {
      const float* x = inputs.data() + i * kInputs;
      targets[2 * i] = 0.2f * targets[2 * i] + std::sin(2 * x[0]);
      targets[2 * i + 1] = 0.2f * targets[2 * i + 1] + x[1] * x[2];
    }
  }

  DataView<float> view() const {
    DataView<float> result;
    result.inputs = inputs.data();
    result.targets = targets.data();
    result.count = kRows;
    return result;
  }

  std::vector<float> inputs = std::vector<float>(kRows * kInputs);
  std::vector<float> targets = std::vector<float>(2 * kRows);
};

/// E sum (y - f)^2 over all rows and draws of the weights.
double expected_squares(const Model& model,
                        const std::vector<float>& parameters,
                        const Curve& curve) {
  constexpr std::int64_t kSamples = 2000;
  Predictor<float> predictor(model, parameters, kSamples, 5);
  std::vector<float> outputs(static_cast<std::size_t>(kSamples * kRows * 2));
  predictor.run(curve.inputs.data(), kRows, outputs.data());
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double residual = static_cast<double>(
        outputs[i] - curve.targets[i % curve.targets.size()]);
    sum += residual * residual / kSamples;
  }
  return sum;
}

TEST(Precision, EndsAtItsClosedForm) {
  const Curve curve;
  for (double kl_weight : {1.0, 0.3}) {
    for (std::int64_t batch : {32, 150}) {
      SCOPED_TRACE(kl_weight);
      SCOPED_TRACE(batch);
      ModelSpec spec;
      spec.network = network::multilayer_perceptron(kInputs, {20}, 2);
      spec.likelihood.prior_shape = 2;
      spec.likelihood.prior_rate = 0.5;
      const Model model(spec);
      TrainerOptions options;
      options.batch_size = batch;
      options.epochs = 4000 / ((kRows + batch - 1) / batch);
      options.optimizer.learning_rate = 0.01;
      options.learning_rate.kind = LearningRateSchedule::Kind::Cosine;
      options.learning_rate.final_factor = 0.01;
      options.kl = KlSchedule::warmup(0.3, 0.1, kl_weight);
      const auto result = fit<float>(model, curve.view(), options);

      const auto q = likelihood::precision_of(
          likelihood_parameters(model, result.parameters).data());
      const double shape = 2 + 2.0 * kRows / (2 * kl_weight);
      EXPECT_NEAR(q.shape, shape, 1e-5 * shape);
      const double rate =
          0.5 +
          expected_squares(model, result.parameters, curve) / (2 * kl_weight);
      RecordProperty("rate", std::to_string(q.rate / rate));
      EXPECT_NEAR(q.rate, rate, 0.03 * rate);
    }
  }
}

}  // namespace
}  // namespace radir::train
