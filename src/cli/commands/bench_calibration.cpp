#include "radir/bench/bench_calibration.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/bench.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "radir/bench/calibration_tables.h"
#include "radir/core/version.h"

namespace radir::cli {
namespace {

using bench::BenchCalibrationOptions;
using bench::BenchCalibrationRow;
using bench::CalibrationMean;
using bench::CalibrationRegion;

/// "rdp, mean-field"
template <typename Entry>
std::string names_of(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    text += (text.empty() ? "" : ", ") + entry.name;
  }
  return text;
}

nlohmann::ordered_json calibration_json(const BenchCalibrationRow& row) {
  auto regions = nlohmann::ordered_json::object();
  for (const CalibrationRegion& region : row.regions) {
    auto& scores = regions[to_string(region.region)];
    for (const CalibrationMean& mean : region.means) {
      scores[mean.name] = {{"mean", mean.mean},
                           {"stderr", mean.standard_error}};
    }
  }
  return {{"process", row.process}, {"rows", row.rows},
          {"hidden", row.hidden},   {"method", row.method},
          {"seeds", row.seeds},     {"failed", row.failed},
          {"seconds", row.seconds}, {"regions", std::move(regions)}};
}

void print_calibration_json(const std::vector<BenchCalibrationRow>& rows,
                            const BenchCalibrationOptions& options) {
  nlohmann::ordered_json json = {{"benchmark", "calibration"},
                                 {"version", version()},
                                 {"command", "radir bench calibration"},
                                 {"seed", options.seed},
                                 {"seeds", *options.seeds},
                                 {"test_rows", *options.test_rows},
                                 {"steps", *options.steps},
                                 {"rows", nlohmann::ordered_json::array()}};
  for (const BenchCalibrationRow& row : rows) {
    json["rows"].push_back(calibration_json(row));
  }
  std::cout << json.dump(2) << "\n";
}

void print_calibration(const std::vector<BenchCalibrationRow>& rows,
                       const BenchCalibrationOptions& options) {
  std::cout << "New rows where the training rows are: mean over "
            << *options.seeds << " data sets and standard error, "
            << *options.test_rows << " test rows each, " << *options.steps
            << " training steps\n\n"
            << to_text(bench::calibration_table(rows))
            << "\nBy region: the error of the mean, and the standard deviation "
               "claimed for it\n\n"
            << to_text(bench::calibration_region_table(rows));
  for (const BenchCalibrationRow& row : rows) {
    if (row.failed == 0) continue;
    say(row.process + ", " + std::to_string(row.rows) + " rows, " +
        bench::hidden_text(row.hidden) + ", " + row.method + ": " +
        std::to_string(row.failed) + " trainings failed and are not counted");
  }
}

void run_calibration(BenchCalibrationOptions options,
                     const CommonOptions& common) {
  options.seed = common.seed;
  options = bench::with_defaults(std::move(options));
  CommandThreads pool(common);
  std::vector<BenchCalibrationRow> rows;
  {
    Progress progress;
    rows = bench::bench_calibration(
        options, &pool, [&](const BenchCalibrationRow& row, double share) {
          progress.show(
              share, row.process + ", " + std::to_string(row.rows) + " rows, " +
                         bench::hidden_text(row.hidden) + ", " + row.method +
                         " done, " +
                         std::to_string(static_cast<int>(100 * share)) +
                         " % of all");
        });
  }
  common.json ? print_calibration_json(rows, options)
              : print_calibration(rows, options);
}

}  // namespace

void add_bench_calibration(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchCalibrationOptions>();
  CLI::App* command = add_command(
      bench, invocation,
      {"calibration",
       "Compare error bars with the truth on simulated tables; takes an hour",
       "radir bench calibration --quick"},
      [options](const CommonOptions& common) {
        run_calibration(*options, common);
      });
  const auto add_names = [&](const char* option,
                             std::vector<std::string>& names,
                             const std::string& help) {
    command->add_option(option, names, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("NAME,...");
  };
  add_names("--processes", options->processes,
            "Simulated tables: " + names_of(bench::simulated_processes()) +
                " (default: all; quick: the first two)");
  add_names("--methods", options->methods,
            "Methods: " + names_of(bench::calibration_methods()) +
                " (default: rdp,mean-field)");
  command
      ->add_option_function<std::vector<std::string>>(
          "--hidden",
          [options](const std::vector<std::string>& texts) {
            options->hidden.clear();
            for (const std::string& text : texts) {
              options->hidden.push_back(bench::parse_hidden(text));
            }
          },
          "Networks: units of each hidden layer, with x between layers "
          "(default: 50,50x50; quick: 20)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NxN,...");
  add_settings_options(*command, *options);
}

}  // namespace radir::cli
