#include "radir/prune/unit_prices.h"

#include <gtest/gtest.h>

namespace radir::prune {
namespace {

using network::Conv2d;
using network::Dense;
using network::Flatten;
using network::Relu;

TEST(UnitPrices, GrowWithTheFlopsThatGoWithAUnit) {
  // 4 inputs, 3 hidden units, 2 outputs: FLOPs 15 and 8.
  const network::NetworkSpec network = {{4, 1, 1},
                                        {Dense{3}, Relu{}, Dense{2}}};
  const UnitPrices prices = unit_prices(network, 2, 1);
  ASSERT_EQ(prices.inputs.size(), 2u);
  const double input = 15.0 / 4;
  const double hidden = 15.0 / 3 + 8.0 / 3;
  EXPECT_DOUBLE_EQ(prices.inputs[0], 2);  // the cheapest
  EXPECT_DOUBLE_EQ(prices.inputs[1], 2 * hidden / input);
  EXPECT_DOUBLE_EQ(prices.outputs[0], prices.inputs[1]);
  EXPECT_DOUBLE_EQ(prices.outputs[1], 2 * (8.0 / 2) / input);
}

TEST(UnitPrices, AreAllTheSameWithoutAPower) {
  const UnitPrices prices = unit_prices(network::lenet5(), 14, 0);
  for (const auto& list : {prices.inputs, prices.outputs}) {
    for (double price : list) EXPECT_EQ(price, 14);
  }
}

TEST(UnitPrices, AFeatureOfAFlattenedImageGoesWithoutItsFilter) {
  // The dense layer costs (2 * 4 + 1) * 3 = 27 FLOPs.
  const network::NetworkSpec network = {
      {1, 3, 3}, {Conv2d{2, {2, 2}}, Flatten{}, Dense{3}}};
  const UnitPrices prices = unit_prices(network, 1, 1);
  EXPECT_DOUBLE_EQ(prices.inputs[1], 1);
  EXPECT_GT(prices.outputs[0], 4);  // its own row and four features
}

}  // namespace
}  // namespace radir::prune
