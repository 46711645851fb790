#include "radir/core/error.h"

#include <gtest/gtest.h>

namespace radir {
namespace {

TEST(Error, CheckJoinsItsPartsIntoOneMessage) {
  try {
    RADIR_CHECK(1 > 2, DomainError, "kappa must be >= 0, but got ", -0.25,
                " at index [", 3, "]");
    FAIL() << "nothing was thrown";
  } catch (const DomainError& error) {
    EXPECT_STREQ(error.what(),
                 "kappa must be >= 0, but got -0.25 at index [3]");
  }
}

TEST(Error, CheckThatHoldsEvaluatesNoMessage) {
  int evaluated = 0;
  RADIR_CHECK(true, ArgumentError, ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(Error, AssertNamesTheConditionAndAsksForAReport) {
  try {
    RADIR_ASSERT(2 + 2 == 5);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("2 + 2 == 5"), std::string::npos) << text;
    EXPECT_NE(text.find("please report"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace radir
