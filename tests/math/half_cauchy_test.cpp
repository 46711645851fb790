#include "radir/math/half_cauchy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace {

namespace math = radir::math;
using radir::testing::expect_error;
using radir::testing::Table;
using radir::testing::WorstError;

template <typename T>
class HalfCauchy : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(HalfCauchy, Types);

TYPED_TEST(HalfCauchy, MatchesTheTable) {
  using T = TypeParam;
  const Table table("halfcauchy_quantiles");
  WorstError<T> quantile("half_cauchy_quantile", 3);
  WorstError<T> square("its square", 6);
  WorstError<T> cdf("half_cauchy_cdf", 3);
  WorstError<T> density("half_cauchy_log_density, of max(|value|, 1)", 4);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const auto scale = static_cast<T>(table.number(i, "gamma"));
    const auto probability = static_cast<T>(table.number(i, "prob"));
    const T x = math::half_cauchy_quantile(probability, scale);
    quantile.add(x, table.number(i, "quantile"), describe);
    square.add(x * x, table.number(i, "quantile_of_square"), describe);
    cdf.add(math::half_cauchy_cdf(static_cast<T>(table.number(i, "quantile")),
                                  scale),
            table.number(i, "prob"), describe);
    const double want = std::log(table.number(i, "pdf_at_quantile"));
    density.add_scaled(math::half_cauchy_log_density(
                           static_cast<T>(table.number(i, "quantile")), scale),
                       want, std::fmax(std::fabs(want), 1), describe);
  }
  quantile.verify();
  square.verify();
  cdf.verify();
  density.verify();
}

TYPED_TEST(HalfCauchy, EndsOfTheSupport) {
  using T = TypeParam;
  EXPECT_EQ(math::half_cauchy_quantile(T(0), T(3)), 0);
  EXPECT_EQ(math::half_cauchy_cdf(T(0), T(3)), 0);
  // (x/scale)^2 overflows; the logarithm does not.
  const T huge = std::numeric_limits<T>::max();
  const T want = std::log(2 / T(math::detail::kPi)) - 2 * std::log(huge);
  EXPECT_NEAR(math::half_cauchy_log_density(huge, T(1)), want,
              std::fabs(want) * 4 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(HalfCauchy, RejectsArgumentsOutsideTheDomain) {
  using T = TypeParam;
  using radir::DomainError;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T bad : {T(-1), nan, std::numeric_limits<T>::infinity()}) {
    expect_error<DomainError>(
        [&] { math::half_cauchy_log_density(bad, T(1)); },
        "half_cauchy_log_density: need finite x >= 0 and finite scale > 0");
    expect_error<DomainError>([&] { math::half_cauchy_log_density(T(1), bad); },
                              "scale = ");
    expect_error<DomainError>(
        [&] { math::half_cauchy_cdf(bad, T(1)); },
        "half_cauchy_cdf: need finite x >= 0 and finite scale > 0");
    expect_error<DomainError>([&] { math::half_cauchy_cdf(T(1), bad); },
                              "scale = ");
    expect_error<DomainError>(
        [&] { math::half_cauchy_quantile(bad, T(1)); },
        "half_cauchy_quantile: need 0 <= probability < 1");
    expect_error<DomainError>([&] { math::half_cauchy_quantile(T(0.5), bad); },
                              "scale = ");
  }
  expect_error<DomainError>([&] { math::half_cauchy_cdf(T(1), T(0)); },
                            "scale = 0");
  expect_error<DomainError>([&] { math::half_cauchy_quantile(T(1), T(1)); },
                            "probability = 1");
}

}  // namespace
