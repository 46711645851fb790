#include "radir/reproduce/lenet.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/network/cost.h"
#include "radir/network/spec.h"
#include "radir/report/chart.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"
#include "reproduce/lenet_run.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;

network::Select first_features(std::int64_t count) {
  network::Select select;
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

network::Cost published_cost(const PublishedNetwork& network) {
  using network::Conv2d;
  using network::Dense;
  const auto& u = network.units;
  if (u.size() == 3) {
    return network::cost({{784, 1, 1},
                          {first_features(u[0]), Dense{u[1]}, network::Relu{},
                           Dense{u[2]}, network::Relu{}, Dense{10}}});
  }
  const network::MaxPool2d halve{{2, 2}, {2, 2}};
  return network::cost(
      {{1, 28, 28},
       {Conv2d{u[0], {5, 5}}, halve, Conv2d{u[1], {5, 5}}, halve,
        first_features(u[2]), Dense{u[3]}, network::Relu{}, Dense{10}}});
}

LenetOptions default_lenet_options(bool dense) {
  LenetOptions options;
  options.dense = dense;
  // Chosen on training images kept aside: all units of a dense network cost
  // about the same, and more of them can go.
  if (dense) options.settings.pressure = 18;
  return options;
}

std::string to_json(const LenetOptions& options) {
  Json json = {{"data_dir", options.data_dir},
               {"seeds", options.seeds},
               {"settings", Json::parse(to_json(options.settings))}};
  if (!options.methods.empty()) json["methods"] = options.methods;
  return json.dump();
}

LenetOptions lenet_options_from_json(const std::string& text, bool dense) {
  const Json document = files::parse_json<Json>("options", text, {});
  files::JsonObject json(document, "options");
  LenetOptions options;
  options.dense = dense;
  options.data_dir = json.text("data_dir");
  options.seeds = json.integer("seeds", 1, kMostSeeds);
  if (json.has("methods")) options.methods = json.strings("methods");
  try {
    options.settings =
        workflows::compress_settings_from_json(json.section("settings"));
    check(with_network(options));
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>("options.settings: ", error.what());
  }
  json.finish();
  return options;
}

std::vector<LenetRun> run_lenet(const LenetOptions& options,
                                const data::ImageSplit& images,
                                ThreadPool& pool,
                                const workflows::CompressProgress& progress,
                                const workflows::ResumableRun* run) {
  check_seeds(options.seeds);
  std::vector<LenetTask> tasks;
  for (std::int64_t i = 0; i < options.seeds; ++i) {
    LenetTask task{"", "", with_network(options)};
    task.settings.seed += static_cast<std::uint64_t>(i);
    const std::string seed = std::to_string(task.settings.seed);
    task.part = "seed-" + seed;
    task.label = "seed " + seed;
    tasks.push_back(std::move(task));
  }
  return run_lenet_tasks(tasks, images, pool, progress, run);
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
    const network::Cost cost = published_cost(network);
    table.rows.push_back({network.method, joined(network.units),
                          100 * network.error, cost.flops, cost.parameters});
  }
  const auto add = [&](const std::string& name,
                       const workflows::NetworkFigures& figures) {
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

report::Figure score_figure(const LenetRun& run) {
  constexpr std::size_t kBins = 40;
  report::Figure figure;
  figure.caption =
      "Scores of the units of each layer of seed " + std::to_string(run.seed) +
      ": of those that were removed, at that time, and of the others after "
      "the last removal. With rdp a score is the sum of the log-modes of two "
      "radii.";
  for (std::size_t l = 0; l < run.scores.size(); ++l) {
    const workflows::LayerScores& layer = run.scores[l];
    if (layer.kept.empty()) continue;
    report::Chart chart;
    chart.title = "Inputs of layer " + std::to_string(l + 1);
    chart.x.label = "score";
    chart.y.label = "units";
    chart.y.min = 0;
    if (!layer.removed.empty()) {
      chart.series.push_back(
          report::histogram("removed", layer.removed, kBins));
    }
    chart.series.push_back(report::histogram("kept", layer.kept, kBins));
    figure.panels.push_back(report::to_svg(chart));
  }
  return figure;
}

report::Page lenet_page(const LenetOptions& options,
                        const std::vector<LenetRun>& runs) {
  report::Page page;
  page.title = options.dense ? "LeNet-300-100 on MNIST" : "LeNet-5 on MNIST";
  page.lead =
      "Networks from which units were removed during training, beside "
      "published ones. FLOPs and parameters are counted with biases, by one "
      "formula.";
  report::Section section;
  section.title = "Networks";
  section.blocks.emplace_back(report::TableBlock{lenet_table(options, runs),
                                                 "Errors on the test images."});
  const report::Figure scores = score_figure(median_run(runs));
  if (!scores.panels.empty()) section.blocks.emplace_back(scores);
  page.sections.push_back(std::move(section));
  return page;
}

}  // namespace radir::reproduce
