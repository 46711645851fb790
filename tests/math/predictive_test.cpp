#include "radir/math/predictive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace {

namespace math = radir::math;
using radir::testing::expect_error;
using radir::testing::Table;
using radir::testing::WorstError;

template <typename T>
class Predictive : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Predictive, Types);

TYPED_TEST(Predictive, MatchesTheTable) {
  using T = TypeParam;
  const Table table("predictive_ll");
  // The standardised target is an argument here but not in the table: its
  // rounding is part of the error, so results are measured against
  // a (|y| + |f|)^2/(2b) too.
  WorstError<T> student("student_log_likelihood", 4);
  WorstError<T> mixture("mixture_log_likelihood, raw units", 4);
  WorstError<T> expected("expected_log_likelihood, raw units", 4);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const double std_raw = table.number(i, "target_std");
    const double target =
        (table.number(i, "y_raw") - table.number(i, "target_mean")) / std_raw;
    const auto y = static_cast<T>(target);
    const auto a = static_cast<T>(table.number(i, "a"));
    const auto b = static_cast<T>(table.number(i, "b"));
    const auto std_t = static_cast<T>(std_raw);
    const auto count = static_cast<std::size_t>(table.number(i, "S"));
    std::vector<T> outputs;
    std::vector<T> terms;
    T sum = 0;
    double size = std::fabs(std::log(std_raw)) + 1;
    for (std::size_t s = 0; s < count; ++s) {
      const auto f =
          static_cast<T>(table.number(i, "f" + std::to_string(s + 1)));
      outputs.push_back(f);
      terms.push_back(math::student_log_likelihood(y, f, a, b));
      sum += math::expected_log_likelihood(y, f, a, b);
      const double reach = std::fabs(target) + std::fabs(f);
      size = std::fmax(size, a * reach * reach / (2 * b));
    }
    const auto n = static_cast<std::int64_t>(count);

    student.add_scaled(terms[0], table.number(i, "student_ll_f1_standardised"),
                       size, describe);
    const double want = table.number(i, "predictive_ll_raw");
    mixture.add_scaled(
        math::raw_log_likelihood(
            math::mixture_log_likelihood(y, outputs.data(), n, a, b), std_t),
        want, size, describe);
    mixture.add_scaled(
        math::raw_log_likelihood(math::log_mean_exp(terms.data(), n), std_t),
        want, size, describe);
    expected.add_scaled(
        math::raw_log_likelihood(sum / static_cast<T>(count), std_t),
        table.number(i, "expected_ll_raw"), size, describe);
  }
  student.verify();
  mixture.verify();
  expected.verify();
}

/// Central differences of fourth order, error below 1e-10 here.
template <typename Function>
double derivative(Function f, double x) {
  const double h = 1e-3 * std::fabs(x);
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

TEST(Predictive, GradientsMatchDifferences) {
  const double y = 0.75;
  WorstError<double> worst("likelihood gradients against differences", 2e6);
  for (const double f : {-2.0, 0.5, 0.7, 30.0}) {
    for (const double a : {0.5, 6.0, 300.0}) {
      for (const double b : {0.05, 6.0, 900.0}) {
        const auto describe = [&] {
          return "f=" + std::to_string(f) + " a=" + std::to_string(a) +
                 " b=" + std::to_string(b);
        };
        const auto check = [&](auto value, math::LikelihoodGradient<double> g) {
          const double scale = 1 + std::fabs(value(f, a, b)) / std::fmin(a, b);
          const auto add = [&](double got, double want) {
            worst.add_scaled(got, want, std::fmax(scale, std::fabs(want)),
                             describe);
          };
          add(g.prediction,
              derivative([&](double x) { return value(x, a, b); }, f));
          add(g.shape, derivative([&](double x) { return value(f, x, b); }, a));
          add(g.rate, derivative([&](double x) { return value(f, a, x); }, b));
        };
        check(
            [&](double p, double s, double r) {
              return math::expected_log_likelihood(y, p, s, r);
            },
            math::expected_log_likelihood_gradient(y, f, a, b));
        check(
            [&](double p, double s, double r) {
              return math::student_log_likelihood(y, p, s, r);
            },
            math::student_log_likelihood_gradient(y, f, a, b));
      }
    }
  }
  worst.verify();
}

TYPED_TEST(Predictive, LogMeanExpTakesAnyScale) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const T large[] = {T(-2000), T(-2000), T(-2000)};
  EXPECT_EQ(math::log_mean_exp(large, 3), T(-2000));
  const T mixed[] = {-infinity, std::log(T(3)), -infinity, std::log(T(5))};
  EXPECT_NEAR(math::log_mean_exp(mixed, 4), std::log(T(2)),
              4 * std::numeric_limits<T>::epsilon());
  const T impossible[] = {-infinity, -infinity};
  EXPECT_EQ(math::log_mean_exp(impossible, 2), -infinity);
}

TYPED_TEST(Predictive, RejectsArgumentsOutsideTheDomain) {
  using T = TypeParam;
  using radir::DomainError;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T cases[][4] = {
      {nan, 0, 1, 1}, {0, nan, 1, 1}, {0, 0, 0, 1}, {0, 0, 1, -1}};
  for (const auto& c : cases) {
    const char* need = ": arguments must be finite and shape, rate > 0";
    const std::string s = need;
    expect_error<DomainError>(
        [&] { math::expected_log_likelihood(c[0], c[1], c[2], c[3]); },
        "expected_log_likelihood" + s);
    expect_error<DomainError>(
        [&] { math::expected_log_likelihood_gradient(c[0], c[1], c[2], c[3]); },
        "expected_log_likelihood_gradient" + s);
    expect_error<DomainError>(
        [&] { math::student_log_likelihood(c[0], c[1], c[2], c[3]); },
        "student_log_likelihood" + s);
    expect_error<DomainError>(
        [&] { math::student_log_likelihood_gradient(c[0], c[1], c[2], c[3]); },
        "student_log_likelihood_gradient" + s);
    expect_error<DomainError>(
        [&] { math::mixture_log_likelihood(c[0], &c[1], 1, c[2], c[3]); },
        "student_log_likelihood" + s);
  }
  const T values[] = {T(1), nan};
  expect_error<DomainError>([&] { math::log_mean_exp(values, 0); },
                            "log_mean_exp: need at least one value, but got 0");
  expect_error<DomainError>([&] { math::log_mean_exp(values, 2); },
                            "log_mean_exp: value 1 is not a number");
  expect_error<DomainError>(
      [&] { math::mixture_log_likelihood(T(0), values, 0, T(1), T(1)); },
      "mixture_log_likelihood: need at least one sample, but got 0");
  for (const T bad : {T(0), T(-1), nan}) {
    expect_error<DomainError>(
        [&] { math::raw_log_likelihood(T(0), bad); },
        "raw_log_likelihood: target_std must be finite and > 0, but got");
  }
}

}  // namespace
