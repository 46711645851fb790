#include "radir/reproduce/bessel_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/table.h"
#include "support/worst_error.h"

namespace radir::reproduce {
namespace {

using ::radir::testing::Table;
using ::radir::testing::WorstError;

// Beyond this the slow formulas take too long, and no figure goes there.
constexpr double kLargest = 1e6;

TEST(BesselReference, RatioIsRightToTheLastDigitOfDouble) {
  const Table table("bessel_ratio");
  WorstError<double> worst("reference_bessel_ratio", 0.51);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double z = table.number(i, "z");
    if (z <= 0 || z > kLargest) continue;
    worst.add(
        static_cast<double>(reference_bessel_ratio(table.number(i, "nu"), z)),
        table.number(i, "ratio"), [&] { return table.describe(i); });
  }
  worst.verify();
}

TEST(BesselReference, LogIsRightToTheLastDigitOfDouble) {
  const Table table("log_bessel");
  WorstError<double> worst("reference_log_bessel_i", 0.51);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double nu = table.number(i, "nu");
    const double z = table.number(i, "z");
    if (z <= 0 || z > kLargest) continue;
    const double want = table.number(i, "log_i");
    worst.add_scaled(static_cast<double>(reference_log_bessel_i(nu, z)), want,
                     std::max(std::fabs(want), std::hypot(nu, z)),
                     [&] { return table.describe(i); });
  }
  worst.verify();
}

}  // namespace
}  // namespace radir::reproduce
