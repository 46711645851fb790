#include "cli/time_left.h"

#include <gtest/gtest.h>

namespace radir::cli {
namespace {

TEST(TimeLeft, IsThatOfAnEvenPace) {
  TimeLeft left;
  EXPECT_FALSE(left.add(1, 0.1));
  EXPECT_NEAR(*left.add(2, 0.2), 8, 1e-9);
  EXPECT_NEAR(*left.add(5, 0.5), 5, 1e-9);
}

// Pruning makes the rest ten times as fast; the mean speed so far would say
// 0.3 / 0.7 of the 505 seconds.
TEST(TimeLeft, FollowsANetworkThatShrinks) {
  TimeLeft left;
  std::optional<double> seconds;
  double time = 0;
  for (int i = 0; i <= 100; ++i) seconds = left.add(time += 5, 0.005 * i);
  EXPECT_NEAR(*seconds, 500, 20);
  for (int i = 0; i < 400; ++i) {
    seconds = left.add(time += 0.5, 0.5 + 0.0005 * (i + 1));
  }
  EXPECT_NEAR(*seconds, 300, 10);
}

// The first epoch of a resumed run may end long after its start.
TEST(TimeLeft, CountsNothingThatAnEarlierRunDid) {
  TimeLeft left;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(left.add(3 + 1e-4 * i, 0.01 * i));
  EXPECT_NEAR(*left.add(8, 0.5), 250, 6);
  TimeLeft late;
  EXPECT_FALSE(late.add(6, 0.5));
  EXPECT_NEAR(*late.add(11, 0.51), 245, 1e-6);
}

}  // namespace
}  // namespace radir::cli
