#include "radir/network/cost.h"

#include <gtest/gtest.h>

namespace radir::network {
namespace {

/// LeNet-5 with a, b filters, c flattened features and d hidden units.
NetworkSpec lenet(std::int64_t a, std::int64_t b, std::int64_t c,
                  std::int64_t d) {
  const MaxPool2d halve{{2, 2}, {2, 2}};
  NetworkSpec spec{
      {1, 28, 28},
      {Conv2d{a, {5, 5}}, halve, Conv2d{b, {5, 5}}, halve, Flatten{}}};
  if (c < 16 * b) {
    Select select;
    for (std::int64_t i = 0; i < c; ++i) select.indices.push_back(i);
    spec.layers.push_back(select);
  }
  for (const LayerSpec& layer :
       std::vector<LayerSpec>{Dense{d}, Relu{}, Dense{10}}) {
    spec.layers.push_back(layer);
  }
  return spec;
}

// Figures computed by hand from the formula for published architectures.
TEST(Cost, CountsLeNet5) {
  const Cost whole = cost(lenet(20, 50, 800, 500));
  EXPECT_EQ(whole.parameters, 431080);
  EXPECT_EQ(whole.flops, 26 * 576 * 20 + 501 * 64 * 50 + 400500 + 5010);
  ASSERT_EQ(whole.layers.size(), 4u);
  EXPECT_EQ(whole.layers[0].flops, 26 * 24 * 24 * 20);
  EXPECT_EQ(whole.layers[1].parameters, (25 * 20 + 1) * 50);
  EXPECT_EQ(whole.layers[2].name, "layer6");

  const Cost article = cost(lenet(4, 7, 110, 66));
  EXPECT_EQ(article.flops, 59904 + 45248 + 111 * 66 + 67 * 10);
  EXPECT_EQ(article.parameters, 104 + 707 + 111 * 66 + 67 * 10);
  EXPECT_EQ(article.article_flops, article.flops + 113 * 110);
  EXPECT_EQ(article.article_parameters, article.parameters + 113 * 110);
  EXPECT_EQ(whole.article_flops, whole.flops);
}

TEST(Cost, CountsDenseNetworks) {
  NetworkSpec spec = lenet300();
  EXPECT_EQ(cost(spec).flops, 785 * 300 + 301 * 100 + 101 * 10);
  // Pixels that are not read cost nothing, counted either way.
  Select pixels;
  for (std::int64_t i = 0; i < 97; ++i) pixels.indices.push_back(7 * i);
  spec = {{784, 1, 1},
          {pixels, Dense{71}, Relu{}, Dense{33}, Relu{}, Dense{10, false}}};
  EXPECT_EQ(cost(spec).parameters, 98 * 71 + 72 * 33 + 33 * 10);
  EXPECT_EQ(cost(spec).article_flops, cost(spec).flops);
}

TEST(Cost, CountsGroupsAndStrides) {
  Conv2d conv{6, {3, 3}, {2, 2}};
  conv.groups = 3;
  conv.bias = false;
  const Cost result = cost({{3, 7, 9}, {conv}});
  EXPECT_EQ(result.parameters, 6 * 9);
  EXPECT_EQ(result.flops, 6 * 9 * 3 * 4);
}

}  // namespace
}  // namespace radir::network
