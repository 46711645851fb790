#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/family.h"
#include "radir/posterior/options.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

/// y = x0 x1 with noise.
template <typename T>
struct Surface {
  std::vector<T> inputs = std::vector<T>(2 * 130);
  std::vector<T> targets = std::vector<T>(130);

  Surface() {
    kernels::fill_normal({1, 1, 0}, 0, 2 * 130, inputs.data());
    kernels::fill_normal({1, 2, 0}, 0, 130, targets.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = inputs[2 * i] * inputs[2 * i + 1] + targets[i] / 5;
    }
  }

  DataView<T> view() const {
    return {inputs.data(), targets.data(), nullptr, 130};
  }
};

Model small_model(const posterior::Options& weights = {}) {
  ModelSpec spec;
  spec.weights = {weights};
  spec.network = network::multilayer_perceptron(2, {8}, 1);
  return Model(spec);
}

/// Five steps an epoch, the last one shorter, with all that changes over time.
TrainerOptions options_with(KeptParameters kept, std::uint64_t seed) {
  TrainerOptions options;
  options.epochs = 12;
  options.batch_size = 25;
  options.optimizer.learning_rate = 0.02;
  options.learning_rate.kind = LearningRateSchedule::Kind::Cosine;
  options.kl = KlSchedule::warmup(0.5);
  options.kept_parameters = kept;
  options.selection_window = 7;
  options.validation_share = 0.15;
  options.validation_every = 2;
  options.seed = seed;
  return options;
}

/// Everything but the seconds.
template <typename T>
void expect_same(const TrainingResult<T>& a, const TrainingResult<T>& b) {
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.state.parameters, b.state.parameters);
  EXPECT_EQ(a.state.optimizer.slots, b.state.optimizer.slots);
  EXPECT_EQ(a.state.step, b.state.step);
  EXPECT_EQ(a.selected_epoch, b.selected_epoch);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    const EpochReport& x = a.history[i];
    const EpochReport& y = b.history[i];
    EXPECT_EQ(x.epoch, y.epoch);
    EXPECT_EQ(x.step, y.step);
    EXPECT_EQ(x.nll, y.nll);
    EXPECT_EQ(x.kl, y.kl);
    EXPECT_EQ(x.kl_weight, y.kl_weight);
    EXPECT_EQ(x.learning_rate, y.learning_rate);
    EXPECT_EQ(x.validation_nll, y.validation_nll);
    EXPECT_EQ(x.selected, y.selected);
  }
}

/// Fits with a stop after each of `lengths` steps, going on from a copy of what
/// the callback saw last, in a fit of its own.
template <typename T>
TrainingResult<T> fit_in_pieces(const Model& model, const DataView<T>& data,
                                const TrainerOptions& options,
                                const std::vector<int>& lengths) {
  std::optional<TrainerProgress<T>> reached;
  for (int length : lengths) {
    TrainerProgress<T> seen;
    int steps = 0;
    fit<T>(model, data, options, nullptr, nullptr,
           {reached, [&](const TrainerProgress<T>& progress) {
              seen = progress;
              return steps++ < length;
            }});
    reached = seen;
  }
  return fit<T>(model, data, options, nullptr, nullptr, {reached, nullptr});
}

template <typename T>
void expect_pieces_make_the_whole(const TrainerOptions& options,
                                  std::mt19937& random) {
  const Surface<T> data;
  const Model model = small_model();
  const auto whole = fit(model, data.view(), options);
  const int steps = static_cast<int>(whole.state.step);
  std::vector<int> lengths;
  for (int left = steps - 1; left > 0 && lengths.size() < 4;) {
    lengths.push_back(std::uniform_int_distribution<int>(0, left)(random));
    left -= lengths.back();
  }
  SCOPED_TRACE(::testing::PrintToString(lengths));
  expect_same(whole, fit_in_pieces(model, data.view(), options, lengths));
}

TEST(Resume, GivesTheBitsOfARunThatWasNeverStopped) {
  std::mt19937 random(1);
  for (std::uint64_t seed : {1, 2, 3}) {
    for (auto kept : {KeptParameters::Last, KeptParameters::LowestTrainingLoss,
                      KeptParameters::LowestValidationLoss}) {
      expect_pieces_make_the_whole<float>(options_with(kept, seed), random);
      expect_pieces_make_the_whole<double>(options_with(kept, seed), random);
    }
  }
}

