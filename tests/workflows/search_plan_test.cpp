#include "radir/workflows/search_plan.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

using ::radir::testing::expect_error;

TEST(SearchPlan, RoundsKeepAThirdAndTrainThreeTimesAsLong) {
  const SearchPlan plan{48, 2};
  EXPECT_EQ(plan.trials(), 48 + 16 + 6);
  EXPECT_EQ(plan.divisor_of(1), 18);
  EXPECT_EQ(plan.divisor_of(2), 6);
  EXPECT_EQ(plan.divisor_of(3), 2);
}

/// Nine equal candidates: each round takes nine seconds of training.
TEST(SearchPlan, TheTimeIsThatOfAllRounds) {
  const std::vector<TrialCost> costs(9, {0.25, 36, 0.5});
  EXPECT_DOUBLE_EQ(search_seconds(costs, {9, 1}, 1), 27 + 0.5 * (9 + 3 + 1));
  // In three threads: a third of the sum, and two thirds of the longest.
  EXPECT_DOUBLE_EQ(search_seconds(costs, {9, 1}, 3),
                   (27 + 6.5) / 3 + 2.0 / 3 * (1.5 + 3.5 + 9.5));
}

TEST(SearchPlan, TheSlowestAreAssumedToStay) {
  std::vector<TrialCost> costs(9, {0.025, 36, 0});
  costs[2].epoch = 2.5;
  // 8 fast ones and the slow one; then the slow one and two; then it alone.
  EXPECT_NEAR(search_seconds(costs, {9, 1}, 1), 0.8 + 10 + 30 + 0.6 + 90,
              1e-12);
}

TEST(SearchPlan, ATrainingOfOneEpochCannotBeShortened) {
  const std::vector<TrialCost> costs(9, {2.0, 1, 0.5});
  EXPECT_DOUBLE_EQ(search_seconds(costs, {9, 1}, 1), 2.5 * (9 + 3 + 1));
  EXPECT_DOUBLE_EQ(search_seconds(costs, {9, 4}, 1), 2.5 * (9 + 3 + 1));
}

TEST(SearchPlan, ABudgetTakesLengthFirstAndThenCandidates) {
  const std::vector<TrialCost> costs(9, {0.25, 36, 0.0});
  const auto plan = [&](double budget, double used = 0) {
    const SearchPlan found = plan_search(costs, 1, budget, used);
    return std::pair(found.candidates, found.divisor);
  };
  EXPECT_EQ(plan(27), std::pair(std::int64_t{9}, std::int64_t{1}));
  EXPECT_EQ(plan(27, 1), std::pair(std::int64_t{9}, std::int64_t{2}));
  EXPECT_EQ(plan(26), std::pair(std::int64_t{9}, std::int64_t{2}));
  EXPECT_EQ(plan(7), std::pair(std::int64_t{9}, std::int64_t{4}));
  // (6 + 2 * 3 + 9) / 4 = 5.25 seconds.
  EXPECT_EQ(plan(5.3), std::pair(std::int64_t{6}, std::int64_t{4}));
  expect_error<ArgumentError>(
      [&] { plan(3); },
      "cannot end within 3 s: the smallest search takes up to 4s here, the "
      "complete one up to 27s; give a budget between these");
}

TEST(SearchPlan, IsKeptAsText) {
  const SearchPlan plan = plan_from_json(to_json(SearchPlan{5, 4}));
  EXPECT_EQ(plan.candidates, 5);
  EXPECT_EQ(plan.divisor, 4);
  expect_error<IoError>([] { plan_from_json("{\"candidates\": 0}"); },
                        "candidates");
}

}  // namespace
}  // namespace radir::workflows
