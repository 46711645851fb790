#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/bench.h"
#include "cli/settings_options.h"
#include "radir/bench/sbc.h"
#include "radir/bench/sbc_network.h"
#include "radir/core/version.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using bench::BenchSbcOptions;
using bench::BenchSbcResult;
using bench::SbcQuantity;

void print_sbc_json(const std::vector<BenchSbcResult>& results,
                    const BenchSbcOptions& options) {
  nlohmann::ordered_json json = {{"benchmark", "sbc"},
                                 {"version", version()},
                                 {"command", "radir bench sbc"},
                                 {"seed", options.seed},
                                 {"simulations", options.simulations},
                                 {"rows", options.rows},
                                 {"steps", options.steps}};
  json["quantities"] = nlohmann::ordered_json::array();
  for (const BenchSbcResult& result : results) {
    for (const SbcQuantity& quantity : result.quantities) {
      json["quantities"].push_back({{"method", result.method},
                                    {"quantity", quantity.name},
                                    {"histogram", quantity.histogram},
                                    {"chi_square", quantity.chi_square},
                                    {"p_value", quantity.p_value},
                                    {"mean_rank", quantity.mean_rank},
                                    {"spread", quantity.spread}});
    }
  }
  std::cout << json.dump(2) << "\n";
}

void print_sbc(const std::vector<BenchSbcResult>& results,
               const BenchSbcOptions& options) {
  std::cout << "Ranks of true values among posterior draws, "
            << options.simulations << " data sets of " << options.rows
            << " rows; exact: mean rank 0.5, spread 1\n\n";
  report::Table table;
  table.columns = {{"method", "method"},
                   {"quantity", "quantity"},
                   {"mean_rank", "mean rank", 3},
                   {"spread", "spread", 3},
                   {"chi_square", "chi-square", 3},
                   {"p_value", "p", 2},
                   {"histogram", "histogram"}};
  for (const BenchSbcResult& result : results) {
    for (const SbcQuantity& quantity : result.quantities) {
      std::string counts;
      for (const std::int64_t count : quantity.histogram) {
        counts += (counts.empty() ? "" : " ") + std::to_string(count);
      }
      table.rows.push_back({result.method, quantity.name, quantity.mean_rank,
                            quantity.spread, quantity.chi_square,
                            quantity.p_value, counts});
    }
  }
  std::cout << to_text(table);
}

}  // namespace

void add_bench_sbc(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchSbcOptions>();
  CLI::App* command = add_command(
      bench, invocation,
      {"sbc",
       "Check posteriors of small networks by simulation-based calibration",
       "radir bench sbc --simulations 500"},
      [options](const CommonOptions& common) {
        options->seed = common.seed;
        CommandThreads pool(common);
        const std::vector<BenchSbcResult> results =
            bench::bench_sbc(*options, &pool);
        common.json ? print_sbc_json(results, *options)
                    : print_sbc(results, *options);
      });
  command
      ->add_option(
          "--methods", options->methods,
          "Posteriors: gaussian, rdp, hmc-gaussian, hmc (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_settings_options(*command, *options);
}

}  // namespace radir::cli
