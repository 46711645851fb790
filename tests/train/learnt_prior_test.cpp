#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/model.h"
#include "radir/train/step.h"
#include "radir/train/trainer.h"

namespace radir::train {
namespace {

using posterior::DirectionPrior;
using posterior::Grouping;

constexpr std::int64_t kRows = 60;

TrainingResult<float> train(const Model& model) {
  std::vector<float> inputs(4 * kRows), targets(kRows);
  kernels::fill_normal({3, 0, 0}, 0, 4 * kRows, inputs.data());
  for (std::size_t i = 0; i < kRows; ++i) targets[i] = inputs[4 * i];
  DataView<float> data;
  data.inputs = inputs.data();
  data.targets = targets.data();
  data.count = kRows;
  TrainerOptions options;
  options.batch_size = 30;
  options.epochs = 100;
  options.optimizer.learning_rate = 0.01;
  return fit<float>(model, data, options);
}

void expect_finite_training(const posterior::RadialDirectionalOptions& prior) {
  ModelSpec spec;
  spec.network = network::multilayer_perceptron(4, {6}, 1);
  spec.weights = {prior};
  const Model model(spec);
  const TrainingResult<float> result = train(model);
  EXPECT_EQ(result.state.step, 200);
  const auto start = initial_state<float>(model, 0, kRows);
  for (const ParameterInfo& info : model.parameters()) {
    for (std::int64_t i = 0; i < info.size(); ++i) {
      const auto at = static_cast<std::size_t>(info.offset + i);
      EXPECT_TRUE(std::isfinite(result.parameters[at])) << info.name;
      if (info.name.find("_prior_log_") == std::string::npos) continue;
      EXPECT_EQ(result.parameters[at] != start.parameters[at], info.trainable)
          << info.name;
      // Ten times as concentrated, or as large, would be on its way to
      // infinity.
      EXPECT_LT(result.parameters[at] - start.parameters[at], std::log(10.0))
          << info.name;
    }
  }
}

TEST(LearntPrior, TrainingStaysFinite) {
  for (Grouping grouping :
       {Grouping::Row, Grouping::Column, Grouping::Double}) {
    for (DirectionPrior directions :
         {DirectionPrior::MeanDirection, DirectionPrior::Uniform}) {
      for (bool per_group : {false, true}) {
        for (bool global : {false, true}) {
          posterior::RadialDirectionalOptions options;
          options.grouping = grouping;
          options.direction_prior = directions;
          options.concentration_per_group = per_group;
          if (!global) options.global_scale.reset();
          options.learn_prior = true;
          SCOPED_TRACE(std::string(to_string(grouping)) + ", " +
                       to_string(directions));
          expect_finite_training(options);
        }
      }
    }
  }
}

}  // namespace
}  // namespace radir::train
