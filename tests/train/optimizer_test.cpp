#include "radir/train/optimizer.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::expect_error;

TEST(Optimizer, AdamBeginsWithZeroMoments) {
  const auto state = fresh_state<double>({}, 3);
  ASSERT_EQ(state.slots.size(), 2u);
  for (const char* name : {"first_moment", "second_moment"}) {
    EXPECT_EQ(state.slots.at(name), std::vector<double>(3, 0)) << name;
  }
}

TEST(Optimizer, APassInRangesIsAdam) {
  Optimizer optimizer;
  optimizer.learning_rate = 0.1;
  optimizer.beta1 = 0.8;
  optimizer.weight_decay = 0.01;
  kernels::AdamOptions options;
  options.learning_rate = 0.1;
  options.beta1 = 0.8;
  options.weight_decay = 0.01;

  const std::vector<double> gradient = {0.3, -2, 1e-3, 0, 5};
  std::vector<double> parameters = {1, 2, 3, 4, 5}, wanted = parameters;
  auto state = fresh_state<double>(optimizer, 5);
  std::vector<double> first(5), second(5);
  for (std::int64_t step : {1, 2, 3}) {
    const OptimizerPass<double> pass(
        optimizer, step, state, {5, parameters.data(), gradient.data()}, 0.5);
    pass(2, 3);
    pass(0, 2);
    kernels::AdamBuffers<double> buffers;
    buffers.parameter = wanted.data();
    buffers.gradient = gradient.data();
    buffers.first_moment = first.data();
    buffers.second_moment = second.data();
    kernels::adam_step(options, step, 5, buffers, 0.5);
  }
  EXPECT_EQ(parameters, wanted);
  EXPECT_EQ(state.slots.at("first_moment"), first);
  EXPECT_EQ(state.slots.at("second_moment"), second);
}

TEST(Optimizer, TheStateOfAnotherIsRefused) {
  const std::vector<float> gradient(3);
  std::vector<float> parameters(3);
  const auto pass_with = [&](OptimizerState<float> state) {
    OptimizerPass<float>({}, 1, state, {3, parameters.data(), gradient.data()});
  };
  EXPECT_NO_THROW(pass_with(fresh_state<float>({}, 3)));
  expect_error<ArgumentError>([&] { pass_with({}); },
                              "no \"first_moment\" of 3 parameters");
  auto state = fresh_state<float>({}, 3);
  state.slots["second_moment"].pop_back();
  EXPECT_FALSE(have_same_slots(state, fresh_state<float>({}, 3)));
  expect_error<ArgumentError>([&] { pass_with(state); }, "second_moment");
}

TEST(Optimizer, ItsSettingsAreChecked) {
  EXPECT_NO_THROW(check_settings("training", Optimizer()));
  const auto expect_refused = [](double Optimizer::*field, double value,
                                 const char* part) {
    Optimizer optimizer;
    optimizer.*field = value;
    expect_error<ArgumentError>([&] { check_settings("training", optimizer); },
                                part);
  };
  expect_refused(&Optimizer::learning_rate, -1, "learning_rate");
  expect_refused(&Optimizer::beta1, 1, "beta1");
  expect_refused(&Optimizer::beta2, -0.1, "beta2");
  expect_refused(&Optimizer::epsilon, 0, "epsilon");
  expect_refused(&Optimizer::weight_decay, -1, "weight_decay");
}

}  // namespace
}  // namespace radir::train
