#include "radir/reproduce/lenet.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/network/cost.h"
#include "radir/network/spec.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/run_part.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostSeeds = 1000;

workflows::CompressSettings with_network(const LenetOptions& options) {
  workflows::CompressSettings settings = options.settings;
  settings.network_name = options.dense ? "lenet300" : "lenet5";
  settings.network = options.dense ? network::lenet300() : network::lenet5();
  return settings;
}

/// What must be equal for a kept result to count.
Json key_of(const workflows::CompressSettings& settings,
            const data::ImageSplit& images) {
  return {{"settings", Json::parse(to_json(settings))},
          {"data", images.fingerprint}};
}

std::string record_of(const LenetRun& run, const Json& key) {
  const Json json = {{"key", key},
                     {"seed", run.seed},
                     {"unpruned", Json::parse(to_json(run.unpruned))},
                     {"pruned", Json::parse(to_json(run.pruned))},
                     {"fine_tuned", Json::parse(to_json(run.fine_tuned))},
                     {"seconds", run.seconds}};
  return json.dump(2) + "\n";
}

/// What record_of wrote for the same key; none for another text.
std::optional<LenetRun> run_of(const std::string& text, const Json& key) {
  try {
    const Json document = files::parse_json<Json>("result", text, {});
    files::JsonObject json(document, "result");
    if (json.at("key") != key) return std::nullopt;
    LenetRun run;
    run.seed = json.seed("seed");
    run.unpruned = workflows::figures_from_json(json.object("unpruned"));
    run.pruned = workflows::figures_from_json(json.object("pruned"));
    run.fine_tuned = workflows::figures_from_json(json.object("fine_tuned"));
    run.seconds = json.number("seconds");
    json.finish();
    return run;
  } catch (const IoError&) {
    return std::nullopt;  // damaged
  }
}

/// One seed: what an earlier process kept, or compressed here.
LenetRun run_seed(const workflows::CompressSettings& settings,
                  const data::ImageSplit& images,
                  const workflows::CompressProgress& progress,
                  const workflows::ResumableRun* run) {
  const Json key = key_of(settings, images);
  if (run != nullptr) {
    run->check_stop();
    const std::optional<std::string> text = run->result();
    if (auto kept = text ? run_of(*text, key) : std::nullopt) return *kept;
  }
  const workflows::CompressResult result =
      compress(images, settings, progress, nullptr, run);
  const LenetRun done{settings.seed, result.unpruned, result.pruned,
                      result.final_figures(), result.seconds};
  if (run != nullptr) run->keep_result(record_of(done, key));
  return done;
}

std::string joined(const std::vector<std::int64_t>& units) {
  std::string text;
  for (std::int64_t count : units) {
    text += (text.empty() ? "" : "-") + std::to_string(count);
  }
  return text;
}

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
  const Json json = {{"data_dir", options.data_dir},
                     {"seeds", options.seeds},
                     {"settings", Json::parse(to_json(options.settings))}};
  return json.dump();
}

LenetOptions lenet_options_from_json(const std::string& text, bool dense) {
  const Json document = files::parse_json<Json>("options", text, {});
  files::JsonObject json(document, "options");
  LenetOptions options;
  options.dense = dense;
  options.data_dir = json.text("data_dir");
  options.seeds = json.integer("seeds", 1, kMostSeeds);
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
  RADIR_CHECK(options.seeds >= 1 && options.seeds <= kMostSeeds, ArgumentError,
              "the number of seeds must be from 1 to ", kMostSeeds, ", but is ",
              options.seeds);
  const workflows::CompressSettings settings = with_network(options);
  std::vector<LenetRun> runs(static_cast<std::size_t>(options.seeds));
  std::vector<double> shares(runs.size());
  std::mutex one_at_a_time;
  pool.run(options.seeds, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    workflows::CompressSettings own = settings;
    own.seed = settings.seed + static_cast<std::uint64_t>(i);
    const std::string seed = std::to_string(own.seed);
    const workflows::RunPart part(run, "seed-" + seed);
    const auto report = [&](double share, const std::string& text) {
      const std::lock_guard<std::mutex> lock(one_at_a_time);
      shares[at] = share;
      double sum = 0;
      for (double s : shares) sum += s;
      if (progress) {
        progress(sum / static_cast<double>(shares.size()),
                 "seed " + seed + ", " + text);
      }
    };
    runs[at] = run_seed(own, images, report, part.get());
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    shares[at] = 1;
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

}  // namespace radir::reproduce
