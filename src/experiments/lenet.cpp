#include "radir/experiments/lenet.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "experiments/fingerprint.h"
#include "radir/core/error.h"
#include "radir/io/atomic_file.h"
#include "radir/io/byte_source.h"

namespace radir::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestRecord = 1 << 20;

/// What identifies the result of one run.
Json key_of(const CompressSettings& settings, const ImageSplit& images) {
  return {{"settings", Json::parse(to_json(settings))},
          {"data", images.fingerprint}};
}

Json record_of(const NetworkFigures& figures) {
  return {{"architecture", figures.architecture},
          {"flops", figures.cost.flops},
          {"parameters", figures.cost.parameters},
          {"train_error", figures.train_error},
          {"test_error", figures.test_error},
          {"bayes_test_error", figures.bayes_test_error},
          {"microseconds_per_image", figures.microseconds_per_image}};
}

NetworkFigures figures_of(const Json& json) {
  NetworkFigures figures;
  figures.architecture = json.at("architecture");
  figures.cost.flops = json.at("flops");
  figures.cost.parameters = json.at("parameters");
  figures.train_error = json.at("train_error");
  figures.test_error = json.at("test_error");
  figures.bayes_test_error = json.at("bayes_test_error");
  figures.microseconds_per_image = json.at("microseconds_per_image");
  return figures;
}

/// A finished run, if the file holds one of the same settings and data.
std::optional<LenetRun> read_record(const std::string& file, const Json& key) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    const Json json =
        Json::parse(io::read_all(*io::open_byte_source(file), kLargestRecord));
    if (json.at("key") != key) return std::nullopt;
    return LenetRun{json.at("seed"), figures_of(json.at("unpruned")),
                    figures_of(json.at("pruned")),
                    figures_of(json.at("fine_tuned")), json.at("seconds")};
  } catch (const Json::exception&) {
    return std::nullopt;  // a file of another kind is written over
  }
}

void write_record(const std::string& file, const Json& key,
                  const LenetRun& run) {
  const Json json = {{"key", key},
                     {"seed", run.seed},
                     {"unpruned", record_of(run.unpruned)},
                     {"pruned", record_of(run.pruned)},
                     {"fine_tuned", record_of(run.fine_tuned)},
                     {"seconds", run.seconds}};
  io::write_file(file, json.dump(2) + "\n");
}

std::string joined(const std::vector<std::int64_t>& units) {
  std::string text;
  for (std::int64_t count : units) {
    text += (text.empty() ? "" : "-") + std::to_string(count);
  }
  return text;
}

kernels::Select first_features(std::int64_t count) {
  kernels::Select select;
  for (std::int64_t i = 0; i < count; ++i) select.indices.push_back(i);
  return select;
}

}  // namespace

const std::vector<PublishedNetwork>& published_lenet(bool dense) {
  // Oh, Adamczewski, Park 2019, Table 2, and the papers it quotes.
  static const std::vector<PublishedNetwork> convolutional = {
      {"RDP (article)", {4, 7, 110, 66}, 0.010},
      {"BC-GNJ", {8, 13, 88, 13}, 0.010},
      {"BC-GHS", {5, 10, 76, 16}, 0.010},
      {"FDOO (100K)", {2, 7, 112, 478}, 0.011},
      {"FDOO (200K)", {3, 8, 128, 499}, 0.010},
      {"GL", {3, 12, 192, 500}, 0.010},
      {"GD", {7, 13, 208, 16}, 0.011},
      {"SBP", {3, 18, 284, 283}, 0.0086}};
  static const std::vector<PublishedNetwork> plain = {
      {"SBP", {245, 160, 55}, 0.016},
      {"L0", {266, 88, 33}, 0.016},
      {"VIB", {97, 71, 33}, 0.016}};
  return dense ? plain : convolutional;
}

