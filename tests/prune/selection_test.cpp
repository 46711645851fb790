#include "radir/prune/selection.h"

#include <gtest/gtest.h>

#include <limits>

#include "radir/core/error.h"
#include "radir/network/spec.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"
#include "radir/posterior/radial_directional.h"
#include "radir/train/compiled_step.h"
#include "radir/train/step.h"
#include "support/expect_error.h"

namespace radir::prune {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::MaxPool2d;
using network::Relu;
using network::Select;
using Indices = std::vector<std::int64_t>;

const double kAll = -std::numeric_limits<double>::infinity();

TEST(Select, KeepsScoresAboveTheThreshold) {
  const network::Wiring wiring({{3}, {Dense{4}, Relu{}, Dense{2}}});
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
  // Layers without scores stay complete.
  selection = select(wiring, {{}, scores[1]}, {100, 100});
  EXPECT_EQ(architecture(wiring, selection), "3-2");
}

TEST(Select, NamesFiltersAndFeatures) {
  const network::Wiring wiring(network::lenet5());
  EXPECT_EQ(architecture(wiring, all_units(wiring)), "20-50-800-500");
  Selection selection = all_units(wiring);
  selection.inputs[1] = {3, 4, 7};
  selection.inputs[2] = {0, 1, 2, 16, 790};
  EXPECT_EQ(architecture(wiring, selection), "3-3-5-500");
  EXPECT_EQ(kept_outputs(wiring, selection, 1), (Indices{0, 1, 49}));
}

TEST(Select, RefusesScoresOfAnotherNetwork) {
  const network::Wiring wiring(network::lenet5());
  testing::expect_error<ArgumentError>(
      [&] {
        select(wiring, Scores(3), {0, 0, 0, 0});
      },
      "the network has 4 layers with weights, but there are scores for 3");
}

TEST(SelectBest, KeepsTheHighestScoresOfTheBestFilters) {
  const network::Wiring wiring({{1, 6, 6},
                                {Conv2d{3, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}},
                                 Flatten{}, Dense{4}, Relu{}, Dense{2}}});
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
  const network::Wiring wiring(network::lenet5());
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
  posterior::RadialDirectionalOptions rows;
  rows.grouping = posterior::Grouping::Row;
  spec.weights = {rows, posterior::Options(), posterior::Options()};
  spec.likelihood.kind = likelihood::Kind::Categorical;
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

TEST(UnitScores, TakeTheLowerOfTwoGates) {
  train::ModelSpec spec;
  spec.network = {{1, 6, 6},
                  {Conv2d{3, {3, 3}}, MaxPool2d{{2, 2}, {2, 2}}, Flatten{},
                   Dense{5}, Relu{}, Dense{2}}};
  posterior::HardConcreteOptions rows, columns;
  rows.weights.grouping = posterior::Grouping::Row;
  spec.weights = {rows, columns, columns};
  spec.likelihood.kind = likelihood::Kind::Categorical;
  const train::Model model(spec);
  auto parameters = train::initial_state<double>(model, 1, 10).parameters;
  for (const auto& info : model.parameters()) {
    const auto at = static_cast<std::size_t>(info.offset);
    if (info.name == "layer1.weight.gate_log_alpha") parameters[at + 1] = -4;
    if (info.name == "layer4.weight.gate_log_alpha") parameters[at + 9] = -3;
    if (info.name == "layer6.weight.gate_log_alpha") parameters[at + 2] = -5;
  }
  const double log11 = 2.3978952727983707;
  const Scores scores = unit_scores(model, parameters);
  ASSERT_EQ(scores[1].size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    const double wanted = i / 4 == 1 ? -4 : i == 9 ? -3 : 0;
    EXPECT_NEAR(scores[1][i], wanted + log11, 1e-12) << i;
  }
  EXPECT_NEAR(scores[2][2], -5 + log11, 1e-12);
  EXPECT_NEAR(scores[2][3], log11, 1e-12);
}

}  // namespace
}  // namespace radir::prune
