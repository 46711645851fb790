#include "radir/math/bessel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace radir::math {
namespace {

using testing::expect_error;
using testing::Table;
using testing::WorstError;

template <typename T>
class BesselTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BesselTest, Types);

TYPED_TEST(BesselTest, RatioMatchesTheTable) {
  using T = TypeParam;
  const Table table("bessel_ratio");
  WorstError<T> worst("bessel_ratio", 4);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const T nu = static_cast<T>(table.number(i, "nu"));
    const T z = static_cast<T>(table.number(i, "z"));
    worst.add(bessel_ratio(nu, z), table.number(i, "ratio"),
              [&] { return table.describe(i); });
  }
  worst.verify();
}

TYPED_TEST(BesselTest, LogMatchesTheTable) {
  using T = TypeParam;
  const Table table("log_bessel");
  WorstError<T> worst("log_bessel_i", 8);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double nu = table.number(i, "nu");
    const double z = table.number(i, "z");
    const double want = table.number(i, "log_i");
    worst.add_scaled(log_bessel_i(static_cast<T>(nu), static_cast<T>(z)), want,
                     std::max(std::fabs(want), std::hypot(nu, z)),
                     [&] { return table.describe(i); });
  }
  worst.verify();
}

// Orders 1/2 and 3/2 are elementary: tanh z and coth z - 1/z.
TYPED_TEST(BesselTest, RatioOfHalfOrdersIsElementary) {
  using T = TypeParam;
  WorstError<T> worst("bessel_ratio of order 1/2 and 3/2", 4);
  for (double z = 0.125; z < 1000; z *= 1.25) {
    const double exact = static_cast<double>(static_cast<T>(z));
    const auto describe = [&] { return "z=" + std::to_string(exact); };
    worst.add(bessel_ratio(T(0.5), static_cast<T>(z)), std::tanh(exact),
              describe);
    if (z > 1) {
      worst.add(bessel_ratio(T(1.5), static_cast<T>(z)),
                1 / std::tanh(exact) - 1 / exact, describe);
    }
  }
  worst.verify();
}

// An order with no short binary form: the recurrence must come back to it.
TYPED_TEST(BesselTest, RatioSatisfiesTheRecurrenceAtAnyOrder) {
  using T = TypeParam;
  WorstError<T> worst("r_nu (2 nu/z + r_{nu+1}) = 1", 8);
  for (T nu = T(0.6); nu < 100; nu *= T(1.17)) {
    for (T z = T(0.3); z < 1000; z *= T(1.7)) {
      const T product =
          bessel_ratio(nu, z) * (2 * nu / z + bessel_ratio(nu + 1, z));
      worst.add(product, 1, [&] {
        return "nu=" + std::to_string(nu) + " z=" + std::to_string(z);
      });
    }
  }
  worst.verify();
}

TYPED_TEST(BesselTest, LimitsOfTheDomain) {
  using T = TypeParam;
  const T huge = detail::kMaxBesselArgument<T>;
  EXPECT_EQ(bessel_ratio(T(1), T(0)), T(0));
  EXPECT_EQ(bessel_ratio(T(1e6), T(0)), T(0));
  EXPECT_EQ(bessel_ratio(T(2), huge), T(1));
  EXPECT_NEAR(bessel_ratio(huge, huge), T(std::sqrt(2.0) - 1), T(1e-6));
  EXPECT_GT(bessel_ratio(T(1), std::numeric_limits<T>::min()), T(0));
  EXPECT_EQ(log_bessel_i(T(0), T(0)), T(0));
  EXPECT_EQ(log_bessel_i(T(3), T(0)), -std::numeric_limits<T>::infinity());
  EXPECT_EQ(log_bessel_i(T(300), T(0)), -std::numeric_limits<T>::infinity());
  EXPECT_TRUE(std::isfinite(log_bessel_i(huge, huge)));
}

TYPED_TEST(BesselTest, RejectsWhatIsOutsideTheDomain) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  for (T nu : {T(0.25), T(-1), nan, infinity}) {
    expect_error<DomainError>([&] { bessel_ratio(nu, T(1)); },
                              "bessel_ratio: nu must be in [1/2");
  }
  for (T nu : {T(-0.5), nan, infinity}) {
    expect_error<DomainError>([&] { log_bessel_i(nu, T(1)); },
                              "log_bessel_i: nu must be in [0");
  }
  for (T z : {T(-1), nan, infinity}) {
    expect_error<DomainError>([&] { bessel_ratio(T(1), z); },
                              "bessel_ratio: z must be in [0");
    expect_error<DomainError>([&] { log_bessel_i(T(1), z); },
                              "log_bessel_i: z must be in [0");
  }
  expect_error<DomainError>([] { bessel_ratio(T(1), T(-0.25)); },
                            "but got -0.25");
}

TEST(DebyeTest, CoefficientsAreTheExactOnesRoundedOnce) {
  const Table table("debye_coefficients");
  int compared = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const int k = static_cast<int>(table.number(i, "k"));
    const int j = static_cast<int>(table.number(i, "j"));
    const double want = table.number(i, "value");
    const double got = table.text(i, "series") == "Q"
                           ? detail::RatioSeries::coefficient(k, j)
                           : detail::LogSeries::coefficient(k, j);
    EXPECT_EQ(got, want) << table.describe(i);
    ++compared;
  }
  EXPECT_EQ(compared, 136 + 152);
}

TEST(DebyeTest, DerivedPolynomials) {
  using detail::RatioOverArgumentSlopeSeries;
  using detail::VarianceSeries;
  // D_1 = q - 1/2, D_2 = 1/2 - 27q/8 + 25q^2/8, and (D_2 - Q_2)/q.
  EXPECT_EQ(VarianceSeries::coefficient(1, 0), -0.5);
  EXPECT_EQ(VarianceSeries::coefficient(1, 1), 1);
  EXPECT_EQ(VarianceSeries::coefficient(2, 0), 0.5);
  EXPECT_EQ(VarianceSeries::coefficient(2, 1), -27.0 / 8);
  EXPECT_EQ(VarianceSeries::coefficient(2, 2), 25.0 / 8);
  EXPECT_EQ(RatioOverArgumentSlopeSeries::coefficient(2, 0), -22.0 / 8);
  EXPECT_EQ(RatioOverArgumentSlopeSeries::coefficient(2, 1), 25.0 / 8);
}

// The same polynomials in powers of q and of sigma = 1 - q.
template <typename Series>
void expect_same_in_sigma() {
  for (int k = 1; k <= 6; ++k) {
    for (double q : {0.0, 0.3, 1.0}) {
      double in_q = 0, in_sigma = 0, size = 0;
      for (int j = 0; j <= Series::degree(k); ++j) {
        in_q += Series::coefficient(k, j) * std::pow(q, j);
        in_sigma += Series::sigma_coefficient(k, j) * std::pow(1 - q, j);
        size += std::fabs(Series::coefficient(k, j));
      }
      EXPECT_NEAR(in_q, in_sigma, 1e-14 * size) << "k=" << k << " q=" << q;
    }
  }
}

TEST(DebyeTest, PolynomialsOfSigma) {
  expect_same_in_sigma<detail::RatioSeries>();
  expect_same_in_sigma<detail::VarianceSeries>();
}

}  // namespace
}  // namespace radir::math
