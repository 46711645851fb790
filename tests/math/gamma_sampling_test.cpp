#include "radir/math/gamma_sampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"
#include "support/table.h"
#include "support/worst_error.h"

namespace radir::math {
namespace {

using radir::testing::Table;
using radir::testing::WorstError;

template <typename T>
void expect_table_agrees(double allowed_eps) {
  const Table table("gamma_sample_derivative");
  WorstError<T> worst("gamma_sample_derivative", allowed_eps);
  for (std::size_t row = 0; row < table.size(); ++row) {
    const T shape = static_cast<T>(table.number(row, "shape"));
    const T x = static_cast<T>(table.number(row, "x"));
    worst.add(gamma_sample_derivative(shape, x),
              table.number(row, "derivative"),
              [&] { return table.describe(row); });
  }
  worst.verify();
}

TEST(GammaSampleDerivative, AgreesWithTableInDouble) {
  expect_table_agrees<double>(10);
}

TEST(GammaSampleDerivative, AgreesWithTableInFloat) {
  expect_table_agrees<float>(1);
}

TEST(GammaSampleDerivative, RefusesValuesOutsideItsDomain) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(gamma_sample_derivative(bad, 1.0), DomainError);
    EXPECT_THROW(gamma_sample_derivative(1.0, bad), DomainError);
  }
  testing::expect_error<DomainError>([] { gamma_sample_derivative(-2.5, 1.0); },
                                     "but got -2.5 and 1");
}

}  // namespace
}  // namespace radir::math
