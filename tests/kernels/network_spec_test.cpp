#include "radir/kernels/network_spec.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"

namespace radir::kernels {
namespace {

std::string failure_of(const Shape& input,
                       const std::vector<LayerSpec>& layers) {
  try {
    layer_shapes(input, layers);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkSpec, ShapesFollowTheUsualFormula) {
  Conv2d conv{8, {3, 5}};
  conv.stride = {2, 2};
  conv.padding = {1, 1};
  conv.dilation = {2, 2};
  const auto shapes = layer_shapes(
      {4, 11, 16}, {conv, Relu{}, MaxPool2d{{2, 3}, {2, 1}}, Flatten{}});
  ASSERT_EQ(shapes.size(), 5u);
  EXPECT_EQ(shapes[1], (Shape{8, 5, 5}));
  EXPECT_EQ(shapes[2], (Shape{8, 5, 5}));
  EXPECT_EQ(shapes[3], (Shape{8, 2, 3}));
  EXPECT_EQ(shapes[4], (Shape{48, 1, 1}));
}

TEST(NetworkSpec, AnImpossibleLayerIsNamedWithItsShapes) {
  EXPECT_EQ(failure_of({1, 28, 28}, {Relu{}, Dense{10}}),
            "layer 2 (dense 10) takes a vector, but gets 1x28x28; put a "
            "flatten layer before it");
  EXPECT_EQ(failure_of({1, 4, 4}, {Conv2d{20, {5, 5}}}),
            "layer 1 (conv 20 5x5): its window is larger than its input 1x4x4");
  Conv2d grouped{20, {3, 3}};
  grouped.groups = 3;
  EXPECT_NE(failure_of({6, 8, 8}, {grouped}).find("3 groups do not divide"),
            std::string::npos);
  EXPECT_NE(failure_of({0, 1, 1}, {Dense{1}}).find("input shape 0"),
            std::string::npos);
  EXPECT_NE(failure_of({3, 1, 1}, {Dense{0}}).find("at least one output"),
            std::string::npos);
  EXPECT_NE(failure_of({3, 4, 4}, {MaxPool2d{{2, 2}, {0, 1}}})
                .find("layer 1 (max-pool 2x2): kernel and stride"),
            std::string::npos);
}

}  // namespace
}  // namespace radir::kernels
