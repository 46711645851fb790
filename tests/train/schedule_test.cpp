#include "radir/train/schedule.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"

namespace radir::train {
namespace {

TEST(KlSchedule, WarmupWaitsThenRisesThenStays) {
  const auto schedule = KlSchedule::warmup(0.5, 0.1, 2);
  EXPECT_EQ(schedule(0), 0);
  EXPECT_EQ(schedule(0.1), 0);
  EXPECT_DOUBLE_EQ(schedule(0.35), 1);
  EXPECT_EQ(schedule(0.6), 2);
  EXPECT_EQ(schedule(1), 2);
}

TEST(KlSchedule, CyclesRiseInTheirFirstHalf) {
  const auto schedule = KlSchedule::cyclic(0.25);
  EXPECT_EQ(schedule(0), 0);
  EXPECT_DOUBLE_EQ(schedule(0.0625), 0.5);
  EXPECT_EQ(schedule(0.2), 1);
  EXPECT_DOUBLE_EQ(schedule(0.3125), 0.5);
}

TEST(KlSchedule, RefusesWhatIsNoShareOrWeight) {
  EXPECT_THROW(KlSchedule::warmup(1.5), ArgumentError);
  EXPECT_THROW(KlSchedule::cyclic(0), ArgumentError);
  EXPECT_THROW(KlSchedule::constant(-1), ArgumentError);
}

TEST(LearningRateSchedule, CosineAndLinearEndAtTheirFinalFactor) {
  LearningRateSchedule cosine{LearningRateSchedule::Kind::Cosine, 0.1, 0.01};
  EXPECT_DOUBLE_EQ(cosine(0.05), 0.5);
  EXPECT_DOUBLE_EQ(cosine(0.1), 1);
  EXPECT_NEAR(cosine(0.55), 0.505, 1e-12);
  EXPECT_NEAR(cosine(1), 0.01, 1e-12);
  LearningRateSchedule linear{LearningRateSchedule::Kind::Linear, 0, 0.2};
  EXPECT_DOUBLE_EQ(linear(0.5), 0.6);
  EXPECT_DOUBLE_EQ(linear(1), 0.2);
}

}  // namespace
}  // namespace radir::train
