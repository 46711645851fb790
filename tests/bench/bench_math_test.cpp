#include "radir/bench/bench_math.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "support/expect_error.h"

namespace radir::bench {
namespace {

using testing::expect_error;

TEST(BenchMath, MeasuresTimeAndErrorOfEveryMethod) {
  BenchMathOptions options;
  options.dimensions = {50, 2000};
  options.values = 200;
  options.repetitions = 3;
  const BenchMathResult result = bench_math(options);
  const bool with_boost = result.has("boost");
  ASSERT_EQ(result.rows.size(), 2u * (with_boost ? 8 : 6));
  for (const BenchMathRow& row : result.rows) {
    EXPECT_GT(row.ns_per_value, 0) << row.method;
    if (row.method == "array" || row.method == "scalar") {
      EXPECT_LE(row.error_eps, 4) << row.method << " " << row.precision;
      EXPECT_EQ(row.failed_share, 0) << row.method << " " << row.precision;
    }
  }
  // 0.036/nu^2 is the error of the average of bounds.
  EXPECT_NEAR(result.row(50, "bounds", "double").error_eps * 2.2e-16,
              0.036 / (25 * 25), 1e-5);
  if (!with_boost) return;
  // The quotient of two Bessel functions over- or underflows at most values.
  EXPECT_GT(result.row(2000, "boost", "double").failed_share, 0.5);
  // Measured: some 230 times. Far less is left when the machine is busy.
  EXPECT_GT(result.row(50, "boost", "double").ns_per_value,
            20 * result.row(50, "array", "double").ns_per_value);
}

TEST(BenchMath, RejectsBadOptions) {
  const auto run = [](auto change) {
    BenchMathOptions options;
    change(options);
    bench_math(options);
  };
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.values = 0; }); },
      "values must be positive");
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.repetitions = 0; }); },
      "repetitions must be positive");
  expect_error<ArgumentError>(
      [&] { run([](auto& options) { options.dimensions = {1}; }); },
      "dimensions must be in [2, 1e9], but got 1");
  expect_error<ArgumentError>(
      [] { BenchMathResult().row(2, "array", "float"); },
      "no row of dimension 2");
}

}  // namespace
}  // namespace radir::bench
