#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "radir/math/hard_concrete.h"
#include "radir/math/normal_jeffreys.h"
#include "radir/math/truncated_log_normal.h"
#include "support/expect_error.h"
#include "support/table.h"

namespace {

namespace math = radir::math;
using radir::DomainError;
using radir::testing::expect_error;
using radir::testing::Table;

void expect_close(double got, double wanted, double relative = 2e-14) {
  EXPECT_NEAR(got, wanted, relative * std::abs(wanted));
}

TEST(NormalJeffreys, MatchesTheTable) {
  const Table table("normal_jeffreys");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const double log_alpha = table.number(i, "log_alpha");
    expect_close(math::kl_normal_jeffreys(log_alpha), table.number(i, "kl"));
    expect_close(math::kl_normal_jeffreys_slope(log_alpha),
                 table.number(i, "slope"));
  }
}

TEST(NormalJeffreys, HasNoStepWhereTheFormulaChanges) {
  for (double log_alpha : {-std::log(2.0), -std::log(128.0)}) {
    const double below = math::kl_normal_jeffreys(log_alpha - 1e-9);
    const double above = math::kl_normal_jeffreys(log_alpha + 1e-9);
    EXPECT_NEAR((above - below) / 2e-9,
                math::kl_normal_jeffreys_slope(log_alpha), 1e-5);
  }
  EXPECT_EQ(math::kl_normal_jeffreys_slope(-800), -0.5);
  expect_error<DomainError>([] { math::kl_normal_jeffreys(std::nan("")); },
                            "log alpha must be finite");
}

TEST(HardConcrete, MatchesTheTable) {
  const Table table("hard_concrete");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const double log_alpha = table.number(i, "log_alpha");
    expect_close(math::hard_concrete_open(log_alpha).value,
                 table.number(i, "open"));
    const math::GateMoments moments = math::hard_concrete_moments(log_alpha);
    expect_close(moments.mean, table.number(i, "mean"), 1e-12);
    expect_close(moments.square, table.number(i, "square"), 1e-12);
  }
}

TEST(HardConcrete, DrawsAndTestGates) {
  const math::Gate gate = math::hard_concrete(1, 0.3);
  EXPECT_NEAR(gate.value, 0.568417096689934, 1e-14);
  EXPECT_NEAR(gate.slope, 0.444148876100650, 1e-14);
  EXPECT_NEAR(math::hard_concrete_open(0).slope, 0.139894038210985, 1e-14);
  EXPECT_NEAR(math::hard_concrete_point(1), 0.777270294356006, 1e-14);
  EXPECT_NEAR(math::hard_concrete_point(-2), 0.043043506426541, 1e-14);
  EXPECT_EQ(math::hard_concrete_point(-math::kHardConcreteLogRatio - 1e-9), 0);
  EXPECT_EQ(math::hard_concrete(-4, 0.01).value, 0);
  EXPECT_EQ(math::hard_concrete(4, 0.99).value, 1);
  // P(z = 1) is 1 - P(z != 0) of the opposite.
  int ones = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    ones += math::hard_concrete(0, (i + 0.5) / kDraws).value == 1;
  }
  EXPECT_NEAR(ones / double{kDraws}, 0.168177816008310, 1e-5);
}

TEST(Concrete, DrawsAndMoments) {
  EXPECT_NEAR(math::concrete(0.5413, 0.1, 0.3).value, 0.044788618422814, 1e-14);
  for (double temperature : {0.1, 0.7}) {
    const math::GateMoments moments = math::concrete_moments(0.5, temperature);
    math::GateMoments sum{0, 0};
    constexpr int kDraws = 200000;
    for (int i = 0; i < kDraws; ++i) {
      const double z =
          math::concrete(0.5, temperature, (i + 0.5) / kDraws).value;
      sum.mean += z / kDraws;
      sum.square += z * z / kDraws;
    }
    EXPECT_NEAR(moments.mean, sum.mean, 1e-9);
    EXPECT_NEAR(moments.square, sum.square, 1e-9);
  }
}

TEST(TruncatedLogNormal, MatchesTheTable) {
  const Table table("truncated_log_normal");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const math::TruncatedLogNormal law{table.number(i, "mu"),
                                       table.number(i, "log_sigma")};
    // A wide law is close to the prior: the divergence is a difference of
    // terms of about 3.
    EXPECT_NEAR(math::kl_truncated_log_normal(law).value, table.number(i, "kl"),
                1e-14);
    const math::GateMoments moments = math::truncated_log_normal_moments(law);
    expect_close(moments.mean, table.number(i, "mean"), 1e-12);
    expect_close(moments.square, table.number(i, "square"), 1e-12);
  }
  const math::GateMoments start = math::truncated_log_normal_moments({0, -5});
  EXPECT_NEAR(start.mean / std::sqrt(start.square - start.mean * start.mean),
              246.699206114201, 1e-9);
}

TEST(TruncatedLogNormal, HasItsGradients) {
  constexpr double kStep = 1e-6;
  for (const math::TruncatedLogNormal law :
       {math::TruncatedLogNormal{-1, 0}, {-3, 1}, {-0.1, -2}, {-19, 2}}) {
    const auto expect_gradient = [&](const auto& function) {
      const math::TruncatedValue value = function(law);
      const auto difference = [&](double mu, double log_sigma) {
        return (function({law.mu + mu, law.log_sigma + log_sigma}).value -
                function({law.mu - mu, law.log_sigma - log_sigma}).value) /
               (2 * kStep);
      };
      EXPECT_NEAR(value.by_mu, difference(kStep, 0), 1e-7);
      EXPECT_NEAR(value.by_log_sigma, difference(0, kStep), 1e-7);
    };
    expect_gradient([](const math::TruncatedLogNormal& q) {
      return math::kl_truncated_log_normal(q);
    });
    for (double uniform : {0.01, 0.5, 0.99}) {
      expect_gradient([&](const math::TruncatedLogNormal& q) {
        return math::truncated_log_normal_draw(q, uniform);
      });
    }
  }
  EXPECT_NEAR(math::truncated_log_normal_draw({-1, 0}, 0.5).value,
              -1.200173686166891, 1e-14);
  expect_error<DomainError>(
      [] {
        math::kl_truncated_log_normal({1, 0});
      },
      "need -20 <= mu <= 0");
}

TEST(TruncatedLogNormal, InvertsTheNormalDistribution) {
  for (double p : {1e-10, 1e-5, 0.02, 0.3, 0.5, 0.9, 0.99999}) {
    const double x = math::detail::normal_quantile(p);
    EXPECT_NEAR(math::detail::normal_cdf(x), p,
                4e-16 + 1e-13 * std::min(p, 1 - p));
  }
}

TEST(TruncatedLogNormal, NoVarianceIsNegativeByRounding) {
  for (int i = 1; i < 200; ++i) {
    const math::TruncatedLogNormal law{-0.1 * i, -18 - 0.05 * i};
    const auto moments = math::truncated_log_normal_moments(law);
    EXPECT_GE(moments.square - moments.mean * moments.mean, 0) << law.mu;
  }
}

}  // namespace
