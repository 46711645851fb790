#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/train/compiled_step.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

constexpr std::int64_t kExamples = 20;
constexpr int kSteps = 5;

/// Adds up what two workers bring, always in the same order, so that both get
/// the same bits.
class TwoWorkers {
 public:
  GradientExchange<double> exchange(int worker) {
    return
        [this, worker](double* gradient, std::int64_t count, StepLoss& loss) {
          std::unique_lock<std::mutex> lock(mutex_);
          const int round = arrived_ / 2;
          parts_[round % 2][worker].assign(gradient, gradient + count);
          losses_[round % 2][worker] = loss;
          ++arrived_;
          both_.notify_all();
          both_.wait(lock, [&] { return arrived_ / 2 > round; });
          const auto& parts = parts_[round % 2];
          for (std::size_t i = 0; i < parts[0].size(); ++i) {
            gradient[i] = parts[0][i] + parts[1][i];
          }
          const auto& losses = losses_[round % 2];
          loss.nll = losses[0].nll + losses[1].nll;
          loss.kl = losses[0].kl + losses[1].kl;
        };
  }

 private:
  std::mutex mutex_;
  std::condition_variable both_;
  int arrived_ = 0;
  // Of the running round and the one before it.
  std::vector<double> parts_[2][2];
  StepLoss losses_[2][2];
};

class SharedBatch : public ::testing::Test {
 protected:
  SharedBatch() : model_(spec()), state_(initial_state<double>(model_, 3, 50)) {
    kernels::fill_normal({1, 0, 0}, 0, 2 * kExamples, inputs_.data());
    kernels::fill_normal({1, 1, 0}, 0, kExamples, targets_.data());
    settings_.data_count = 50;
    settings_.kl_weight = 0.7;
    settings_.samples = 2;
    settings_.optimizer.learning_rate = 0.05;
    settings_.max_gradient_norm = 1;
  }

  static ModelSpec spec() {
    ModelSpec result;
    result.network = network::multilayer_perceptron(2, {8}, 1);
    return result;
  }

  Batch<double> part(std::int64_t begin, std::int64_t count) const {
    return {inputs_.data() + 2 * begin, targets_.data() + begin, nullptr,
            nullptr, count};
  }

  /// Trains on a part of the batch; returns the last loss.
  StepLoss train(TrainingState<double>& state, const Batch<double>& batch,
                 const GradientExchange<double>& exchange) const {
    CompiledStep<double> step(model_, batch.count, nullptr, exchange);
    StepSettings settings = settings_;
    settings.shared_batch = kExamples;
    StepLoss loss;
    for (int i = 0; i < kSteps; ++i) loss = step.step(state, batch, settings);
    return loss;
  }

  Model model_;
  TrainingState<double> state_;
  StepSettings settings_;
  std::vector<double> inputs_ = std::vector<double>(2 * kExamples);
  std::vector<double> targets_ = std::vector<double>(kExamples);
};

TEST_F(SharedBatch, TwoWorkersTakeTheStepsOfOne) {
  for (std::int64_t cut : {kExamples / 2, kExamples / 4}) {
    SCOPED_TRACE(cut);
    TrainingState<double> single = state_, first = state_, second = state_;
    const StepLoss wanted = train(single, part(0, kExamples), nullptr);
    TwoWorkers workers;
    std::thread other([&] {
      train(second, part(cut, kExamples - cut), workers.exchange(1));
    });
    const StepLoss loss = train(first, part(0, cut), workers.exchange(0));
    other.join();
    EXPECT_EQ(first.parameters, second.parameters);
    EXPECT_EQ(first.optimizer.slots, second.optimizer.slots);
    EXPECT_NEAR(loss.nll, wanted.nll, 1e-11 * std::fabs(wanted.nll));
    EXPECT_NEAR(loss.kl, wanted.kl, 1e-11 * std::fabs(wanted.kl));
    for (std::size_t i = 0; i < single.parameters.size(); ++i) {
      EXPECT_NEAR(first.parameters[i], single.parameters[i],
                  1e-9 * std::max(1.0, std::fabs(single.parameters[i])))
          << i;
    }
  }
}

TEST_F(SharedBatch, AStepIsGradientAndUpdate) {
  TrainingState<double> taken = state_, parts = state_;
  CompiledStep<double> step(model_, kExamples);
  const Batch<double> batch = part(0, kExamples);
  for (int i = 0; i < kSteps; ++i) {
    const StepLoss loss = step.step(taken, batch, settings_);
    EXPECT_EQ(step.gradient(parts, batch, settings_).nll, loss.nll);
    step.update(parts, settings_);
  }
  EXPECT_EQ(taken.parameters, parts.parameters);
  EXPECT_EQ(taken.step, parts.step);
  parts.parameters.pop_back();
  expect_error<ArgumentError>([&] { step.update(parts, settings_); },
                              "compiled step: the state has");
}

TEST_F(SharedBatch, OneThatIsSmallerThanItsPartIsRefused) {
  CompiledStep<double> step(model_, kExamples);
  settings_.shared_batch = kExamples - 1;
  expect_error<ArgumentError>(
      [&] { step.step(state_, part(0, kExamples), settings_); },
      "the shared batch has 19 examples, but this worker alone 20");
}

}  // namespace
}  // namespace radir::train
