#include <gtest/gtest.h>

#include <optional>

#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/train/method.h"
#include "radir/train/trainer.h"

// What every method must do, run over all of the library's, on a linear model,
// which all of them can train.

namespace radir::train {
namespace {

constexpr std::int64_t kRows = 60;

struct Plane {
  std::vector<float> inputs = std::vector<float>(2 * kRows);
  std::vector<float> targets = std::vector<float>(kRows);

  Plane() {
    kernels::fill_normal({1, 1, 0}, 0, 2 * kRows, inputs.data());
    kernels::fill_normal({1, 2, 0}, 0, kRows, targets.data());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = inputs[2 * i] - inputs[2 * i + 1] / 2 + targets[i] / 5;
    }
  }
  DataView<float> view() const {
    return {inputs.data(), targets.data(), nullptr, kRows};
  }
};

class MethodContract : public ::testing::TestWithParam<const char*> {
 protected:
  static Model model() {
    ModelSpec spec;
    spec.network = network::multilayer_perceptron(2, {}, 1);
    spec.weights = {posterior::GaussianOptions{}};
    return Model(spec);
  }

  static TrainerOptions options() {
    TrainerOptions options;
    options.method = GetParam();
    options.epochs = 12;
    options.batch_size = 20;
    options.hmc.warmup = 10;
    options.hmc.draws = 2;
    options.hmc.kept = 2;
    options.hmc.leapfrog_steps = 5;
    options.hmc.start_steps = 20;
    options.seed = 3;
    return options;
  }

  static void expect_same(const TrainingResult<float>& a,
                          const TrainingResult<float>& b) {
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.state.parameters, b.state.parameters);
    EXPECT_EQ(a.state.optimizer.slots, b.state.optimizer.slots);
    EXPECT_EQ(a.state.step, b.state.step);
  }
};

INSTANTIATE_TEST_SUITE_P(All, MethodContract,
                         ::testing::Values("elbo", "coordinate-ascent", "hmc",
                                           "pbp", "sghmc"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

TEST(MethodContracts, CoverEveryMethodOfTheLibrary) {
  std::vector<std::string> names;
  for (const MethodInfo* method : methods()) {
    EXPECT_NE(method->description, "");
    names.push_back(method->name);
  }
  ASSERT_GE(names.size(), 5u);
  names.resize(5);  // other tests may have registered more
  EXPECT_EQ(names, (std::vector<std::string>{"elbo", "coordinate-ascent", "hmc",
                                             "pbp", "sghmc"}));
}

TEST_P(MethodContract, TheSameSeedGivesTheSameBits) {
  const Plane data;
  const auto first = fit<float>(model(), data.view(), options());
  expect_same(first, fit<float>(model(), data.view(), options()));
  ThreadPool pool(3);
  expect_same(first,
              fit<float>(model(), data.view(), options(), nullptr, &pool));
  const Model same = model();
  const auto method =
      find_method(GetParam())
          .make<float>({same, kRows, 20, {}, {}, options().hmc});
  EXPECT_NE(method->initial_state(3).parameters,
            method->initial_state(4).parameters);
}

TEST_P(MethodContract, ResumesFromAnyStep) {
  const Plane data;
  const auto whole = fit<float>(model(), data.view(), options());
  for (int length = 0; length < whole.state.step; length += 3) {
    SCOPED_TRACE(length);
    TrainerProgress<float> seen;
    int steps = 0;
    fit<float>(model(), data.view(), options(), nullptr, nullptr,
               {std::nullopt, [&](const TrainerProgress<float>& progress) {
                  seen = progress;
                  return steps++ < length;
                }});
    expect_same(whole, fit<float>(model(), data.view(), options(), nullptr,
                                  nullptr, {seen, nullptr}));
  }
}

TEST_P(MethodContract, FindsThePlane) {
  const Plane data;
  TrainerOptions longer = options();
  const bool samples = longer.method == "hmc" || longer.method == "sghmc";
  longer.epochs = samples ? longer.epochs : 200;
  longer.optimizer.learning_rate = 0.02;
  const auto result = fit<float>(model(), data.view(), longer);
  if (samples) return;  // its own tests
  const Model fitted = model();
  const float* const weights =
      result.parameters.data() + fitted.parameters()[0].offset;
  EXPECT_NEAR(weights[0], 1, 0.15);
  EXPECT_NEAR(weights[1], -0.5, 0.15);
}

}  // namespace
}  // namespace radir::train
