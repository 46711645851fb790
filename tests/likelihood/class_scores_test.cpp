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
