#include "radir/train/method.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "radir/core/error.h"
#include "radir/network/spec.h"
#include "radir/train/trainer.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

/// Sets every parameter to the number of steps.
template <typename T>
class Counting final : public Method<T> {
 public:
  explicit Counting(const MethodSetup& setup)
      : parameters_(static_cast<std::size_t>(setup.model.parameter_count())),
        batch_size_(setup.batch_size) {}

  std::int64_t batch_size() const override { return batch_size_; }

  TrainingState<T> initial_state(std::uint64_t seed) const override {
    TrainingState<T> state;
    state.parameters.assign(parameters_, T(0));
    state.seed = seed;
    return state;
  }

  StepLoss step(TrainingState<T>& state, const Batch<T>&,
                const StepSettings&) override {
    ++state.step;
    std::fill(state.parameters.begin(), state.parameters.end(),
              static_cast<T>(state.step));
    return {};
  }

 private:
  std::size_t parameters_;
  std::int64_t batch_size_;
};

TEST(Methods, AreFoundByName) {
  EXPECT_EQ(find_method("elbo").name, "elbo");
  const auto all = methods();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0], &find_method("elbo"));
  EXPECT_EQ(all[1], &find_method("coordinate-ascent"));
  expect_error<ArgumentError>(
      [] { find_method("elbow"); },
      "no method \"elbow\"; there are elbo, coordinate-ascent");
}

TEST(Methods, OnesThatAreRegisteredDriveTheTrainer) {
  register_method(method_info<Counting>("counting", "For tests"));
  expect_error<ArgumentError>(
      [] { register_method(method_info<Counting>("counting", "Twice")); },
      "there is a method \"counting\" already");
  expect_error<ArgumentError>([] { register_method({}); }, "no name");

  ModelSpec spec;
  spec.network = network::multilayer_perceptron(1, {}, 1);
  const Model model(spec);
  const std::vector<double> numbers(10, 1.0);
  TrainerOptions options;
  options.method = "counting";
  options.epochs = 3;
  options.batch_size = 4;
  const auto result = fit<double>(
      model, {numbers.data(), numbers.data(), nullptr, 10}, options);
  EXPECT_EQ(result.state.step, 9);
  EXPECT_EQ(result.parameters,
            std::vector<double>(result.parameters.size(), 9));
}

}  // namespace
}  // namespace radir::train
