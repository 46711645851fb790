#include "radir/likelihood/class_prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::likelihood {
namespace {

using ::radir::testing::expect_error;

TEST(ClassPrediction, TellsDisagreementFromDoubt) {
  // Two draws sure of different classes: all of the entropy is epistemic.
  const float disagree[] = {50, 0, 0, 50};
  const ClassPrediction a = predict_class(disagree, 2, 2, 2);
  EXPECT_NEAR(a.entropy, std::log(2.0), 1e-12);
  EXPECT_NEAR(a.mutual_information, std::log(2.0), 1e-12);
  // Two draws both in doubt: none of it is.
  const float doubt[] = {0, 0, 0, 0};
  const ClassPrediction b = predict_class(doubt, 2, 2, 2);
  EXPECT_NEAR(b.entropy, std::log(2.0), 1e-12);
  EXPECT_NEAR(b.mutual_information, 0, 1e-12);

  const float likely[] = {0, std::log(3.0f)};
  const ClassPrediction c = predict_class(likely, 1, 2, 2);
  EXPECT_NEAR(c.probabilities[1], 0.75, 1e-7);
  EXPECT_EQ(c.most_likely(), 1);
}

TEST(ClassPrediction, IsNotDefinedWhereAnOutputOverflowed) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float fine[] = {1, 0};
  for (float output : {infinity, -infinity, infinity - infinity}) {
    const float logits[] = {1, 0, output, 0};
    const ClassPrediction p = predict_class(logits, 2, 2, 2);
    EXPECT_FALSE(p.is_defined());
    for (double number : {p.probabilities[0], p.probabilities[1], p.entropy,
                          p.mutual_information}) {
      EXPECT_TRUE(std::isnan(number));
    }
    const ClassPrediction other = predict_class(fine, 1, 2, 2);
    EXPECT_TRUE(other.is_defined());
    EXPECT_FALSE(mixture_of({other, p}).is_defined());
  }
}

TEST(ClassPrediction, AMixtureAverages) {
  const float first[] = {50, 0}, second[] = {0, 50};
  const ClassPrediction p = mixture_of(
      {predict_class(first, 1, 2, 2), predict_class(second, 1, 2, 2)});
  EXPECT_NEAR(p.probabilities[0], 0.5, 1e-12);
  EXPECT_NEAR(p.mutual_information, std::log(2.0), 1e-12);
  expect_error<ArgumentError>([] { mixture_of({}); }, "at least one");
}

TEST(ClassPrediction, AMixtureMayHaveWeights) {
  const float first[] = {50, 0}, second[] = {0, 50};
  const std::vector<ClassPrediction> both = {predict_class(first, 1, 2, 2),
                                             predict_class(second, 1, 2, 2)};
  const ClassPrediction p = mixture_of(both, {0.25, 0.75});
  EXPECT_NEAR(p.probabilities[0], 0.25, 1e-12);
  EXPECT_NEAR(p.mutual_information,
              -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-12);
  expect_error<ArgumentError>([&] { mixture_of(both, {1}); },
                              "there are 2 predictions, but 1 weights");
}

}  // namespace
}  // namespace radir::likelihood
