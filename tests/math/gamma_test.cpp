#include "radir/math/gamma.h"

#include <gtest/gtest.h>

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

template <typename T>
class Gamma : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Gamma, Types);

TYPED_TEST(Gamma, MatchesTheTable) {
  using T = TypeParam;
  const Table table("gamma");
  WorstError<T> log_gamma("log_gamma", 4);
  WorstError<T> digamma("digamma, of max(|psi|, 1)", 3);
  WorstError<T> trigamma("trigamma", 4);
  WorstError<T> half_step("log_gamma_half_step, of max(|value|, 1)", 3);
  WorstError<T> half_digamma("digamma_half_step", 8);
  WorstError<T> remainder("stirling_remainder", 3);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const auto x = static_cast<T>(table.number(i, "x"));
    log_gamma.add(math::log_gamma(x), table.number(i, "log_gamma"), describe);
    const double psi = table.number(i, "digamma");
    digamma.add_scaled(math::digamma(x), psi, std::fmax(std::fabs(psi), 1),
                       describe);
    const double half = table.number(i, "log_gamma_half_step");
    half_step.add_scaled(math::log_gamma_half_step(x), half,
                         std::fmax(std::fabs(half), 1), describe);
    half_digamma.add(math::detail::digamma_half_step(x),
                     table.number(i, "digamma_half_step"), describe);
    remainder.add(math::detail::stirling_remainder(x),
                  table.number(i, "stirling_remainder"), describe);
    const double psi1 = table.number(i, "trigamma");
    if (psi1 < std::numeric_limits<T>::max()) {
      trigamma.add(math::trigamma(x), psi1, describe);
    }
  }
  log_gamma.verify();
  digamma.verify();
  trigamma.verify();
  half_step.verify();
  half_digamma.verify();
  remainder.verify();
}

TYPED_TEST(Gamma, ZerosAreExact) {
  using T = TypeParam;
  EXPECT_EQ(math::log_gamma(T(1)), 0);
  EXPECT_EQ(math::log_gamma(T(2)), 0);
}

TYPED_TEST(Gamma, RejectsWhatIsNotPositive) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  for (const T bad : {T(0), T(-1.5), nan, infinity}) {
    using radir::DomainError;
    expect_error<DomainError>([&] { math::log_gamma(bad); },
                              "log_gamma: x must be finite and > 0, but got");
    expect_error<DomainError>([&] { math::digamma(bad); },
                              "digamma: x must be finite and > 0, but got");
    expect_error<DomainError>([&] { math::trigamma(bad); },
                              "trigamma: x must be finite and > 0, but got");
    expect_error<DomainError>(
        [&] { math::log_gamma_half_step(bad); },
        "log_gamma_half_step: a must be finite and > 0, but got");
  }
}

template <typename T>
class Phi : public ::testing::Test {};
TYPED_TEST_SUITE(Phi, Types);

TYPED_TEST(Phi, MatchesHigherPrecision) {
  using T = TypeParam;
  WorstError<T> phi("phi", 3);
  WorstError<T> of_ratio("phi_of_ratio", 3);
  const auto check = [&](T t) {
    const auto describe = [&] { return std::to_string(t); };
    // In extended precision, where |t| is not small; by Taylor's series else.
    const auto wide = static_cast<long double>(t);
    long double want = wide - std::log1p(wide);
    if (std::fabs(t) < 0.01) {
      want = 0;
      for (int k = 14; k >= 2; --k) want = 1.0L / k - wide * want;
      want *= wide * wide;
    }
    phi.add(math::phi(t), static_cast<double>(want), describe);
  };
  for (T size = T(1e-12); size < 1e6; size *= T(1.25)) {
    check(size);
    if (size < 1) check(-size);
  }
  phi.verify();
  // phi(x/y - 1) at x/y = 2^-k is 2^-k - 1 + k log 2.
  for (int k = 1; k < 100; ++k) {
    const double ratio = std::ldexp(1.0, -k);
    of_ratio.add(math::detail::phi_of_ratio(static_cast<T>(3 * ratio), T(3)),
                 ratio - 1 + k * 0.69314718055994530942,
                 [&] { return "2^-" + std::to_string(k); });
  }
  of_ratio.verify();
}

TYPED_TEST(Phi, RejectsMinusOneAndBelow) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T bad : {T(-1), T(-2), nan}) {
    expect_error<radir::DomainError>([&] { math::phi(bad); },
                                     "phi: t must be finite and > -1, but got");
  }
}

}  // namespace
