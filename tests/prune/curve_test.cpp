#include "radir/prune/curve.h"

#include <gtest/gtest.h>

namespace radir::prune {
namespace {

using kernels::Dense;
using kernels::Relu;

TEST(SizeCurve, GoesFromTheWholeNetworkDown) {
  const train::NetworkSpec network{
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
}

}  // namespace
}  // namespace radir::prune
