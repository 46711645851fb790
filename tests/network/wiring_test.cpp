#include "radir/network/wiring.h"

#include <gtest/gtest.h>

#include <vector>

namespace radir::network {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(Wiring, FollowsImagesIntoVectors) {
  const Wiring wiring(lenet5());
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

}  // namespace
}  // namespace radir::network
