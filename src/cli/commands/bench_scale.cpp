#include "radir/bench/bench_scale.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/bench.h"
#include "radir/bench/scale_model.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using bench::BenchScaleNetwork;
using bench::BenchScaleOptions;
using bench::BenchScaleResult;
using bench::BenchScaleRow;
using bench::MachinesStep;
using nlohmann::ordered_json;

/// Machines to predict for.
struct Cluster {
  std::vector<int> machines = {1, 2, 4, 8, 16, 32, 64, 100};
  double latency_us = 50;
  double gigabits = 10;
  std::int64_t weights = 0;  ///< 0: the first network that was measured
  double compute_seconds = 0;
};

bench::NetworkLink link_of(const Cluster& cluster) {
  RADIR_CHECK(cluster.latency_us >= 0 && cluster.gigabits > 0, ArgumentError,
              "bench scale: --latency must be at least 0 and --bandwidth ",
              "positive, but are ", cluster.latency_us, " and ",
              cluster.gigabits);
  RADIR_CHECK((cluster.weights > 0) == (cluster.compute_seconds > 0),
              ArgumentError, "bench scale: --weights and --compute describe ",
              "one network: give both or none");
  for (const int machines : cluster.machines) {
    bench::exchange_traffic(machines);  // refuses impossible numbers
  }
  return {1e-6 * cluster.latency_us, 1e9 / 8 * cluster.gigabits};
}

/// Of the network to predict for. Of one that was not measured, as large a
/// share is repeated as of the first that was.
bench::StepCost cost_of(const Cluster& cluster,
                        const BenchScaleResult& result) {
  bench::StepCost cost = result.networks.front().cost;
  if (cluster.weights == 0) return cost;
  const double factor =
      cluster.compute_seconds / (cost.divided_seconds + cost.repeated_seconds);
  return {factor * cost.divided_seconds, factor * cost.repeated_seconds,
          cluster.weights};
}

std::vector<MachinesStep> predict(const Cluster& cluster,
                                  const BenchScaleResult& result) {
  std::vector<MachinesStep> steps;
  for (const int machines : cluster.machines) {
    steps.push_back(bench::step_on_machines(
        cost_of(cluster, result), result.exchange, link_of(cluster), machines));
  }
  return steps;
}

void add_predicted_json(const BenchScaleResult& result, const Cluster& cluster,
                        ordered_json& json) {
  const auto described = [](const bench::ExchangeModel& exchange) {
    return ordered_json{{"level_us", 1e6 * exchange.level_seconds},
                        {"ns_per_byte", 1e9 * exchange.byte_seconds},
                        {"worst_error", exchange.worst_error}};
  };
  json["exchange"] = described(result.exchange);
  json["exchange_here"] = described(result.exchange_here);
  json["latency_us"] = cluster.latency_us;
  json["bandwidth_gbit"] = cluster.gigabits;
  json["machines"] = ordered_json::array();
  for (const MachinesStep& step : predict(cluster, result)) {
    json["machines"].push_back({{"machines", step.machines},
                                {"compute_us", 1e6 * step.compute_seconds},
                                {"exchange_us", 1e6 * step.exchange_seconds}});
  }
}

void print_scale_json(const BenchScaleResult& result, const Cluster& cluster) {
  ordered_json json = {
      {"benchmark", "scale"},  {"version", version()},
      {"cpu", cpu_name()},     {"isa", radir::to_string(active_isa())},
      {"cores", result.cores}, {"networks", ordered_json::array()}};
  for (const BenchScaleNetwork& network : result.networks) {
    auto rows = ordered_json::array();
    for (const BenchScaleRow& row : network.rows) {
      rows.push_back({{"workers", row.workers},
                      {"step_us", row.step_us},
                      {"processor_us", row.processor_us},
                      {"model_us", row.model_us}});
    }
    json["networks"].push_back(
        {{"network", network.network},
         {"batch", network.batch},
         {"numbers", network.cost.numbers},
         {"plain_us", network.plain_us},
         {"sharded_us", network.sharded_us},
         {"ratio", network.ratio},
         {"two_threads_gain", network.two_threads_gain},
         {"divided_us", 1e6 * network.cost.divided_seconds},
         {"repeated_us", 1e6 * network.cost.repeated_seconds},
         {"rows", std::move(rows)}});
  }
  if (!result.exchanges.empty()) add_predicted_json(result, cluster, json);
  std::cout << json.dump(2) << "\n";
}

