#include "cli/commands/bench.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "radir/bench/bench_math.h"
#include "radir/core/cpu.h"
#include "radir/core/version.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using bench::BenchMathOptions;
using bench::BenchMathResult;
using bench::BenchMathRow;

nlohmann::ordered_json to_json(const BenchMathResult& result) {
  auto rows = nlohmann::ordered_json::array();
  for (const BenchMathRow& row : result.rows) {
    rows.push_back({{"m", row.dimension},
                    {"method", row.method},
                    {"precision", row.precision},
                    {"ns_per_value", row.ns_per_value},
                    {"error_eps", row.error_eps},
                    {"failed_share", row.failed_share}});
  }
  return {{"benchmark", "math"},
          {"version", version()},
          {"cpu", cpu_name()},
          {"isa", radir::to_string(active_isa())},
          {"rows", std::move(rows)}};
}

/// What stands where a method was not timed.
constexpr const char* kNotBuiltIn = "not built in";

/// An empty table with a column per method, and these.
report::Table method_table(const std::vector<report::Column>& more) {
  report::Table table;
  table.columns = {{"m", "m", 7},
                   {"array", "array", 3},
                   {"array_float", "array float", 3},
                   {"scalar", "scalar", 3},
                   {"bounds", "bounds", 3},
                   {"boost", "Boost", 3}};
  table.columns.insert(table.columns.end(), more.begin(), more.end());
  return table;
}

/// One row per dimension: times, and how many times as long as ours the others
/// take.
report::Table time_table(const BenchMathResult& result,
                         const std::set<double>& dimensions) {
  report::Table table = method_table({{"boost_double", "Boost double", 3},
                                      {"bounds_ratio", "bounds/array", 3},
                                      {"boost_ratio", "Boost/array", 3}});
  for (const double m : dimensions) {
    const auto ns = [&](const char* method, const char* precision) {
      return result.row(m, method, precision).ns_per_value;
    };
    const double array = ns("array", "double");
    const double bounds = ns("bounds", "double");
    report::Cell boost = kNotBuiltIn;
    report::Cell boost_double = kNotBuiltIn;
    report::Cell boost_ratio = kNotBuiltIn;
    if (result.has("boost")) {
      boost = ns("boost", "double");
      boost_double = ns("boost_double", "double");
      boost_ratio = ns("boost", "double") / array;
    }
    table.rows.push_back({m, array, ns("array", "float"),
                          ns("scalar", "double"), bounds, boost, boost_double,
                          bounds / array, boost_ratio});
  }
  return table;
}

/// One row per dimension: largest errors, and what Boost cannot give.
report::Table error_table(const BenchMathResult& result,
                          const std::set<double>& dimensions) {
  report::Table table = method_table({{"boost_failed", "Boost fails (%)", 3}});
  for (const double m : dimensions) {
    const auto error = [&](const char* method,
                           const char* precision) -> report::Cell {
      if (!result.has(method)) return kNotBuiltIn;
      const BenchMathRow& row = result.row(m, method, precision);
      if (row.failed_share == 1) return std::monostate{};
      return row.error_eps;
    };
    report::Cell boost_failed = kNotBuiltIn;
    if (result.has("boost")) {
      boost_failed = 100 * result.row(m, "boost", "double").failed_share;
    }
    table.rows.push_back({m, error("array", "double"), error("array", "float"),
                          error("scalar", "double"), error("bounds", "double"),
                          error("boost", "double"), boost_failed});
  }
  return table;
}

void print_math(const BenchMathResult& result) {
  std::set<double> dimensions;
  for (const BenchMathRow& row : result.rows) dimensions.insert(row.dimension);
  std::cout << "Bessel ratio I_{m/2}/I_{m/2-1}, one thread, " << cpu_name()
            << ", " << radir::to_string(active_isa()) << " kernels\n"
            << "\nNanoseconds per value (double unless named)\n\n"
            << to_text(time_table(result, dimensions))
            << "\nLargest error in eps\n\n"
            << to_text(error_table(result, dimensions));
}

void add_math(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchMathOptions>();
  CLI::App* command = add_command(
      bench, invocation,
      {"math", "Compare speed and accuracy of Bessel ratios; takes a minute",
       "radir bench math --dimensions 50 100 2000"},
      [options](const CommonOptions& common) {
        options->seed = common.seed;
        const BenchMathResult result = bench::bench_math(*options);
        if (common.json) {
          std::cout << to_json(result).dump(2) << "\n";
        } else {
          print_math(result);
        }
      });
  command
      ->add_option("--dimensions", options->dimensions,
                   "Dimensions of the directions")
      ->type_name("M");
  command
      ->add_option("--values", options->values,
                   "Number of concentrations per dimension")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--repetitions", options->repetitions,
                   "Number of runs of each method; the median is reported")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void add_bench(CLI::App& root, Invocation& invocation) {
  CLI::App* bench = add_group(
      root, {"bench", "Measure speed and accuracy", "radir bench math"});
  add_math(*bench, invocation);
  add_bench_step(*bench, invocation);
  add_bench_predict(*bench, invocation);
  add_bench_scale(*bench, invocation);
  add_bench_calibration(*bench, invocation);
  add_bench_sbc(*bench, invocation);
}

}  // namespace radir::cli
