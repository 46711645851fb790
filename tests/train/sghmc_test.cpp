#include "radir/train/sghmc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/options.h"
#include "radir/train/hmc.h"
#include "radir/train/posterior_density.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kExamples = 400;
constexpr std::int64_t kInputs = 2;

/// A plane with noise of a standard deviation of 0.5.
struct Plane {
  std::vector<double> inputs = std::vector<double>(kInputs * kExamples);
  std::vector<double> targets = std::vector<double>(kExamples);

  Plane() {
    kernels::fill_normal({1, 0, 0}, 0, kInputs * kExamples, inputs.data());
    kernels::fill_normal({1, 1, 0}, 0, kExamples, targets.data());
    for (std::size_t i = 0; i < kExamples; ++i) {
      targets[i] =
          0.7 * inputs[2 * i] - 0.3 * inputs[2 * i + 1] + targets[i] / 2;
    }
  }
  DataView<double> view() const {
    return {inputs.data(), targets.data(), nullptr, kExamples};
  }
};

ModelSpec linear() {
  posterior::GaussianOptions normal;
  normal.prior_scale = 0.8;
  ModelSpec spec;
  spec.network = {{kInputs, 1, 1}, {network::Dense{1, false}}};
  spec.weights = {normal};
  return spec;
}

TrainerOptions chain() {
  TrainerOptions options;
  options.method = "sghmc";
  options.batch_size = 40;
  options.hmc.warmup = 100;
  options.hmc.draws = 8000;
  options.hmc.kept = 4000;
  options.hmc.start_steps = 100;
  options.epochs = options.hmc.iterations();
  return options;
}

/// Of a weight, over the draws.
struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments(const std::vector<double>& draws, std::size_t size,
                std::size_t weight) {
  Moments result;
  const auto count = static_cast<double>(draws.size() / size);
  for (std::size_t at = weight; at < draws.size(); at += size) {
    result.mean += draws[at] / count;
  }
  for (std::size_t at = weight; at < draws.size(); at += size) {
    const double distance = draws[at] - result.mean;
    result.variance += distance * distance / count;
  }
  return result;
}

/// A linear network whose posterior is normal with known moments but for the
/// noise, of which 400 examples leave little doubt.
TEST(Sghmc, SamplesAPosteriorThatIsKnown) {
  const Plane data;
  const Model model(linear());
  const auto result = fit<double>(model, data.view(), chain());
  const auto size = static_cast<std::size_t>(
      Model(spec_of_draws(model.spec())).parameter_count());
  ASSERT_EQ(result.parameters.size(), 4000 * size);

  double a = 1 / 0.64, b = 0, c = 1 / 0.64, u = 0, v = 0;
  for (std::size_t i = 0; i < kExamples; ++i) {
    const double x = data.inputs[2 * i], y = data.inputs[2 * i + 1];
    a += 4 * x * x;
    b += 4 * x * y;
    c += 4 * y * y;
    u += 4 * x * data.targets[i];
    v += 4 * y * data.targets[i];
  }
  const double determinant = a * c - b * b;
  const Moments first = moments(result.parameters, size, 0);
  const Moments second = moments(result.parameters, size, 1);
  // Draws two passes apart, each of a unit of time, are correlated: 500 of them
  // are independent at least. Four standard errors, and a tenth of the variance
  // for its bias.
  const double deviation = std::sqrt(c / determinant);
  EXPECT_NEAR(first.mean, (c * u - b * v) / determinant,
              4 * deviation / std::sqrt(500.0));
  EXPECT_NEAR(first.variance * determinant / c, 1,
              4 * std::sqrt(2.0 / 500) + 0.1);
  EXPECT_NEAR(second.variance * determinant / a, 1,
              4 * std::sqrt(2.0 / 500) + 0.1);
  // The noise of the last draw: its log shape and log rate come last.
  const double* own = result.parameters.data() + result.parameters.size() - 2;
  EXPECT_NEAR(std::exp((own[1] - own[0]) / 2), 0.5, 0.1);
  EXPECT_FALSE(chain_statistics(result.state, chain().hmc).acceptance);
}

/// With all examples in a batch and hardly any friction, the gradients are
/// those of hmc.
TEST(PosteriorDensity, AnEstimateFromAllExamplesIsExact) {
  const Plane data;
  const Model model(linear());
  PosteriorDensity<double> density(model, kExamples);
  density.set_data(
      {data.inputs.data(), data.targets.data(), nullptr, nullptr, kExamples});
  const auto size = static_cast<std::size_t>(density.size());
  std::vector<double> x(size), exact(size), estimated(size);
  density.initialize(1, x.data());
  density.gradient(x.data(), exact.data());
  std::vector<double> own = density.initial_own(kExamples);
  // The first call finds the noise, the second uses it.
  density.estimate(x.data(), kExamples, 1, own, estimated.data());
  density.estimate(x.data(), kExamples, 1, own, estimated.data());
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NEAR(estimated[i], exact[i], 1e-9 * (1 + std::abs(exact[i])));
  }
}

/// Own parameters that are drawn, too, are in the gradient.
TEST(PosteriorDensity, AnEstimateWithDrawnNoiseIsExactFromAllExamples) {
  const Plane data;
  ModelSpec spec = linear();
  spec.likelihood.kind = likelihood::Kind::TwoNormals;
  const Model model(spec);
  PosteriorDensity<double> density(model, kExamples);
  density.set_data(
      {data.inputs.data(), data.targets.data(), nullptr, nullptr, kExamples});
  const auto size = static_cast<std::size_t>(density.size());
  std::vector<double> x(size), exact(size), estimated(size);
  density.initialize(1, x.data());
  x.back() = 0.3;
  const double energy = density.gradient(x.data(), exact.data()).total();
  std::vector<double> own = density.initial_own(kExamples);
  EXPECT_TRUE(own.empty());
  EXPECT_EQ(
      density.estimate(x.data(), kExamples, 1, own, estimated.data()).total(),
      energy);
  EXPECT_EQ(estimated, exact);
}

/// The gradient of a batch of one, scaled to all examples, would decide the
/// masses.
TEST(Sghmc, NoBatchIsShort) {
  const Model model(linear());
  for (const std::int64_t examples : {5, 100, 101, 401, 10001, 10090}) {
    for (const std::int64_t wanted : {1, 3, 100, 200}) {
      MethodSetup setup{model, examples, wanted, {}, {}, chain().hmc};
      const std::int64_t batch = Sghmc<double>(setup).batch_size();
      const std::int64_t last = examples % batch;
      EXPECT_LE(batch, wanted);
      EXPECT_GE(batch, std::min(wanted, examples) / 2);
      EXPECT_TRUE(last == 0 || 4 * last >= 3 * batch)
          << examples << ", " << wanted << ": " << batch;
    }
  }
}

TEST(Sghmc, RefusesWhatItCannotDo) {
  const Plane data;
  const Model model(linear());
  TrainerOptions options = chain();
  options.hmc.kept = options.hmc.draws + 1;
  expect_error<ArgumentError>([&] { fit<double>(model, data.view(), options); },
                              "sghmc: cannot keep 8001 of 8000 draws");
  options = chain();
  options.hmc.step_size = 1;
  expect_error<ArgumentError>([&] { fit<double>(model, data.view(), options); },
                              "step_size");
  std::vector<double> huge = data.inputs;
  for (double& value : huge) value *= 1e200;
  expect_error<NumericalError>(
      [&] {
        fit<double>(model,
                    {huge.data(), data.targets.data(), nullptr, kExamples},
                    chain());
      },
      "take a smaller step_size");
}

}  // namespace
}  // namespace radir::train
