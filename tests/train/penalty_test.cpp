#include "radir/train/penalty.h"

#include <gtest/gtest.h>

#include "radir/kernels/philox.h"
#include "radir/network/spec.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/step.h"

namespace radir::train {
namespace {

/// 3 a + 5 b of two parameters.
class Linear final : public Penalty {
 public:
  const std::vector<std::int64_t>& parameters() const override {
    return places_;
  }
  double evaluate(const std::vector<double>& values,
                  const kernels::RandomStream&,
                  std::vector<double>& gradient) const override {
    gradient = {3, 5};
    return 3 * values[0] + 5 * values[1];
  }

 private:
  std::vector<std::int64_t> places_ = {2, 7};
};

TEST(Penalty, IsAPartOfTheDivergence) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(3, {5}, 1);
  const Model model(spec);
  const std::vector<double> inputs = {1, 2, 3, -1, 0, 1}, targets = {0.5, -1};
  Batch<double> batch;
  batch.inputs = inputs.data();
  batch.targets = targets.data();
  batch.count = 2;
  StepSettings settings;
  settings.data_count = 10;
  settings.kl_weight = 0.5;
  const auto state = initial_state<double>(model, 2, 10);
  CompiledStep<double> step(model, 2);
  const StepLoss without = step.gradient(state, batch, settings);
  std::vector<double> wanted = step.last_gradient();
  const Linear penalty;
  settings.penalty = &penalty;
  const StepLoss with = step.gradient(state, batch, settings);
  wanted[2] += 3 * 0.05;
  wanted[7] += 5 * 0.05;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(step.last_gradient()[i], wanted[i], 1e-12) << i;
  }
  EXPECT_EQ(with.nll, without.nll);
  EXPECT_NEAR(
      with.kl,
      without.kl + (3 * state.parameters[2] + 5 * state.parameters[7]) / 10,
      1e-12);
}

}  // namespace
}  // namespace radir::train
