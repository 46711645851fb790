#include "radir/math/article.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "radir/math/vmf.h"
#include "support/expect_error.h"
#include "support/table.h"

namespace radir::math::article {
namespace {

using testing::expect_error;
using testing::Table;

TEST(ArticleTest, BoundsHoldTheRatioBetweenThem) {
  const Table table("bessel_ratio");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double nu = table.number(i, "nu");
    const double z = table.number(i, "z");
    const double ratio = table.number(i, "ratio");
    const double slack = 4e-16 * ratio;
    EXPECT_LE(ratio_lower_theorem4(nu, z), ratio + slack) << table.describe(i);
    EXPECT_GE(ratio_upper_theorem4(nu, z), ratio - slack) << table.describe(i);
    EXPECT_LE(ratio_lower_theorem5(nu, z), ratio + slack) << table.describe(i);
    EXPECT_GE(ratio_upper_theorem5(nu, z), ratio - slack) << table.describe(i);
  }
}

/// Largest relative error of `method` over z in 1e-6..1e7.
template <typename Method>
double worst_ratio_error(double nu, Method method) {
  double worst = 0;
  for (double z = 1e-6; z < 1e7; z *= 1.05) {
    const double ratio = bessel_ratio(nu, z);
    worst = std::fmax(worst, std::fabs(method(nu, z) - ratio) / ratio);
  }
  return worst;
}

TEST(ArticleTest, ErrorsOfTheAverages) {
  const auto theorem4 = ratio_average_theorem4<double>;
  const auto theorem5 = ratio_average_theorem5<double>;
  EXPECT_NEAR(worst_ratio_error(1, theorem5), 7.1e-2, 1e-3);
  EXPECT_NEAR(worst_ratio_error(10, theorem5), 3.8e-4, 1e-5);
  EXPECT_NEAR(worst_ratio_error(1000, theorem5), 3.5e-8, 1e-9);
  EXPECT_NEAR(worst_ratio_error(1, theorem4), 1.7e-2, 1e-3);
  EXPECT_NEAR(worst_ratio_error(1000, theorem4), 2.0e-5, 1e-6);
}

TEST(ArticleTest, UpperBoundOfOrderOneHalfIsOne) {
  EXPECT_EQ(ratio_upper_theorem5(0.5, 0.0), 1.0);
  EXPECT_EQ(ratio_upper_theorem5(0.5, 3.0), 1.0);
}

TEST(ArticleTest, LogBesselOfTwoBranches) {
  // As z -> 0 the first branch is off by eta log 2.
  const double nu = 10, z = 1e-6;
  const double eta = (nu + 1.5) / (2 * (nu + 1));
  EXPECT_NEAR(log_bessel_i_branches(nu, z) - log_bessel_i(nu, z),
              -eta * std::log(2.0), 1e-6);
  const double printed_eta = (nu + 0.5) / (2 * (nu + 1));
  EXPECT_NEAR(log_bessel_i_branches(nu, z, Eta::Printed) - log_bessel_i(nu, z),
              -printed_eta * std::log(2.0), 1e-6);
  // The second is the leading term for z -> infinity.
  EXPECT_NEAR(log_bessel_i_branches(2.0, 1e6), log_bessel_i(2.0, 1e6), 1e-5);
  EXPECT_GT(log_bessel_i_branches(100.0, 100.0) - log_bessel_i(100.0, 100.0),
            40);
}

TEST(ArticleTest, LogBesselFromRatios) {
  double worst = 0;
  for (double z = 1e-3; z < 1e4; z *= 1.3) {
    for (double nu : {10.0, 10.5, 100.0}) {
      worst = std::fmax(worst, std::fabs(log_bessel_i_ratio_sum(nu, z) -
                                         log_bessel_i(nu, z)));
    }
    EXPECT_EQ(log_bessel_i_ratio_sum(0.25, z), log_bessel_i(0.25, z));
  }
  EXPECT_LT(worst, 0.08);
  EXPECT_GT(worst, 0.05);
}

TEST(ArticleTest, VarianceBoundsHoldTheVarianceBetweenThem) {
  for (double m : {3.0, 4.0, 10.0, 100.0, 1000.0}) {
    for (double share : {0.01, 0.3, 1.0, 3.0, 10.0}) {
      const double variance = vmf_cosine_variance(m, share * m);
      const Bounds<double> bounds = cosine_variance_bounds(m, share * m);
      EXPECT_LE(bounds.lower, variance) << m << " " << share;
      EXPECT_GE(bounds.upper, variance) << m << " " << share;
    }
  }
  const double variance = vmf_cosine_variance(100.0, 300.0);
  const Bounds<double> bounds = cosine_variance_bounds(100.0, 300.0);
  EXPECT_NEAR(bounds.lower / variance, 0.986, 1e-3);
  EXPECT_NEAR(bounds.upper / variance, 1.014, 1e-3);
}

TEST(ArticleTest, VarianceOfAverages) {
  const auto error = [](double m, double kappa, auto average) {
    return cosine_variance_average(m, kappa, average) /
               vmf_cosine_variance(m, kappa) -
           1;
  };
  EXPECT_NEAR(error(100, 300, ratio_average_theorem5<double>), 3.3e-3, 2e-4);
  // The wrong sign: A' is positive.
  EXPECT_LT(error(50, 500, ratio_average_theorem4<double>), -1);
}

TEST(ArticleTest, GradientBoundsHoldTheGradientBetweenThem) {
  for (double kappa_p : {20.0, 80.0}) {
    for (double cosine : {1.0, 0.2, -1.0}) {
      const double exact = vmf_kl_gradient(30.0, 40.0, kappa_p, cosine).kappa_q;
      const Bounds<double> bounds =
          kl_gradient_bounds(30.0, 40.0, kappa_p, cosine);
      EXPECT_LE(bounds.lower, exact);
      EXPECT_GE(bounds.upper, exact);
    }
  }
}

TEST(ArticleTest, PrintedGradientIsWrong) {
  const auto relative_error = [](double m, double kappa) {
    return kl_gradient_as_printed(m, kappa, 0.5 * kappa) /
               vmf_kl_gradient(m, kappa, 0.5 * kappa, 1.0).kappa_q -
           1;
  };
  EXPECT_NEAR(relative_error(10, 1), -0.09, 0.01);
  EXPECT_NEAR(relative_error(100, 50), -29, 1);
}

TEST(ArticleTest, RejectsWhatIsOutsideTheDomain) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double bad : {-1.0, nan}) {
    expect_error<DomainError>([&] { ratio_lower_theorem4(bad, 1.0); },
                              "ratio_lower_theorem4: needs nu >= 0");
    expect_error<DomainError>([&] { ratio_upper_theorem4(1.0, bad); },
                              "ratio_upper_theorem4: needs nu >= 0");
    expect_error<DomainError>([&] { ratio_lower_theorem5(bad, 1.0); },
                              "ratio_lower_theorem5: needs nu >= 0");
    expect_error<DomainError>([&] { ratio_upper_theorem5(1.0, bad); },
                              "ratio_upper_theorem5: needs nu >= 1/2");
    expect_error<DomainError>([&] { log_bessel_i_branches(1.0, bad); },
                              "log_bessel_i_branches: needs nu >= 0");
    expect_error<DomainError>([&] { log_bessel_i_ratio_sum(1.0, bad); },
                              "log_bessel_i_ratio_sum: needs 0 <= nu");
    expect_error<DomainError>([&] { cosine_variance_bounds(10.0, bad); },
                              "cosine_variance_bounds: needs m >= 3");
    expect_error<DomainError>(
        [&] {
          cosine_variance_average(10.0, bad, ratio_average_theorem5<double>);
        },
        "cosine_variance_average: needs m >= 2");
    expect_error<DomainError>([&] { kl_gradient_bounds(10.0, 1.0, bad, 1.0); },
                              "kl_gradient_bounds: needs kappa_p >= 0");
    expect_error<DomainError>([&] { kl_gradient_as_printed(10.0, 1.0, bad); },
                              "kl_gradient_as_printed: needs m >= 2");
  }
  expect_error<DomainError>([] { ratio_upper_theorem4(0.0, 0.0); },
                            "one of them positive");
  expect_error<DomainError>([] { ratio_lower_theorem5(0.0, 0.0); },
                            "one of them positive");
  expect_error<DomainError>([] { ratio_upper_theorem5(0.25, 1.0); },
                            "but got nu = 0.25");
  expect_error<DomainError>([] { cosine_variance_bounds(2.0, 1.0); },
                            "but got m = 2");
  expect_error<DomainError>([] { kl_gradient_bounds(10.0, 1.0, 1.0, 1.5); },
                            "cosine = 1.5");
}

}  // namespace
}  // namespace radir::math::article
