#include "radir/bench/bench_step.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/bench.h"
#include "radir/bench/bench_cuda.h"
#include "radir/bench/bench_methods.h"
#include "radir/core/cpu.h"
#include "radir/core/device.h"
#include "radir/core/version.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using bench::BenchPredictOptions;
using bench::BenchPredictResult;
using bench::BenchPredictRow;
using bench::BenchStepOptions;
using bench::BenchStepResult;
using bench::BenchStepRow;
using nlohmann::ordered_json;

/// What every benchmark's document says about where it ran.
ordered_json document(const char* benchmark, const std::string& libtorch) {
  return {{"benchmark", benchmark},
          {"version", version()},
          {"libtorch", libtorch},
          {"cpu", cpu_name()},
          {"isa", radir::to_string(active_isa())},
          {"rows", ordered_json::array()}};
}

void print_machine(const std::string& libtorch) {
  std::cout << cpu_name() << ", " << radir::to_string(active_isa())
            << " kernels, libtorch " << libtorch << "\n\n";
}

void print_steps_json(const BenchStepResult& result) {
  ordered_json json = document("step", result.libtorch);
  json["peak_memory_mib"] = result.peak_memory_mib;
  for (const BenchStepRow& row : result.rows) {
    json["rows"].push_back({{"network", row.network},
                            {"batch", row.batch},
                            {"variant", row.variant},
                            {"threads", row.threads},
                            {"median_us", row.median_us},
                            {"min_us", row.min_us}});
  }
  std::cout << json.dump(2) << "\n";
}

void print_steps(const BenchStepResult& result) {
  std::cout << "One training step (sample, forward, KL, backward, Adam), ";
  print_machine(result.libtorch);
  report::Table table;
  table.columns = {{"network", "network"},          {"batch", "batch"},
                   {"threads", "threads"},          {"variant", "variant"},
                   {"median_us", "median (us)", 4}, {"min_us", "min (us)", 4},
                   {"ratio", "/ deterministic", 3}};
  const bool threaded = result.rows.back().threads > 1;
  if (threaded) table.columns.push_back({"gain", "1 thread / this", 3});
  for (const BenchStepRow& row : result.rows) {
    const double baseline =
        result.row(row.network, row.batch, "deterministic", row.threads)
            .median_us;
    table.rows.push_back({row.network, row.batch, std::int64_t{row.threads},
                          row.variant, row.median_us, row.min_us,
                          row.median_us / baseline});
    if (threaded) {
      const char* alone =
          row.variant == "apart" ? "compiled" : row.variant.c_str();
      table.rows.back().push_back(
          result.row(row.network, row.batch, alone, 1).median_us /
          row.median_us);
    }
  }
  std::cout << to_text(table) << "\npeak memory of the process: "
            << static_cast<int>(result.peak_memory_mib) << " MiB\n";
}

void time_methods(bench::BenchMethodsOptions options, bool json) {
  const auto rows = bench::bench_methods(options);
  if (!json) {
    std::cout << "One compiled training step of a 13-50-1 network, batches of "
              << options.batch << ", " << cpu_name() << "\n\n"
              << to_text(bench::bench_methods_table(rows));
    return;
  }
  ordered_json document = {{"benchmark", "step-methods"},
                           {"version", version()},
                           {"cpu", cpu_name()},
                           {"isa", radir::to_string(active_isa())},
                           {"rows", ordered_json::array()}};
  for (const bench::BenchMethodsRow& row : rows) {
    document["rows"].push_back({{"family", row.family},
                                {"median_us", row.median_us},
                                {"min_us", row.min_us},
                                {"ratio", row.ratio}});
  }
  std::cout << document.dump(2) << "\n";
}

