#include "radir/prune/curve.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::prune {
namespace {

using network::Dense;
using network::Relu;

TEST(SizeCurve, GoesFromTheWholeNetworkDown) {
  const network::NetworkSpec network{
      {10}, {Dense{20}, Relu{}, Dense{30}, Relu{}, Dense{2}}};
  Scores scores(3);
  for (int i = 0; i < 10; ++i) scores[0].push_back(-i);
  for (int i = 0; i < 20; ++i) scores[1].push_back(i * 7 % 20);
  // The inputs of the last layer cannot be told apart.
  scores[2] = std::vector<double>();
  const auto curve = size_curve(network, scores);
  ASSERT_EQ(curve.size(), 50u);
  EXPECT_EQ(curve[0].share, 0);
  EXPECT_EQ(curve[0].cost.flops, cost(network).flops);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    EXPECT_LE(curve[i].cost.flops, curve[i - 1].cost.flops);
    EXPECT_EQ(curve[i].selection.inputs[2].size(), 30u);
  }
  const CurvePoint& half = curve[25];
  EXPECT_EQ(half.share, 0.5);
  EXPECT_EQ(half.selection.inputs[0],
            (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(half.selection.inputs[1].size(), 10u);
  EXPECT_EQ(half.cost.parameters, 6 * 10 + 11 * 30 + 31 * 2);
  EXPECT_EQ(half.architecture, "5-10-30");
}

CurvePoint point(std::int64_t flops, std::int64_t parameters, double error,
                 const char* architecture) {
  CurvePoint result;
  result.architecture = architecture;
  result.cost.flops = flops;
  result.cost.parameters = parameters;
  result.error = error;
  return result;
}

TEST(WithinBudget, TakesTheFirstOrTheSmallest) {
  const std::vector<CurvePoint> curve = {point(900, 90, 0.01, "9-9"),
                                         point(500, 60, 0.02, "6-6"),
                                         point(200, 30, 0.05, "3-3")};
  Budget budget;
  EXPECT_FALSE(budget.is_given());
  budget.max_flops = 600;
  EXPECT_TRUE(budget.is_given());
  EXPECT_EQ(&within_budget(curve, budget), &curve[1]);
  budget.max_parameters = 30;
  EXPECT_EQ(&within_budget(curve, budget), &curve[2]);
  budget.max_error = 0.03;
  testing::expect_error<ArgumentError>(
      [&] { within_budget(curve, budget); },
      "no network meets the budget; the nearest is 3-3 with 200 FLOPs");
  budget.max_flops.reset();
  budget.max_parameters.reset();
  EXPECT_EQ(&within_budget(curve, budget), &curve[1]);
  budget.max_error = 0.001;
  testing::expect_error<ArgumentError>([&] { within_budget(curve, budget); },
                                       "an error of 0.01");
}

TEST(WithinBudget, AsksForMeasuredErrors) {
  std::vector<CurvePoint> curve = {point(900, 90, 0, "9-9")};
  curve[0].error.reset();
  Budget budget;
  budget.max_error = 0.1;
  testing::expect_error<ArgumentError>([&] { within_budget(curve, budget); },
                                       "was not measured");
}

TEST(WithinFlops, TakesTheBestUnitsOfAllLayers) {
  const network::NetworkSpec network{
      {4}, {network::Dense{3}, network::Relu{}, network::Dense{2}}};
  const Scores scores{{1, 5, 4, 3}, {2, 7, 6}};
  // All cost (4+1) 3 + (3+1) 2 = 23, without the unit of score 1 20, and
  // without that of 2 too 4 2 + 3 2 = 14.
  EXPECT_EQ(within_flops(network, scores, 23).inputs[0].size(), 4u);
  EXPECT_EQ(within_flops(network, scores, 22).inputs[0],
            (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(within_flops(network, scores, 22).inputs[1].size(), 3u);
  EXPECT_EQ(within_flops(network, scores, 19).inputs[1],
            (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(within_flops(network, scores, 1).inputs[0].size(), 2u);
}

}  // namespace
}  // namespace radir::prune
