#include "radir/network/spec.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"

namespace radir::network {
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

TEST(NetworkSpec, SizesWhoseProductMightOverflowAreRefused) {
  const std::int64_t half = std::int64_t{1} << 62;
  const auto expect_refused = [](const Shape& input,
                                 const std::vector<LayerSpec>& layers,
                                 const std::string& part) {
    const std::string failure = failure_of(input, layers);
    EXPECT_NE(failure.find(part), std::string::npos) << failure;
  };
  expect_refused({half, half, 1}, {Flatten{}}, "more than 2^30 numbers");
  expect_refused({1, 1 << 15, 1 << 16}, {}, "more than 2^30 numbers");
  expect_refused({1 << 15, 1, 1}, {Dense{1 << 16}},
                 "layer 1 (dense 65536) would have more than 2^30 weights for "
                 "its input 32768");
  expect_refused({3, 1, 1}, {Relu{}, Dense{half}}, "layer 2 (dense 46");
  expect_refused({64, 8, 8}, {Conv2d{1 << 14, {1 << 10, 1 << 10}}},
                 "2^30 weights for its input 64x8x8");
  expect_refused({1, 8, 8}, {Conv2d{1, {1, 1}, {1, 1}, {half, half}}},
                 "none above 2^30");
  expect_refused({1, 8, 8}, {Conv2d{1, {1, 1}, {1, 1}, {1 << 20, 1 << 20}}},
                 "its output 1x2097160x2097160 has more than 2^30");
  expect_refused({1, 8, 8}, {MaxPool2d{{half, 1}, {1, 1}}}, "from 1 to 2^30");
  EXPECT_EQ(failure_of({1 << 15, 1, 1}, {Dense{1 << 15}}), "");
}

TEST(NetworkSpec, SaysWhatWeightsALayerHas) {
  const auto dense = layer_weight(Dense{5}, {3, 1, 1});
  ASSERT_TRUE(dense.has_value());
  EXPECT_EQ(dense->shape.rows(), 5);
  EXPECT_EQ(dense->shape.row_length(), 3);
  EXPECT_EQ(dense->tensor_shape, (std::vector<std::int64_t>{5, 3}));
  EXPECT_EQ(dense->bias_size, 5);

  Conv2d grouped{8, {3, 2}};
  grouped.groups = 4;
  grouped.bias = false;
  const auto conv = layer_weight(grouped, {12, 9, 9});
  ASSERT_TRUE(conv.has_value());
  EXPECT_EQ(conv->shape.groups, 4);
  EXPECT_EQ(conv->shape.out, 2);
  EXPECT_EQ(conv->shape.in, 3);
  EXPECT_EQ(conv->shape.kernel, 6);
  EXPECT_EQ(conv->tensor_shape, (std::vector<std::int64_t>{8, 3, 3, 2}));
  EXPECT_EQ(conv->bias_size, 0);

  for (const LayerSpec& layer :
       std::vector<LayerSpec>{MaxPool2d{}, Relu{}, Flatten{}, Select{{0}}}) {
    EXPECT_FALSE(layer_weight(layer, {3, 1, 1}).has_value())
        << to_string(layer);
  }
}

}  // namespace
}  // namespace radir::network