/// Steps of a small network and of LeNet-5 on one core and on a GPU.
void time_cuda(const CommonOptions& common) {
  bench::BenchCudaOptions options;
  options.seed = common.seed;
  const bench::BenchCudaResult result = bench::bench_cuda(options);
  report::Table table;
  table.columns = {{"network", "network"},
                   {"device", "device"},
                   {"networks", "networks"},
                   {"step_us", "step (us)", 4},
                   {"network_us", "per network (us)", 4},
                   {"speed", "of one core", 4}};
  ordered_json document = {
      {"benchmark", "step"},  {"version", version()},
      {"cpu", cpu_name()},    {"isa", radir::to_string(active_isa())},
      {"gpu", result.device}, {"rows", ordered_json::array()}};
  for (const bench::BenchCudaRow& row : result.rows) {
    table.rows.push_back({row.network, row.device, row.networks, row.step_us,
                          row.network_us, row.speed});
    document["rows"].push_back({{"network", row.network},
                                {"device", row.device},
                                {"networks", row.networks},
                                {"step_us", row.step_us},
                                {"network_us", row.network_us},
                                {"speed", row.speed}});
  }
  if (common.json) {
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::cout << "Training steps, batches of 100, " << result.device
            << " beside one core of " << cpu_name() << "\n\n"
            << to_text(table);
}

void print_predictions_json(const BenchPredictResult& result) {
  ordered_json json = document("predict", result.libtorch);
  for (const BenchPredictRow& row : result.rows) {
    json["rows"].push_back({{"rows", row.rows},
                            {"samples", row.samples},
                            {"variant", row.variant},
                            {"threads", row.threads},
                            {"median_us", row.median_us},
                            {"min_us", row.min_us}});
  }
  std::cout << json.dump(2) << "\n";
}

void print_predictions(const BenchPredictResult& result) {
  std::cout << "Predictions of a 13-50-1 network, ";
  print_machine(result.libtorch);
  report::Table table;
  table.columns = {{"rows", "rows"},          {"samples", "samples"},
                   {"variant", "variant"},    {"median_us", "median (us)", 4},
                   {"min_us", "min (us)", 4}, {"ratio", "loop / this", 3}};
  for (const BenchPredictRow& row : result.rows) {
    table.rows.push_back(
        {row.rows, row.samples, row.variant, row.median_us, row.min_us,
         result.row(row.rows, "loop").median_us / row.median_us});
  }
  std::cout << to_text(table);
}

}  // namespace

void add_bench_step(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchStepOptions>();
  const auto methods = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      bench, invocation,
      {"step", "Compare complete training steps with libtorch",
       "radir bench step --networks lenet5 --threads 2", /*on_cuda=*/true},
      [options, methods](const CommonOptions& common) {
        options->seed = common.seed;
        if (common.device == Device::Cuda) return time_cuda(common);
        if (*methods) {
          bench::BenchMethodsOptions own;
          own.rounds = options->rounds;
          own.seed = common.seed;
          return time_methods(own, common.json);
        }
        if (common.threads > 1) options->threads = {1, common.threads};
        const BenchStepResult result = bench::bench_step(*options);
        common.json ? print_steps_json(result) : print_steps(result);
      });
  command
      ->add_option("--networks", options->networks,
                   "Networks: uci, lenet5 or both (default: both)")
      ->type_name("NAME");
  command->add_flag("--methods", *methods,
                    "Instead, compare the families of posteriors with each "
                    "other on the UCI network; needs no libtorch");
  command
      ->add_option("--rounds", options->rounds,
                   "Number of rounds of each variant; the median is reported")
      ->type_name("N")
      ->capture_default_str();
}

void add_bench_predict(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchPredictOptions>();
  CLI::App* command = add_command(
      bench, invocation,
      {"predict", "Compare predictions with many weight samples with a loop",
       "radir bench predict --samples 100 --rows 1 10000"},
      [options](const CommonOptions& common) {
        options->seed = common.seed;
        if (common.threads > 0) options->threads = common.threads;
        const BenchPredictResult result = bench::bench_predict(*options);
        common.json ? print_predictions_json(result)
                    : print_predictions(result);
      });
  command->add_option("--rows", options->rows, "Numbers of rows per prediction")
      ->type_name("N");
  command->add_option("--samples", options->samples, "Number of weight samples")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--rounds", options->rounds,
                   "Number of rounds of each variant; the median is reported")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace radir::cli
