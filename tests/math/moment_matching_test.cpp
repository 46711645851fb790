#include "radir/math/moment_matching.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/table.h"

namespace {

namespace math = radir::math;
using radir::DomainError;
using radir::testing::expect_error;
using radir::testing::Table;

TEST(ReluMoments, MatchTheTable) {
  const Table table("relu_moments");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const auto moments = math::relu_moments(table.number(i, "mean"),
                                            table.number(i, "variance"));
    const auto near = [&](double got, const char* column,
                          double tolerance = 1e-10) {
      const double wanted = table.number(i, column);
      EXPECT_NEAR(got, wanted, tolerance * std::abs(wanted)) << column;
    };
    near(moments.value.mean, "relu_mean");
    near(moments.value.variance, "relu_variance", 1e-8);
    near(moments.of_mean.mean, "mean_by_mean");
    near(moments.of_mean.variance, "mean_by_variance");
    near(moments.of_variance.mean, "variance_by_mean");
    near(moments.of_variance.variance, "variance_by_variance");
  }
}

TEST(ReluMoments, OfANumberAndFarInTheTail) {
  const auto positive = math::relu_moments(2.0, 0.0);
  EXPECT_EQ(positive.value.mean, 2);
  EXPECT_EQ(positive.value.variance, 0);
  EXPECT_EQ(positive.of_mean.mean, 1);
  EXPECT_EQ(positive.of_variance.variance, 1);
  for (const auto& zero :
       {math::relu_moments(-2.0, 0.0), math::relu_moments(-31.0, 1.0)}) {
    EXPECT_EQ(zero.value.mean, 0);
    EXPECT_EQ(zero.value.variance, 0);
    EXPECT_EQ(zero.of_mean.mean, 0);
    EXPECT_EQ(zero.of_variance.variance, 0);
  }
  // Nothing is lost before: the mean is about deviation phi(a)/a^2.
  const auto far = math::relu_moments(-29.0, 1.0);
  EXPECT_GT(far.value.mean, 0);
  EXPECT_GE(far.value.variance, 0);
  expect_error<DomainError>([] { math::relu_moments(0.0, -1.0); },
                            "relu_moments: need a finite mean");
  expect_error<DomainError>(
      [] { math::relu_moments(std::numeric_limits<double>::quiet_NaN(), 1.0); },
      "relu_moments: need a finite mean");
}

TEST(MatchGamma, KeepsTheFirstTwoMoments) {
  const math::GammaPair<double> q = {6, 4};
  const double z0 = -0.7, z1 = -0.6, z2 = -0.55;
  const auto next = math::match_gamma(q, z0, z1, z2);
  const double mean = std::exp(z1 - z0) * q.shape / q.rate;
  const double square =
      std::exp(z2 - z0) * q.shape * (q.shape + 1) / (q.rate * q.rate);
  EXPECT_NEAR(next.shape / next.rate, mean, 1e-13);
  EXPECT_NEAR(next.shape * (next.shape + 1) / (next.rate * next.rate), square,
              1e-13);
}

}  // namespace
