#include "radir/math/matrix_normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/table.h"

namespace {

namespace math = radir::math;
using radir::DomainError;
using radir::testing::expect_error;
using radir::testing::Table;

TEST(MatrixNormal, DivergencesMatchTheTable) {
  const Table table("matrix_normal");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const double count = table.number(i, "count");
    const double squares = table.number(i, "squares");
    const double log_scales = table.number(i, "log_scales");
    const auto near = [](double got, double wanted) {
      EXPECT_NEAR(got, wanted, 1e-13 * std::max(1.0, std::abs(wanted)));
    };
    near(math::kl_matrix_normal(count, squares, log_scales),
         table.number(i, "kl_known"));
    const auto q = math::product_precision(count, squares);
    near(q.shape, table.number(i, "shape"));
    near(q.rate, table.number(i, "rate"));
    const double unknown = table.number(i, "kl_unknown");
    // The terms of a large layer are far above their sum.
    EXPECT_NEAR(math::kl_matrix_normal(count, squares, log_scales, q), unknown,
                1e-13 * std::max(10.0, 10 * std::abs(unknown)));
  }
}

// M = [[.1, -.2, .3], [.4, 0, -.5]], scales (.5, 1) and (.2, 1, 2).
TEST(MatrixNormal, AgreesWithASumOverWeights) {
  const double squares = 1.25 * 5.04 + 0.55;
  const double log_scales = 3 * std::log(0.5) + 2 * std::log(0.4);
  EXPECT_NEAR(math::kl_matrix_normal(6.0, squares, log_scales),
              4.337023005428146, 1e-14);
  // The precisions at their priors.
  EXPECT_NEAR(math::kl_matrix_normal(6.0, squares, log_scales, {1.0, 0.5}),
              13.91643391147767, 1e-13);
}

TEST(MatrixNormal, RelativeNoiseMatchesTheTable) {
  const Table table("relative_noise");
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(table.describe(i));
    const double alpha = table.number(i, "alpha");
    EXPECT_NEAR(math::relative_noise_entropy(alpha), table.number(i, "entropy"),
                1e-14);
    EXPECT_NEAR(math::relative_noise_entropy_slope(alpha),
                table.number(i, "slope"), 1e-14);
  }
  EXPECT_NEAR(math::relative_noise_entropy(0.005), -2.643388904816117, 1e-14);
  EXPECT_NEAR(math::relative_noise_entropy(1e-4), -4.605054055883917, 1e-14);
}

TEST(MatrixNormal, RejectsWhatItIsNotDefinedFor) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_error<DomainError>([&] { math::product_precision(0.0, 1.0); },
                            "product_precision: need finite count > 0");
  expect_error<DomainError>([&] { math::product_precision(1.0, nan); },
                            "product_precision: need finite count > 0");
  expect_error<DomainError>([&] { math::kl_matrix_normal(1.0, -1.0, 0.0); },
                            "kl_matrix_normal: need finite count > 0");
  expect_error<DomainError>([&] { math::relative_noise_entropy(0.0); },
                            "alpha must be finite and > 0");
  expect_error<DomainError>([&] { math::relative_noise_entropy_slope(-1.0); },
                            "alpha must be finite and > 0");
}

}  // namespace
