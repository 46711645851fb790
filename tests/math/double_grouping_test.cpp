#include "radir/math/double_grouping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
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
class DoubleGrouping : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(DoubleGrouping, Types);

TYPED_TEST(DoubleGrouping, WeightMomentsMatchTheTable) {
  using T = TypeParam;
  using Direction = math::DirectionMoments<T>;
  const Table table("hadamard_moments");
  WorstError<T> mean("double_grouping_weight mean", 16);
  WorstError<T> variance("double_grouping_weight variance", 24);
  WorstError<T> second("double_grouping_weight second moment", 24);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto describe = [&] { return table.describe(i); };
    const auto number = [&](const char* column) {
      return static_cast<T>(table.number(i, column));
    };
    const auto row = Direction::make(number("m_row"), number("kappa_row"));
    const auto column = Direction::make(number("m_col"), number("kappa_col"));
    const auto got = math::double_grouping_weight(
        math::lognormal_moments<T>({number("M_row"), number("V_row")}), row,
        number("mu_row_ij"),
        math::lognormal_moments<T>({number("M_col"), number("V_col")}), column,
        number("mu_col_ij"));
    const double want_mean = table.number(i, "mean_W");
    const double want_variance = table.number(i, "var_W");
    mean.add(got.mean, want_mean, describe);
    variance.add(got.variance, want_variance, describe);
    second.add(got.second(), want_variance + want_mean * want_mean, describe);
  }
  mean.verify();
  variance.verify();
  second.verify();
}

/// A small layer row for the pre-activation: everything a test needs.
struct Row {
  static constexpr int kLength = 5;
  double kappa_row = 7;
  double kappa_column = 3;
  double column_length = 4;
  std::vector<double> mu, nu, x;
  std::vector<math::Moments<double>> local;
  math::Moments<double> radius = math::lognormal_moments<double>({-0.25, 0.3});
  math::Moments<double> shared = math::lognormal_moments<double>({0.5, 0.2});

  Row() {
    std::mt19937_64 engine(3);
    std::normal_distribution<double> normal;
    double norm = 0;
    for (int j = 0; j < kLength; ++j) {
      mu.push_back(normal(engine));
      norm += mu[j] * mu[j];
      nu.push_back(std::tanh(normal(engine)));
      x.push_back(normal(engine));
      local.push_back(math::lognormal_moments<double>({normal(engine), 0.4}));
    }
    for (double& component : mu) component /= std::sqrt(norm);
  }
};

TEST(DoubleGrouping, PreactivationMatchesTheDirectFormula) {
  // E[h^2] = sum_j E[W_j^2] x_j^2
  //        + E[r^2] A A+ E[g^2] ((sum_j a_j)^2 - sum_j a_j^2),
  // a_j = mu_j E[l_j] A_c nu_j x_j, A A+ = 1 - m A/kappa.
  const Row r;
  const double m = Row::kLength;
  using Direction = math::DirectionMoments<double>;
  const auto row = Direction::make(m, r.kappa_row);
  const auto column = Direction::make(r.column_length, r.kappa_column);
  const double axial = 1 - m * row.across_variance;

  double mean = 0;
  double second = 0;
  double sum = 0;
  double sum_of_squares = 0;
  for (int j = 0; j < Row::kLength; ++j) {
    const auto w = math::double_grouping_weight(
        r.radius, row, r.mu[j], math::product(r.local[j], r.shared), column,
        r.nu[j]);
    mean += w.mean * r.x[j];
    second += w.second() * r.x[j] * r.x[j];
    const double a =
        r.mu[j] * r.local[j].mean * column.mean_cosine * r.nu[j] * r.x[j];
    sum += a;
    sum_of_squares += a * a;
  }
  second += r.radius.second() * axial * r.shared.second() *
            (sum * sum - sum_of_squares);

  const auto got = math::double_grouping_preactivation(
      r.radius, row, r.mu.data(), r.local.data(), r.shared, column, r.nu.data(),
      r.x.data(), Row::kLength);
  EXPECT_NEAR(got.mean, mean, 1e-14 * std::fabs(mean));
  EXPECT_NEAR(got.second(), second, 1e-14 * second);
}

TEST(DoubleGrouping, CertainWeightsLeaveNoVariance) {
  // Radii without spread and directions all but fixed: the variance is that of
  // the directions alone, (m-1)/kappa small, where E[W^2] - E[W]^2 would be
  // rounding noise.
  const auto row = math::DirectionMoments<double>::make(4.0, 1e12);
  const math::Moments<double> one = {1, 0};
  const auto w = math::double_grouping_weight(one, row, 0.5, one, row, 0.5);
  // Var = 2 * 0.25 * (3/4)/kappa to first order.
  EXPECT_NEAR(w.variance, 0.375e-12, 1e-20);
}

TYPED_TEST(DoubleGrouping, RejectsArgumentsOutsideTheDomain) {
  using T = TypeParam;
  using radir::DomainError;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const T bad : {T(-1), nan}) {
    expect_error<DomainError>(
        [&] { math::DirectionMoments<T>::make(T(4), bad); }, "kappa");
    expect_error<DomainError>(
        [&] {
          math::lognormal_moments<T>({0, bad});
        },
        "LogNormal(");
  }
}

}  // namespace