prune::Cost published_cost(const PublishedNetwork& network) {
  using kernels::Conv2d;
  using kernels::Dense;
  const auto& u = network.units;
  if (u.size() == 3) {
    return prune::cost({{784, 1, 1},
                        {first_features(u[0]), Dense{u[1]}, kernels::Relu{},
                         Dense{u[2]}, kernels::Relu{}, Dense{10}}});
  }
  const kernels::MaxPool2d halve{{2, 2}, {2, 2}};
  return prune::cost(
      {{1, 28, 28},
       {Conv2d{u[0], {5, 5}}, halve, Conv2d{u[1], {5, 5}}, halve,
        first_features(u[2]), Dense{u[3]}, kernels::Relu{}, Dense{10}}});
}

std::vector<LenetRun> run_lenet(const LenetOptions& options, ThreadPool& pool,
                                const CompressProgress& progress) {
  RADIR_CHECK(options.seeds >= 1 && options.seeds <= 1000, ArgumentError,
              "the number of seeds must be from 1 to 1000, but is ",
              options.seeds);
  CompressSettings settings = options.settings;
  settings.network_name = options.dense ? "lenet300" : "lenet5";
  settings.network = options.dense ? train::lenet300() : train::lenet5();
  const ImageSplit images = read_images("mnist", options.data_dir, 0);
  if (!options.out.empty()) {
    std::error_code error;
    fs::create_directories(options.out, error);
    RADIR_CHECK(!error, IoError, "cannot make the folder ", options.out, ": ",
                error.message());
  }
  std::vector<LenetRun> runs(static_cast<std::size_t>(options.seeds));
  std::vector<double> shares(runs.size());
  std::mutex one_at_a_time;
  pool.run(options.seeds, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    CompressSettings own = settings;
    own.seed = settings.seed + static_cast<std::uint64_t>(i);
    const Json key = key_of(own, images);
    const std::string file = options.out + "/" + own.network_name + "-seed-" +
                             std::to_string(own.seed) + ".json";
    if (!options.out.empty()) {
      if (const auto found = read_record(file, key)) {
        runs[at] = *found;
        shares[at] = 1;
        return;
      }
    }
    const CompressResult result =
        compress(images, own, [&](double share, const std::string& text) {
          const std::lock_guard<std::mutex> lock(one_at_a_time);
          shares[at] = share;
          double sum = 0;
          for (double s : shares) sum += s;
          if (progress) {
            progress(sum / static_cast<double>(shares.size()),
                     "seed " + std::to_string(own.seed) + ", " + text);
          }
        });
    runs[at] = {own.seed, result.unpruned, result.pruned,
                result.final_figures(), result.seconds};
    if (!options.out.empty()) write_record(file, key, runs[at]);
  });
  return runs;
}

const LenetRun& median_run(const std::vector<LenetRun>& runs) {
  RADIR_CHECK(!runs.empty(), ArgumentError, "there are no runs");
  std::vector<const LenetRun*> sorted;
  for (const LenetRun& run : runs) sorted.push_back(&run);
  std::sort(sorted.begin(), sorted.end(),
            [](const LenetRun* a, const LenetRun* b) {
              return a->fine_tuned.test_error < b->fine_tuned.test_error;
            });
  return *sorted[(sorted.size() - 1) / 2];
}

report::Table lenet_table(const LenetOptions& options,
                          const std::vector<LenetRun>& runs) {
  report::Table table;
  table.columns = {{"method", "method"},
                   {"architecture", "architecture"},
                   {"test_error", "test error (%)", 3},
                   {"flops", "FLOPs"},
                   {"parameters", "parameters"}};
  for (const PublishedNetwork& network : published_lenet(options.dense)) {
    const prune::Cost cost = published_cost(network);
    table.rows.push_back({network.method, joined(network.units),
                          100 * network.error, cost.flops, cost.parameters});
  }
  const auto add = [&](const std::string& name, const NetworkFigures& figures) {
    table.rows.push_back({name, figures.architecture, 100 * figures.test_error,
                          figures.cost.flops, figures.cost.parameters});
  };
  for (const LenetRun& run : runs) {
    const std::string seed = "radir, seed " + std::to_string(run.seed);
    add(seed + ", pruned", run.pruned);
    add(seed + ", fine-tuned", run.fine_tuned);
  }
  add("radir, median of the seeds", median_run(runs).fine_tuned);
  return table;
}

}  // namespace radir::experiments