void print_measured(const BenchScaleResult& result) {
  report::Table alone;
  alone.columns = {{"network", "network"},
                   {"batch", "batch"},
                   {"numbers", "numbers added up"},
                   {"plain_us", "plain (us)", 4},
                   {"sharded_us", "in shards (us)", 4},
                   {"ratio", "/ plain", 3},
                   {"threads", "gain of 2 threads", 3}};
  report::Table shared;
  shared.columns = {
      {"network", "network"},        {"workers", "workers"},
      {"step_us", "step (us)", 4},   {"gain", "1 worker / this", 3},
      {"model_us", "model (us)", 4}, {"processor_us", "processor (us)", 4}};
  for (const BenchScaleNetwork& network : result.networks) {
    alone.rows.push_back({network.network, network.batch, network.cost.numbers,
                          network.plain_us, network.sharded_us, network.ratio,
                          network.two_threads_gain});
    for (const BenchScaleRow& row : network.rows) {
      shared.rows.push_back({network.network, std::int64_t{row.workers},
                             row.step_us,
                             network.rows.front().step_us / row.step_us,
                             row.model_us, row.processor_us});
    }
  }
  std::cout << "The cost of sums that do not depend on the number of workers: "
               "one step, processor time; and the "
               "gain of a plain step from two threads, wall time\n\n"
            << to_text(alone) << "\nWorkers on this machine (" << result.cores
            << " cores): wall time of one step that they share, and processor "
               "time of all of them\n\n"
            << to_text(shared);
}

std::string throughput_text(const bench::ExchangeModel& exchange) {
  if (exchange.byte_seconds == 0) return "no measurable time per byte";
  std::ostringstream text;
  text << 1e-9 / exchange.byte_seconds << " GB/s";
  return text.str();
}

void print_exchange(const char* where, const bench::ExchangeModel& exchange) {
  std::cout << "\nThe exchange " << where << ": "
            << 1e6 * exchange.level_seconds << " us per level and "
            << throughput_text(exchange) << ", fitted within "
            << static_cast<int>(100 * exchange.worst_error) << " %\n";
}

void print_predicted(const BenchScaleResult& result, const Cluster& cluster) {
  const bench::StepCost cost = cost_of(cluster, result);
  report::Table table;
  table.columns = {{"machines", "machines"},
                   {"compute_ms", "compute (ms)", 4},
                   {"exchange_ms", "exchange (ms)", 4},
                   {"step_ms", "step (ms)", 4},
                   {"gain", "1 machine / this", 3}};
  const std::vector<MachinesStep> steps = predict(cluster, result);
  const double alone = cost.divided_seconds + cost.repeated_seconds;
  for (const MachinesStep& step : steps) {
    table.rows.push_back({std::int64_t{step.machines},
                          1e3 * step.compute_seconds,
                          1e3 * step.exchange_seconds, 1e3 * step.seconds(),
                          alone / step.seconds()});
  }
  print_exchange("on this machine", result.exchange_here);
  print_exchange("through the store", result.exchange);
  std::cout << "\nWhat to expect of machines with one worker each, "
            << cost.numbers << " numbers to add up and " << 1e3 * alone
            << " ms of compute per step\n\n"
            << to_text(table) << "\nAssumptions: a round trip takes "
            << cluster.latency_us << " us and a link carries "
            << cluster.gigabits
            << " Gbit/s in each direction;\nall sums pass the link of the "
               "machine with the store; machines are as fast as this one;\n"
            << static_cast<int>(100 * cost.repeated_seconds / alone + 0.5)
            << " % of the compute (posterior, KL, optimiser) is repeated on "
               "every machine, the rest is divided;\nnothing is computed "
               "while numbers are exchanged.\n";
}

void run_scale(BenchScaleOptions options, const Cluster& cluster,
               const CommonOptions& common) {
  link_of(cluster);  // before minutes of measuring
  options.seed = common.seed;
  const BenchScaleResult result = bench::bench_scale(options);
  if (common.json) return print_scale_json(result, cluster);
  print_measured(result);
  if (!result.exchanges.empty()) print_predicted(result, cluster);
}

}  // namespace

void add_bench_scale(CLI::App& bench, Invocation& invocation) {
  const auto options = std::make_shared<BenchScaleOptions>();
  const auto cluster = std::make_shared<Cluster>();
  CLI::App* command = add_command(
      bench, invocation,
      {"scale",
       "Time steps that several workers share; predict them for machines",
       "radir bench scale --weights 100000000 --compute 10 --bandwidth 100"},
      [options, cluster](const CommonOptions& common) {
        run_scale(*options, *cluster, common);
      });
  command
      ->add_option("--networks", options->networks,
                   "Networks: lenet5, uci or both (default: both)")
      ->type_name("NAME");
  command
      ->add_option("--workers", options->workers,
                   "Numbers of workers (default: 1 2 4 8)")
      ->type_name("N");
  command->add_option("--batch", options->batch, "Examples of a batch")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("!--through-store", options->memory,
                    "Exchange sums through the store, as workers on several "
                    "machines do, not through memory");
  command
      ->add_option("--shards", options->shards, "Number of shards of a batch")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--rounds", options->rounds,
                   "Number of rounds of each variant; the median is reported")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--machines", cluster->machines,
                   "Numbers of machines to predict for (default: 1 to 100)")
      ->type_name("N");
  command
      ->add_option("--latency", cluster->latency_us,
                   "Microseconds of a round trip between machines")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--bandwidth", cluster->gigabits,
                   "Gigabits per second of a machine's link")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--weights", cluster->weights,
                   "Weights of the network to predict for (default: those of "
                   "the first one measured)")
      ->type_name("N");
  command
      ->add_option("--compute", cluster->compute_seconds,
                   "Seconds that one machine takes for a step of it")
      ->type_name("X");
}

}  // namespace radir::cli
