#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace radir::bench {

struct BenchMathOptions {
  std::vector<double> dimensions = {2, 10, 50, 100, 500, 2000, 1e4, 1e6};
  std::int64_t values = 4096;  ///< concentrations per dimension
  int repetitions = 15;        ///< of which the median is reported
  std::uint64_t seed = 1;
};

/// How one method evaluates A_m(kappa) = I_{m/2}(kappa)/I_{m/2-1}(kappa).
struct BenchMathRow {
  double dimension = 0;
  std::string method;     ///< see bench_math
  std::string precision;  ///< "double" or "float"
  double ns_per_value = 0;
  double error_eps = 0;     ///< largest relative error of the usable values
  double failed_share = 0;  ///< of the values that are NaN, infinite or 0
};

struct BenchMathResult {
  std::vector<BenchMathRow> rows;

  /// Whether the method was timed: "boost" only where Boost was built in.
  bool has(const std::string& method) const;
  /// Throws ArgumentError when there is none.
  const BenchMathRow& row(double dimension, const std::string& method,
                          const std::string& precision) const;
};

/// Time and accuracy of the Bessel ratio for concentrations spread evenly in
/// the logarithm from 0.03 m to 10 m, one thread, the methods taking turns:
/// "array" (kernels::dispatched_bessel_ratio), "scalar" (math::bessel_ratio),
/// "bounds" (kernels::article::dispatched_ratio_average_theorem5), each in both
/// precisions, and in double the quotient of two boost::math::cyl_bessel_i:
/// "boost" as it comes (it computes in long double) and "boost_double" told to
/// stay in double, on as many of the values as their slowness allows; these two
/// only where Boost was there when this was built. Errors are measured against
/// a continued fraction in long double. Throws ArgumentError for options that
/// are not positive or a dimension below 2.
BenchMathResult bench_math(const BenchMathOptions& options = {});

}  // namespace radir::bench
