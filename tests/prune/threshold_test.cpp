#include "radir/prune/threshold.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/kernels/random.h"

namespace radir::prune {
namespace {

std::vector<double> normals(std::int64_t count, double mean, double deviation,
                            std::uint32_t stream) {
  std::vector<double> result(static_cast<std::size_t>(count));
  kernels::fill_normal({3, stream, 0}, 0, count, result.data());
  for (double& x : result) x = mean + deviation * x;
  return result;
}

std::vector<double> joined(std::vector<double> a,
                           const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(SplitClusters, FindsClustersOfAnySizes) {
  // Dead units lie close together, live ones spread.
  for (std::int64_t live : {2, 7, 66, 450}) {
    const ScoreSplit split = split_clusters(
        joined(normals(live, 0, 0.5, 1), normals(500 - live, -5, 0.1, 2)));
    EXPECT_TRUE(split.found) << live;
    EXPECT_EQ(split.above, static_cast<std::size_t>(live));
    EXPECT_LT(split.threshold, -1);
    EXPECT_GT(split.threshold, -5);
    EXPECT_GT(split.gap, 1);
  }
}

TEST(SplitClusters, LeavesOneClusterWhole) {
  for (double deviation : {0.01, 0.3, 1.0}) {
    const std::vector<double> scores = normals(300, -1, deviation, 4);
    const ScoreSplit split = split_clusters(scores);
    EXPECT_FALSE(split.found) << deviation;
    EXPECT_EQ(split.above, 300u);
    EXPECT_TRUE(std::isinf(split.threshold));
  }
}

TEST(SplitClusters, TakesFewScores) {
  EXPECT_FALSE(split_clusters(std::vector<double>()).found);
  EXPECT_FALSE(split_clusters(std::vector<double>{1}).found);
  EXPECT_FALSE(split_clusters(std::vector<double>{1, 1.1, 0.9}).found);
  EXPECT_FALSE(split_clusters(std::vector<double>(5, 2.0)).found);
}

TEST(SplitClusters, IsTheSameForShiftedScores) {
  const std::vector<double> scores =
      joined(normals(20, 0, 0.4, 5), normals(30, -4, 0.2, 6));
  std::vector<double> shifted = scores;
  for (double& x : shifted) x += 1000;
  EXPECT_EQ(split_clusters(scores).above, 20u);
  EXPECT_EQ(split_clusters(shifted).above, 20u);
  EXPECT_NEAR(split_clusters(shifted).threshold,
              split_clusters(scores).threshold + 1000, 1e-9);
}

TEST(SplitClusters, KeepsLayersWithoutScores) {
  const auto splits = split_clusters(
      Scores{{}, joined(normals(9, 0, .2, 7), {-6, -6.1, -5.9})});
  EXPECT_FALSE(splits[0].found);
  EXPECT_TRUE(splits[1].found);
  EXPECT_EQ(splits[1].above, 9u);
}

TEST(ScoreSplit, TakesOneThresholdForAllLayers) {
  const Scores scores = {{}, {3, -1, 2}, {-4, -5}, {7, 8}};
  const auto splits = split(scores, 2.0);
  EXPECT_FALSE(splits[0].found);
  EXPECT_TRUE(splits[1].found);
  EXPECT_EQ(splits[1].above, 2u);
  EXPECT_EQ(splits[1].gap, 3);
  EXPECT_TRUE(splits[2].found);
  EXPECT_EQ(splits[2].above, 0u);
  EXPECT_FALSE(splits[3].found);
  EXPECT_EQ(splits[3].threshold, 2);
}

TEST(ScoreSplit, FindsTheThresholdsWhenNoneIsGiven) {
  const Scores scores = {joined(normals(9, 0, .2, 7), {-6, -6.1, -5.9})};
  EXPECT_EQ(split(scores, std::nullopt)[0].threshold,
            split_clusters(scores)[0].threshold);
}

}  // namespace
}  // namespace radir::prune
