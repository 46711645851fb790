#include "radir/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/train/evaluation.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

/// y = sin(2 x0) + x1^2 / 2 + noise of standard deviation 0.1.
struct Curve {
  std::vector<float> inputs;
  std::vector<float> targets;

  explicit Curve(std::int64_t count, std::uint64_t seed) {
    inputs.resize(static_cast<std::size_t>(2 * count));
    targets.resize(static_cast<std::size_t>(count));
    kernels::fill_normal({seed, 1, 0}, 0, 2 * count, inputs.data());
    kernels::fill_normal({seed, 2, 0}, 0, count, targets.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const float a = inputs[2 * i], b = inputs[2 * i + 1];
      targets[i] = std::sin(2 * a) + b * b / 2 + 0.1f * targets[i];
    }
  }

  DataView<float> view() const {
    DataView<float> data;
    data.inputs = inputs.data();
    data.targets = targets.data();
    data.count = static_cast<std::int64_t>(targets.size());
    return data;
  }
};

Model regression_model() {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(2, {20}, 1);
  return Model(spec);
}

TrainerOptions quick_options() {
  TrainerOptions options;
  options.epochs = 150;
  options.batch_size = 50;
  options.optimizer.learning_rate = 0.01;
  options.seed = 4;
  return options;
}

double variance(const std::vector<float>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (float x : values) sum += (x - mean) * (x - mean);
  return sum / n;
}

TEST(Trainer, LearnsACurveFarBetterThanItsSpread) {
  const Curve training(500, 1), test(500, 2);
  const Model model = regression_model();
  const auto result = fit(model, training.view(), quick_options());
  ASSERT_EQ(result.history.size(), 150u);
  EXPECT_LT(result.history.back().nll, result.history.front().nll - 0.5);
  const double nll =
      predictive_nll(model, result.parameters, test.view(), 50, 1);
  // A normal of the targets' own spread is what one has without a network.
  const double baseline =
      0.5 * (std::log(2 * 3.14159265 * variance(test.targets)) + 1);
  EXPECT_LT(nll, baseline - 0.8);
}

TEST(Trainer, TheSeedDecidesEveryBitAndThreadsNone) {
  const Curve data(200, 3);
  const Model model = regression_model();
  TrainerOptions options = quick_options();
  options.epochs = 5;
  const auto first = fit(model, data.view(), options);
  ThreadPool pool(2);
  const auto threaded = fit<float>(model, data.view(), options, nullptr, &pool);
  EXPECT_EQ(first.parameters, threaded.parameters);
  options.seed = 5;
  EXPECT_NE(fit(model, data.view(), options).parameters, first.parameters);
}

TEST(Trainer, KeepsTheEpochWithTheBestValidation) {
  const Curve data(300, 6);
  const Model model = regression_model();
  TrainerOptions options = quick_options();
  options.validation_share = 0.2;
  options.kept_parameters = KeptParameters::LowestValidationLoss;
  options.patience = 10;
  std::vector<std::vector<float>> states;
  const auto result =
      fit<float>(model, data.view(), options,
                 [&](const EpochReport& report, const TrainingState<float>& s) {
                   EXPECT_TRUE(report.validation_nll.has_value());
                   states.push_back(s.parameters);
                   return true;
                 });
  const auto best =
      std::min_element(result.history.begin(), result.history.end(),
                       [](const EpochReport& a, const EpochReport& b) {
                         return *a.validation_nll < *b.validation_nll;
                       });
  EXPECT_EQ(result.selected_epoch, best->epoch);
  EXPECT_EQ(result.parameters,
            states[static_cast<std::size_t>(best->epoch - 1)]);
  if (result.history.size() < 150) {
    EXPECT_EQ(result.history.back().epoch, best->epoch + 10);
  }
}

TEST(Trainer, LowestTrainingLossLooksAtTheLastEpochsAlone) {
  const Curve data(100, 7);
  TrainerOptions options = quick_options();
  options.epochs = 20;
  options.kept_parameters = KeptParameters::LowestTrainingLoss;
  options.selection_window = 5;
  const auto result = fit(regression_model(), data.view(), options);
  const auto best = std::min_element(
      result.history.end() - 5, result.history.end(),
      [](const EpochReport& a, const EpochReport& b) { return a.nll < b.nll; });
  EXPECT_EQ(result.selected_epoch, best->epoch);
}

TEST(Trainer, ALongHistoryIsThinned) {
  const Curve data(20, 8);
  TrainerOptions options = quick_options();
  options.epochs = 5 * kMostReports;
  options.kept_parameters = KeptParameters::LowestValidationLoss;
  options.validation_share = 0.2;
  std::int64_t epochs = 0;
  const auto result =
      fit<float>(regression_model(), data.view(), options,
                 [&](const EpochReport&, const TrainingState<float>&) {
                   ++epochs;
                   return true;
                 });
  EXPECT_EQ(epochs, options.epochs);
  EXPECT_LE(static_cast<std::int64_t>(result.history.size()), kMostReports);
  EXPECT_EQ(result.history.back().epoch, options.epochs);
  std::int64_t multiples = 0;
  bool has_selected = false;
  for (const EpochReport& report : result.history) {
    multiples += report.epoch % (options.epochs / kHistoryPoints) == 0;
    has_selected |= report.epoch == result.selected_epoch;
  }
  EXPECT_EQ(multiples, kHistoryPoints);
  EXPECT_TRUE(has_selected);
  // It can be resumed.
  const auto again = fit<float>(regression_model(), data.view(), options,
                                nullptr, nullptr, {result, nullptr});
  EXPECT_EQ(again.parameters, result.parameters);
}

TEST(Trainer, TheCallbackCanStopIt) {
  const Curve data(100, 8);
  const auto result =
      fit<float>(regression_model(), data.view(), quick_options(),
                 [](const EpochReport& report, const TrainingState<float>&) {
                   return report.epoch < 3;
                 });
  EXPECT_EQ(result.history.size(), 3u);
}

TEST(Trainer, ShuffledIsAPermutationOfItsSeedAndEpoch) {
  auto order = shuffled(1000, 1, 2);
  EXPECT_EQ(order, shuffled(1000, 1, 2));
  EXPECT_NE(order, shuffled(1000, 1, 3));
  EXPECT_NE(order, shuffled(1000, 2, 2));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Trainer, BadDataIsNamed) {
  Curve data(20, 9);
  data.inputs[7] = std::numeric_limits<float>::quiet_NaN();
  testing::expect_error<DomainError>(
      [&] { fit(regression_model(), data.view(), quick_options()); },
      "input 1 of example 3 is nan");
  data = Curve(20, 9);
  data.targets[5] = std::numeric_limits<float>::infinity();
  testing::expect_error<DomainError>(
      [&] { fit(regression_model(), data.view(), quick_options()); },
      "target 0 of example 5 is inf");
  DataView<float> empty = data.view();
  empty.count = 0;
  testing::expect_error<ArgumentError>(
      [&] { fit(regression_model(), empty, quick_options()); }, "no examples");
}

TEST(Trainer, BadOptionsAreNamed) {
  const Curve data(20, 9);
  TrainerOptions options = quick_options();
  options.epochs = 0;
  testing::expect_error<ArgumentError>(
      [&] { fit(regression_model(), data.view(), options); }, "epochs");
  options = quick_options();
  options.patience = 3;
  testing::expect_error<ArgumentError>(
      [&] { fit(regression_model(), data.view(), options); },
      "validation_share");
}

}  // namespace
}  // namespace radir::train