TEST(Resume, GivesTheSameBitsForEveryFamily) {
  const Surface<float> data;
  TrainerOptions options = options_with(KeptParameters::Last, 5);
  options.epochs = 4;
  for (const posterior::Family* family : posterior::families()) {
    SCOPED_TRACE(family->name());
    const Model model = small_model(family->default_options());
    const auto whole = fit(model, data.view(), options);
    expect_same(whole, fit_in_pieces(model, data.view(), options, {7, 3}));
    ThreadPool pool(3);
    expect_same(whole, fit<float>(model, data.view(), options, nullptr, &pool));
  }
}

TEST(Resume, StopsAtEveryStepOfAnEpochAlike) {
  const Surface<float> data;
  const Model model = small_model();
  TrainerOptions options =
      options_with(KeptParameters::LowestValidationLoss, 4);
  options.epochs = 4;
  const auto whole = fit(model, data.view(), options);
  for (int length = 0; length < whole.state.step; ++length) {
    SCOPED_TRACE(length);
    expect_same(whole, fit_in_pieces(model, data.view(), options, {length}));
  }
}

TEST(Resume, CountsOnForEarlyStopping) {
  std::mt19937 random(2);
  TrainerOptions options =
      options_with(KeptParameters::LowestValidationLoss, 5);
  options.epochs = 400;
  options.validation_every = 1;
  options.patience = 4;
  options.optimizer.learning_rate = 0.1;
  const Surface<float> data;
  const auto whole = fit(small_model(), data.view(), options);
  ASSERT_LT(whole.history.size(), 400u) << "it should have stopped early";
  for (int i = 0; i < 5; ++i) {
    expect_pieces_make_the_whole<float>(options, random);
  }
}

TEST(Resume, OfAFinishedFitReturnsAtOnce) {
  const Surface<float> data;
  for (std::int64_t patience : {0, 2}) {
    TrainerOptions options =
        options_with(KeptParameters::LowestValidationLoss, 6);
    options.epochs = 60;
    options.patience = patience;
    options.optimizer.learning_rate = 0.1;
    const auto whole = fit(small_model(), data.view(), options);
    const auto again =
        fit<float>(small_model(), data.view(), options,
                   [](const EpochReport&, const TrainingState<float>&) {
                     ADD_FAILURE() << "there is no epoch left";
                     return true;
                   },
                   nullptr, {whole, [](const TrainerProgress<float>&) {
                               ADD_FAILURE() << "there is no step left";
                               return true;
                             }});
    expect_same(whole, again);
    EXPECT_EQ(whole.history.back().seconds, again.history.back().seconds);
  }
}

TEST(Resume, TheClockGoesOn) {
  const Surface<float> data;
  const TrainerOptions options = options_with(KeptParameters::Last, 7);
  TrainerProgress<float> reached;
  fit<float>(small_model(), data.view(), options, nullptr, nullptr,
             {std::nullopt, [&](const TrainerProgress<float>& progress) {
                reached = progress;
                return progress.state.step < 8;
              }});
  ASSERT_EQ(reached.history.size(), 1u);
  reached.history.back().seconds = 1000;
  const auto result = fit<float>(small_model(), data.view(), options, nullptr,
                                 nullptr, {reached, nullptr});
  EXPECT_GT(result.history[1].seconds, 1000);
  EXPECT_LT(result.history.back().seconds, 1100);
}

TEST(Resume, RefusesTheProgressOfAnotherTraining) {
  const Surface<float> data;
  const TrainerOptions options = options_with(KeptParameters::Last, 8);
  const auto whole = fit(small_model(), data.view(), options);
  const auto expect_refused = [&](const TrainerProgress<float>& progress,
                                  const TrainerOptions& with,
                                  const char* part) {
    expect_error<ArgumentError>(
        [&] {
          fit<float>(small_model(), data.view(), with, nullptr, nullptr,
                     {progress, nullptr});
        },
        part);
  };
  TrainerOptions other = options;
  other.seed = 9;
  expect_refused(whole, other, "made with the seed 8, but the seed is 9");
  other = options;
  other.epochs = 11;
  expect_refused(whole, other, "training of 11 epochs");
  other = options;
  other.batch_size = 20;
  expect_refused(whole, other, "of 6 steps");
  TrainerProgress<float> damaged = whole;
  damaged.state.optimizer.slots["first_moment"].pop_back();
  expect_refused(damaged, options, "parameters");
  damaged = whole;
  damaged.selected_epoch = 13;
  expect_refused(damaged, options, "13 selected");
  damaged = whole;
  ++damaged.state.step;  // beyond the last epoch
  expect_refused(damaged, options, "61 steps in 12 whole epochs");
}

}  // namespace
}  // namespace radir::train
