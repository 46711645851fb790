#include "radir/likelihood/class_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

TEST(ClassScores, AreMeansOverPredictions) {
  ClassScores scores;
  ClassPrediction p;
  p.probabilities = {0.7, 0.2, 0.1};
  scores.add(p, 0);
  p.probabilities = {0.7, 0.3, 0.0};
  scores.add(p, 1);
  const auto list = scores.metrics();
  const std::map<std::string, double> metrics(list.begin(), list.end());
  EXPECT_EQ(scores.count(), 2);
  EXPECT_NEAR(metrics.at("nll"), -(std::log(0.7) + std::log(0.3)) / 2, 1e-15);
  EXPECT_EQ(metrics.at("log_likelihood"), -metrics.at("nll"));
  EXPECT_EQ(metrics.at("error"), 0.5);
  EXPECT_NEAR(metrics.at("brier"), (0.09 + 0.04 + 0.01 + 0.49 + 0.49 + 0) / 2,
              1e-15);
  // Both fall in one bin: confidence 0.7, half of them right.
  EXPECT_NEAR(metrics.at("ece"), 0.2, 1e-15);
}

TEST(ClassScores, AucIsTheShareOfPairsInTheRightOrder) {
  // Two classes: the AUC by counting all pairs.
  const std::vector<std::pair<double, std::int64_t>> rows = {
      {0.9, 1}, {0.8, 0}, {0.7, 1}, {0.4, 1}, {0.4, 0}, {0.1, 0}};
  ClassScores scores;
  for (const auto& [probability, label] : rows) {
    ClassPrediction p;
    p.probabilities = {1 - probability, probability};
    scores.add(p, label);
  }
  double pairs = 0, right = 0;
  for (const auto& [own, is_one] : rows) {
    for (const auto& [other, is_other] : rows) {
      if (is_one != 1 || is_other != 0) continue;
      pairs += 1;
      right += own > other ? 1 : own == other ? 0.5 : 0;
    }
  }
  ASSERT_TRUE(scores.auc());
  EXPECT_NEAR(*scores.auc(), right / pairs, 1e-12);
}

TEST(ClassScores, AucOfSeveralClassesIsTheMeanOfOneAgainstTheRest) {
  // Class 2 has no row, so that classes 0 and 1 count: 1 and 1/2.
  ClassScores scores;
  ClassPrediction p;
  p.probabilities = {0.6, 0.2, 0.2};
  scores.add(p, 0);
  p.probabilities = {0.5, 0.2, 0.3};
  scores.add(p, 1);
  ASSERT_TRUE(scores.auc());
  EXPECT_NEAR(*scores.auc(), 0.75, 1e-12);
  // One class alone has no order.
  ClassScores one;
  one.add(p, 1);
  EXPECT_FALSE(one.auc());
  EXPECT_NE(one.metrics().back().first, "auc");
}

TEST(ClassScores, CountConfusionsAndCalibration) {
  ClassScores scores;
  ClassPrediction p;
  p.probabilities = {0.75, 0.25};
  scores.add(p, 0);
  scores.add(p, 1);
  p.probabilities = {0.02, 0.98};
  scores.add(p, 1);
  EXPECT_EQ(scores.confusion(),
            (std::vector<std::vector<std::int64_t>>{{1, 0}, {1, 1}}));
  const auto bins = scores.calibration();
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].count, 2);
  EXPECT_DOUBLE_EQ(bins[0].confidence, 0.75);
  EXPECT_DOUBLE_EQ(bins[0].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(bins[1].lower, 14 / 15.0);
  EXPECT_DOUBLE_EQ(bins[1].accuracy, 1);
}

TEST(ClassScores, RefuseAPredictionThatIsNotDefined) {
  const float overflowed[] = {std::numeric_limits<float>::infinity(), 0};
  ClassScores scores;
  testing::expect_error<NumericalError>(
      [&] { scores.add(predict_class(overflowed, 1, 2, 2), 0); },
      "example 1 has no prediction");
  EXPECT_EQ(scores.count(), 0);
}

TEST(ClassScores, NeedPredictions) {
  testing::expect_error<ArgumentError>([] { ClassScores().metrics(); },
                                       "no predictions");
}

}  // namespace
}  // namespace radir::likelihood
