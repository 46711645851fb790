#include "radir/prune/selection.h"

#include <gtest/gtest.h>

#include <limits>

#include "radir/core/error.h"
#include "radir/train/compiled_step.h"
#include "support/expect_error.h"

namespace radir::prune {
namespace {

using kernels::Conv2d;
using kernels::Dense;
using kernels::Flatten;
using kernels::MaxPool2d;
using kernels::Relu;
using kernels::Select;
using Indices = std::vector<std::int64_t>;

const double kAll = -std::numeric_limits<double>::infinity();

TEST(Wiring, FollowsImagesIntoVectors) {
  const Wiring wiring(train::lenet5());
  ASSERT_EQ(wiring.size(), 4u);
  EXPECT_EQ(wiring.index(2), 5u);
  EXPECT_FALSE(wiring.removable(0));
  EXPECT_TRUE(wiring.removable(1));
  EXPECT_EQ(wiring.inputs(1), 20);
  EXPECT_EQ(wiring.inputs(2), 800);
  EXPECT_EQ(wiring.features_per_maker(2), 16);
  EXPECT_EQ(wiring.makers(2)[35], 2);
  EXPECT_FALSE(wiring.after_relu(2));
  EXPECT_TRUE(wiring.after_relu(3));
  EXPECT_EQ(wiring.outputs(3), 10);
}

TEST(Wiring, FollowsSelections) {
  const Wiring wiring({{3, 2, 2},
                       {Conv2d{2, {1, 1}}, Flatten{}, Select{{1, 5, 6, 7}},
                        Relu{}, Select{{0, 3}}, Dense{4}}});
  EXPECT_EQ(wiring.features(1), (Indices{1, 7}));
  EXPECT_EQ(wiring.makers(1), (Indices{0, 1}));
  EXPECT_TRUE(wiring.after_relu(1));
}

TEST(Wiring, KnowsWhatCannotBeRemoved) {
  Conv2d grouped{4, {3, 3}};
  grouped.groups = 2;
  Conv2d padded{4, {3, 3}};
  padded.padding = {1, 0};
  const Wiring wiring(
      {{2, 9, 9}, {Conv2d{4, {2, 2}}, grouped, padded, Flatten{}, Dense{3}}});
  EXPECT_FALSE(wiring.removable(0));
  EXPECT_FALSE(wiring.removable(1));  // read by a grouped convolution
  EXPECT_FALSE(wiring.removable(2));  // made by one
  EXPECT_TRUE(wiring.removable(3));
  EXPECT_TRUE(wiring.folds_constants(1));
  EXPECT_FALSE(wiring.folds_constants(2));
}

TEST(Select, KeepsScoresAboveTheThreshold) {
  const Wiring wiring({{3}, {Dense{4}, Relu{}, Dense{2}}});
  const Scores scores{{1, -4, 2}, {0, -1, -2, -3}};
  Selection selection = select(wiring, scores, {0, -1});
  EXPECT_EQ(selection.inputs[0], (Indices{0, 2}));
  EXPECT_EQ(selection.inputs[1], (Indices{0, 1}));
  EXPECT_EQ(kept_outputs(wiring, selection, 0), (Indices{0, 1}));
  EXPECT_EQ(kept_outputs(wiring, selection, 1), (Indices{0, 1}));
  EXPECT_EQ(architecture(wiring, selection), "2-2");
  // Never fewer than two.
  selection = select(wiring, scores, {100, kAll});
  EXPECT_EQ(selection.inputs[0], (Indices{0, 2}));
  EXPECT_EQ(selection.inputs[1].size(), 4u);
  // Layers without scores stay whole.
  selection = select(wiring, {{}, scores[1]}, {100, 100});
  EXPECT_EQ(architecture(wiring, selection), "3-2");
}

TEST(Select, NamesFiltersAndFeatures) {
  const Wiring wiring(train::lenet5());
  EXPECT_EQ(architecture(wiring, whole(wiring)), "20-50-800-500");
  Selection selection = whole(wiring);
  selection.inputs[1] = {3, 4, 7};
  selection.inputs[2] = {0, 1, 2, 16, 790};
  EXPECT_EQ(architecture(wiring, selection), "3-3-5-500");
  EXPECT_EQ(kept_outputs(wiring, selection, 1), (Indices{0, 1, 49}));
}

TEST(Select, RefusesScoresOfAnotherNetwork) {
  const Wiring wiring(train::lenet5());
  testing::expect_error<ArgumentError>(
      [&] {
        select(wiring, Scores(3), {0, 0, 0, 0});
      },
      "the network has 4 layers with weights, but there are scores for 3");
}

TEST(SelectBest, KeepsTheHighestScoresOfTheBestFilters) {
  const Wiring wiring({{1, 6, 6},
                       {Conv2d{3, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Flatten{},
                        Dense{4}, Relu{}, Dense{2}}});
  // Filter 0 has the best feature, then filter 2.
  const Scores scores{
      {}, {9, 1, 1, 1, 6, 6, 6, 6, 8, 5, 4, 3}, {0, -1, -2, -1}};
  const Selection selection = select_best(wiring, scores, {2, 4, 3});
  EXPECT_EQ(selection.inputs[1], (Indices{0, 8, 9, 10}));
  EXPECT_EQ(selection.inputs[2], (Indices{0, 1, 3}));
  EXPECT_EQ(architecture(wiring, selection), "2-4-3");
  // What is not there cannot be kept.
  EXPECT_EQ(architecture(wiring, select_best(wiring, scores, {9, 99, 99})),
            "3-12-4");
  EXPECT_EQ(architecture(wiring, select_best(wiring, Scores(3), {2, 2, 2})),
            "3-12-4");
}

TEST(SelectBest, RefusesNumbersThatDoNotFit) {
  const Wiring wiring(train::lenet5());
  const auto with = [&](const Indices& units) {
    return [&wiring, units] { select_best(wiring, Scores(4), units); };
  };
  testing::expect_error<ArgumentError>(
      with({4, 7, 59}),
      "there are 3 numbers of units to keep, but the network "
      "is 20-50-800-500");
  testing::expect_error<ArgumentError>(with({4, 7, 59, 28, 10}),
                                       "there are 5 numbers");
  testing::expect_error<ArgumentError>(
      with({4, 1, 59, 28}),
      "at least 2 units of a layer must be kept, but "
      "number 2 is 1");
}

TEST(UnitScores, AddRowsAndColumns) {
  train::ModelSpec spec;
  spec.network = {{1, 6, 6},
                  {Conv2d{3, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Flatten{},
                   Dense{5}, Relu{}, Dense{2}}};
  spec.weights.assign(3, posterior::Options());
  spec.weights[0].grouping = posterior::Grouping::Row;
  spec.likelihood.kind = train::Likelihood::Kind::Categorical;
  const train::Model model(spec);
  auto parameters = train::initial_state<double>(model, 1, 10).parameters;
  const auto value = [&](const std::string& name, std::int64_t i) -> double& {
    for (const auto& info : model.parameters()) {
      if (info.name == name) {
        return parameters[static_cast<std::size_t>(info.offset + i)];
      }
    }
    throw ArgumentError("no parameter " + name);
  };
  const Scores before = unit_scores(model, parameters);
  EXPECT_TRUE(before[0].empty());
  ASSERT_EQ(before[1].size(), 12u);
  ASSERT_EQ(before[2].size(), 5u);
  // A location raised by 1 raises the log radius by a half.
  value("layer1.weight.row_local_loc_a", 1) += 1;
  value("layer4.weight.column_local_loc_b", 6) += 2;
  value("layer4.weight.row_local_loc_b", 0) -= 4;
  const Scores after = unit_scores(model, parameters);
  for (std::size_t i = 0; i < 12; ++i) {
    const double rise = (i / 4 == 1 ? 0.5 : 0) + (i == 6 ? 1 : 0);
    EXPECT_NEAR(after[1][i] - before[1][i], rise, 1e-12) << i;
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(after[2][i] - before[2][i], i == 0 ? -2 : 0, 1e-12) << i;
  }
  testing::expect_error<ArgumentError>(
      [&] { unit_scores(model, std::vector<double>(3)); }, "but got 3");
}

}  // namespace
}  // namespace radir::prune
