#include "radir/math/radius.h"

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
class Radius : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Radius, Types);

TYPED_TEST(Radius, MatchesTheTable) {
  using T = TypeParam;
  using Law = math::LogNormalLaw<T>;
  const Table table("lognormal_radius");
  WorstError<T> mean("lognormal_mean of the radius", 8);
  WorstError<T> variance("lognormal_variance of the radius", 12);
  WorstError<T> second("lognormal_second_moment of the radius", 12);
  // A log-mode may pass through zero: measured against the means it adds up.
  WorstError<T> whole("radius_log_mode, of sum |mu|", 2);
  WorstError<T> local("local_radius_log_mode, of sum |mu|", 2);
  WorstError<T> product("factor_product_log_mode, of sum |mu|", 2);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const auto law = [&](const char* mu, const char* s2) {
      return Law{static_cast<T>(table.number(i, mu)),
                 static_cast<T>(table.number(i, s2))};
    };
    const Law alpha = law("mu_alpha", "s2_alpha");
    const Law beta = law("mu_beta", "s2_beta");
    const Law s_a = law("mu_sa", "s2_sa");
    const Law s_b = law("mu_sb", "s2_sb");
    const Law r = math::radius(alpha, beta, s_a, s_b);

    const double want_mean = table.number(i, "mean_r");
    const double want_variance = table.number(i, "var_r");
    mean.add(math::lognormal_mean(r), want_mean, describe);
    variance.add(math::lognormal_variance(r), want_variance, describe);
    second.add(math::lognormal_second_moment(r),
               want_variance + want_mean * want_mean, describe);

    const double size = std::fabs(alpha.mu) + std::fabs(beta.mu) +
                        std::fabs(s_a.mu) + std::fabs(s_b.mu);
    whole.add_scaled(math::radius_log_mode(alpha, beta, s_a, s_b),
                     table.number(i, "log_mode_r"), size, describe);
    local.add_scaled(math::local_radius_log_mode(alpha, beta),
                     table.number(i, "log_mode_local"), size, describe);
    product.add_scaled(math::factor_product_log_mode(alpha, beta),
                       table.number(i, "log_mode_alpha_beta_product"), size,
                       describe);
  }
  mean.verify();
  variance.verify();
  second.verify();
  whole.verify();
  local.verify();
  product.verify();
}

TEST(Radius, TheTwoLocalStatisticsRankGroupsDifferently) {
  using Law = math::LogNormalLaw<double>;
  const Law certain = {-1.0, 0.0};
  const Law spread = {-0.5, 0.75};
  EXPECT_GT(math::local_radius_log_mode(spread, spread),
            math::local_radius_log_mode(certain, certain));
  EXPECT_LT(math::factor_product_log_mode(spread, spread),
            math::factor_product_log_mode(certain, certain));
}

TYPED_TEST(Radius, RejectsLawsOutsideTheDomain) {
  using T = TypeParam;
  using Law = math::LogNormalLaw<T>;
  using radir::DomainError;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Law bad : {Law{0, -1}, Law{nan, 1}, Law{0, nan}}) {
    const char* need = ": mu must be finite and variance finite and >= 0";
    const auto message = [&](const char* name) {
      return std::string(name) + need + ", but got LogNormal(";
    };
    expect_error<DomainError>([&] { math::lognormal_mean(bad); },
                              message("lognormal_mean"));
    expect_error<DomainError>([&] { math::lognormal_variance(bad); },
                              message("lognormal_variance"));
    expect_error<DomainError>([&] { math::lognormal_second_moment(bad); },
                              message("lognormal_second_moment"));
    expect_error<DomainError>([&] { math::lognormal_log_mode(bad); },
                              message("lognormal_log_mode"));
    expect_error<DomainError>([&] { math::local_radius_log_mode(bad, bad); },
                              message("lognormal_log_mode"));
  }
}

}  // namespace
