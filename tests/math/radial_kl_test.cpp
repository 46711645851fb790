#include "radir/math/radial_kl.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace {

namespace math = radir::math;
using radir::testing::expect_error;
using radir::testing::Table;
using radir::testing::WorstError;

/// A divergence of the table: its name there, the function and its gradient.
template <typename T>
struct Family {
  const char* name;
  const char* function;
  T (*value)(T, T, T, T);
  math::KlGradient<T> (*gradient)(T, T, T, T);
  std::array<bool, 4> is_location;  // parameters that may be any number
};

template <typename T>
const std::array<Family<T>, 6>& families() {
  static const std::array<Family<T>, 6> all = {{
      {"lognormal_gamma_scale",
       "kl_lognormal_gamma",
       math::kl_lognormal_gamma<T>,
       math::kl_lognormal_gamma_gradient<T>,
       {true, false, false, false}},
      {"lognormal_invgamma",
       "kl_lognormal_inverse_gamma",
       math::kl_lognormal_inverse_gamma<T>,
       math::kl_lognormal_inverse_gamma_gradient<T>,
       {true, false, false, false}},
      {"gamma_gamma_rate",
       "kl_gamma",
       math::kl_gamma<T>,
       math::kl_gamma_gradient<T>,
       {}},
      {"weibull_weibull",
       "kl_weibull",
       math::kl_weibull<T>,
       math::kl_weibull_gradient<T>,
       {}},
      {"normal_normal",
       "kl_normal",
       math::kl_normal<T>,
       math::kl_normal_gradient<T>,
       {true, false, true, false}},
      {"lognormal_lognormal",
       "kl_lognormal",
       math::kl_lognormal<T>,
       math::kl_lognormal_gradient<T>,
       {true, false, true, false}},
  }};
  return all;
}

/// The divergence and its four derivatives.
template <typename T>
std::array<T, 5> evaluate(const Family<T>& family, std::array<T, 4> x) {
  const auto g = family.gradient(x[0], x[1], x[2], x[3]);
  return {family.value(x[0], x[1], x[2], x[3]), g.q1, g.q2, g.p1, g.p2};
}

/// How much each result changes when every argument moves by one relative unit
/// (to first order): no implementation can have an error below eps times that
/// without knowing its arguments to more digits than they have.
std::array<double, 5> sensitivity(const Family<double>& family,
                                  const std::array<double, 4>& x) {
  constexpr double kStep = 0x1p-20;
  const auto center = evaluate(family, x);
  std::array<double, 5> sum{};
  for (std::size_t i = 0; i < 4; ++i) {
    auto moved = x;
    moved[i] *= 1 + kStep;
    const auto result = evaluate(family, moved);
    for (std::size_t k = 0; k < 5; ++k) {
      sum[k] += std::fabs(result[k] - center[k]) / kStep;
    }
  }
  return sum;
}

constexpr std::array<const char*, 5> kColumns = {"kl", "dkl_dq1", "dkl_dq2",
                                                 "dkl_dp1", "dkl_dp2"};

template <typename T>
class RadialKl : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(RadialKl, Types);

TYPED_TEST(RadialKl, MatchesTheTable) {
  using T = TypeParam;
  const Table table("kl_radial");
  for (std::size_t f = 0; f < families<T>().size(); ++f) {
    const Family<T>& family = families<T>()[f];
    // Rows with condition number up to 100 meet a relative error; the others
    // (a gradient next to its zero, say) one relative to their sensitivity.
    WorstError<T> value(std::string(family.function) + ", relative", 12);
    WorstError<T> gradient(std::string(family.function) + "_gradient, relative",
                           24);
    WorstError<T> all(std::string(family.function) + ", of sensitivity", 4);
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table.text(i, "family") != family.name) continue;
      const auto describe = [&] { return table.describe(i); };
      const std::array<double, 4> x = {
          table.number(i, "q1"), table.number(i, "q2"), table.number(i, "p1"),
          table.number(i, "p2")};
      const auto scale = sensitivity(families<double>()[f], x);
      const auto got =
          evaluate(family, {static_cast<T>(x[0]), static_cast<T>(x[1]),
                            static_cast<T>(x[2]), static_cast<T>(x[3])});
      for (std::size_t k = 0; k < 5; ++k) {
        const double want = table.number(i, kColumns[k]);
        if (scale[k] <= 100 * std::fabs(want)) {
          (k == 0 ? value : gradient).add(got[k], want, describe);
        }
        all.add_scaled(got[k], want, std::fmax(std::fabs(want), scale[k]),
                       describe);
      }
    }
    value.verify();
    gradient.verify();
    all.verify();
  }
}

TYPED_TEST(RadialKl, VanishesOnlyWhereBothLawsAgree) {
  using T = TypeParam;
  for (const Family<T>& family : families<T>()) {
    const bool same_kind = family.value != math::kl_lognormal_gamma<T> &&
                           family.value != math::kl_lognormal_inverse_gamma<T>;
    if (!same_kind) continue;
    for (const T first : {T(0.01), T(0.75), T(40)}) {
      for (const T second : {T(0.02), T(1), T(500)}) {
        const auto same = evaluate(family, {first, second, first, second});
        for (const T number : same) EXPECT_EQ(number, 0) << family.function;
        // One unit in the last place away it is already positive.
        const T next = std::nextafter(second, T(1000));
        EXPECT_GT(family.value(first, next, first, second), 0)
            << family.function << " at " << first << ", " << second;
      }
    }
  }
}

TEST(RadialKl, LeastDivergenceFromHalfCauchyFactors) {
  // At shape 1/2 the best log-normal has variance 2 and divergence
  // (1 - log 2)/2, for the Gamma and for its inverse.
  const double least = (1 - std::log(2.0)) / 2;
  const double scale = 0.375;
  const double mu_gamma = std::log(scale / 2) - 1;
  const double mu_inverse = std::log(2 * scale) + 1;
  EXPECT_NEAR(math::kl_lognormal_gamma(mu_gamma, 2.0, 0.5, scale), least,
              1e-15);
  EXPECT_NEAR(math::kl_lognormal_inverse_gamma(mu_inverse, 2.0, 0.5, scale),
              least, 1e-15);
}

TYPED_TEST(RadialKl, RejectsArgumentsOutsideTheDomain) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  for (const Family<T>& family : families<T>()) {
    for (std::size_t place = 0; place < 4; ++place) {
      for (const T bad : {T(0), T(-1), nan, infinity}) {
        if (family.is_location[place] && std::isfinite(bad)) continue;
        std::array<T, 4> x = {1, 1, 1, 1};
        x[place] = bad;
        const std::string name = family.function;
        expect_error<radir::DomainError>(
            [&] { family.value(x[0], x[1], x[2], x[3]); },
            name + ": arguments must be finite and ");
        expect_error<radir::DomainError>(
            [&] { family.gradient(x[0], x[1], x[2], x[3]); },
            name + "_gradient: arguments must be finite and ");
      }
    }
  }
}

}  // namespace
