#include "radir/reproduce/uci.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "radir/core/error.h"
#include "radir/data/data_dir.h"
#include "radir/data/fingerprint.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/options.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/posterior/grouping.h"
#include "radir/train/model.h"
#include "radir/workflows/run_part.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"
#include "reproduce/uci_fit.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kRestarts = 5;
/// As the article takes them.
constexpr std::int64_t kPublishedSamples = 100;
constexpr std::int64_t kQuickSplits = 5;
/// Splits at a time on a device.
constexpr std::size_t kMostWaiting = 256;
const char* const kQuickSets[] = {"bostonHousing", "concrete", "energy",
                                  "wine-quality-red", "yacht"};

/// One prior to try.
struct Prior {
  posterior::Grouping grouping;
  double direction_gap;
};

/// Which one wins depends on how much a set's rows say about its weights: the
/// wider the gap, the more cautious the fit.
constexpr Prior kPriors[] = {
    {posterior::Grouping::Double, 1e-2}, {posterior::Grouping::Double, 3e-3},
    {posterior::Grouping::Double, 1e-3}, {posterior::Grouping::Row, 1e-2},
    {posterior::Grouping::Row, 3e-3},    {posterior::Grouping::Row, 1e-3},
};

std::vector<workflows::TableSettings> candidates(const UciOptions& options,
                                                 std::int64_t rows,
                                                 std::int64_t hidden_units,
                                                 likelihood::Kind noise) {
  std::vector<workflows::TableSettings> result;
  const std::int64_t steps = uci_steps(options, rows);
  for (const Prior& prior : kPriors) {
    workflows::TableSettings settings;
    settings.method = "rdp";
    settings.hidden = {hidden_units};
    settings.noise = noise;
    settings.target_scale = workflows::TargetScale::Own;
    settings.grouping = prior.grouping;
    settings.direction_gap = prior.direction_gap;
    settings.steps = steps;
    settings.restarts = kRestarts;
    settings.seed = options.seed;
    result.push_back(settings);
  }
  return result;
}

std::string describe(const workflows::TableSettings& settings) {
  return fmt::format("{} {:g}, {} steps",
                     posterior::to_string(*settings.grouping),
                     settings.direction_gap, settings.steps);
}

UciNoiseResult run_noise_model(
    const data::Table& table, const data::UciSplit& split,
    const std::vector<workflows::TableSettings>& settings, Device device,
    const workflows::ResumableRun* run) {
  const workflows::TableTrial best = workflows::best_trial(
      mean_trials(table, split, settings,
                  repetitions_of(static_cast<std::int64_t>(split.train.size())),
                  device, run));
  const data::TableEncoder encoder = data::TableEncoder::fit(
      table, "target", data::MissingValues::Refuse, split.train);
  const data::EncodedRows train = encoder.encode(table, true, split.train);
  const data::EncodedRows test = encoder.encode(table, true, split.test);
  workflows::TableModel model = workflows::fit_networks(
      encoder, train, best.settings, nullptr, Execution(device, nullptr), run);

  UciNoiseResult result;
  result.chosen = describe(best.settings);
  result.validation = best.log_likelihood;
  const std::uint64_t seed = best.settings.seed;
  result.mixture = uci_score(model, test, seed);
  model.networks.resize(1);
  model.weights.clear();
  result.single = uci_score(model, test, seed);
  if (best.settings.noise == likelihood::Kind::Gaussian) {
    result.published_estimator =
        workflows::TablePredictor(model, kPublishedSamples, seed)
            .published_estimator(test);
  }
  return result;
}

UciSplitResult run_split(const UciOptions& options, const data::UciSet& set,
                         const data::Table& table, std::int64_t split,
                         const workflows::ResumableRun* run) {
  const auto start = std::chrono::steady_clock::now();
  const data::UciSplit& rows = set.splits[static_cast<std::size_t>(split)];
  const auto train_rows = static_cast<std::int64_t>(rows.train.size());
  const auto with_noise = [&](likelihood::Kind noise) {
    const workflows::RunPart part(run, likelihood::to_string(noise));
    return run_noise_model(
        table, rows, candidates(options, train_rows, set.hidden_units, noise),
        options.device, part.get());
  };
  UciSplitResult result;
  result.set = set.name;
  result.split = split;
  // A device trains both at once.
  ThreadPool pool(options.device == Device::Cpu ? 1 : 2);
  pool.run(2, [&](std::int64_t i) {
    if (i == 0) result.gaussian = with_noise(likelihood::Kind::Gaussian);
    if (i == 1) {
      result.predicted_noise = with_noise(likelihood::Kind::PredictedNoise);
    }
  });
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}

// Results of splits that are kept in a run.

/// What must be equal for a kept result to count.
std::string configuration(const UciOptions& options, const std::string& data) {
  Json json = {
      {"data", data},           {"seed", options.seed},
      {"samples", kUciSamples}, {"published_samples", kPublishedSamples},
      {"restarts", kRestarts},  {"repetitions", kSmallSetRepetitions},
      {"tunes_noise", true}};  // not in version 0.1
  Json tried = Json::array();
  for (std::int64_t rows : {kSmallSet - 1, kSmallSet}) {
    for (const workflows::TableSettings& settings :
         candidates(options, rows, 1, likelihood::Kind::Gaussian)) {
      tried.push_back(Json::parse(workflows::to_json(settings)));
    }
  }
  json["candidates"] = std::move(tried);
  if (options.device != Device::Cpu) json["device"] = to_string(options.device);
  return json.dump();
}

Json to_json(const UciNoiseResult& result) {
  return {{"chosen", result.chosen},
          {"validation", result.validation},
          {"single", to_json(result.single)},
          {"mixture", to_json(result.mixture)},
          {"published_estimator", result.published_estimator}};
}

std::string to_json(const UciSplitResult& result,
                    const std::string& configuration) {
  const Json json = {{"configuration", configuration},
                     {"set", result.set},
                     {"split", result.split},
                     {"gaussian", to_json(result.gaussian)},
                     {"predicted_noise", to_json(result.predicted_noise)},
                     {"seconds", result.seconds}};
  return json.dump(2) + "\n";
}

UciNoiseResult noise_result_from(files::JsonObject json) {
  UciNoiseResult result;
  result.chosen = json.text("chosen");
  result.validation = number_from(json, "validation");
  result.single = score_from(json.object("single"));
  result.mixture = score_from(json.object("mixture"));
  result.published_estimator = number_from(json, "published_estimator");
  json.finish();
  return result;
}

/// What to_json wrote for the same configuration; none for another text.
std::optional<UciSplitResult> split_result_from(
    const std::string& text, const std::string& configuration) {
  try {
    const Json document = files::parse_json<Json>("result", text, {});
    files::JsonObject json(document, "result");
    if (json.text("configuration") != configuration) return std::nullopt;
    UciSplitResult result;
    result.set = json.text("set");
    result.split = json.integer("split");
    result.gaussian = noise_result_from(json.object("gaussian"));
    result.predicted_noise = noise_result_from(json.object("predicted_noise"));
    result.seconds = json.number("seconds");
    json.finish();
    return result;
  } catch (const IoError&) {
    return std::nullopt;  // damaged
  }
}

/// One split to do; steps cost about as much as the network has weights.
struct Task {
  const data::UciSet* set;
  const data::Table* table;
  std::int64_t split;
  double work;
  workflows::RunPart part;

  /// The result of an earlier process, if it counts.
  std::optional<UciSplitResult> kept(const std::string& configuration) const {
    if (part.get() == nullptr) return std::nullopt;
    const std::optional<std::string> text = part.get()->result();
    auto found = text ? split_result_from(*text, configuration) : std::nullopt;
    const bool right =
        found && found->set == set->name && found->split == split;
    return right ? found : std::nullopt;
  }

  UciSplitResult run(const UciOptions& options,
                     const std::string& configuration) const {
    if (part.get() != nullptr) part.get()->check_stop();
    UciSplitResult result = run_split(options, *set, *table, split, part.get());
    if (part.get() != nullptr) {
      part.get()->keep_result(to_json(result, configuration));
    }
    return result;
  }
};

std::vector<Task> tasks_of(const std::vector<data::UciSet>& sets,
                           const std::vector<data::Table>& tables,
                           const workflows::ResumableRun* run) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const data::UciSet& set = sets[i];
    const double weights =
        static_cast<double>(set.hidden_units * (set.features + 2));
    const auto splits = static_cast<std::int64_t>(set.splits.size());
    for (std::int64_t split = 0; split < splits; ++split) {
      tasks.push_back({&set, &tables[i], split, 300 + weights,
                       workflows::RunPart(
                           run, fmt::format("{}-split-{}", set.name, split))});
    }
  }
  // Large ones first, so that no thread is left with one at the end.
  std::stable_sort(
      tasks.begin(), tasks.end(),
      [](const Task& a, const Task& b) { return a.work > b.work; });
  return tasks;
}

}  // namespace

std::string to_json(const UciOptions& options) {
  Json json = {{"data_dir", options.data_dir}, {"sets", options.sets},
               {"splits", options.splits},     {"quick", options.quick},
               {"steps", options.steps},       {"seed", options.seed}};
  if (!options.methods.empty()) {
    json["methods"] = options.methods;
    json["restarts"] = options.restarts;
  }
  return json.dump();
}

UciOptions uci_options_from_json(const std::string& text) {
  const Json document = files::parse_json<Json>("options", text, {});
  files::JsonObject json(document, "options");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  UciOptions options;
  options.data_dir = json.text("data_dir");
  options.sets = json.strings("sets");
  options.splits = json.integer("splits", 0, kMost);
  options.quick = json.boolean("quick");
  options.steps = json.integer("steps", 0, kMost);
  options.seed = json.seed("seed");
  if (json.has("methods")) {  // not in version 0.1
    options.methods = json.strings("methods");
    options.restarts = json.integer("restarts", 1, kMost);
  }
  json.finish();
  return options;
}

std::vector<data::UciSet> read_uci_sets(const UciOptions& options) {
  RADIR_CHECK(options.splits >= 0, ArgumentError,
              "the number of splits must be at least 1, but is ",
              options.splits);
  RADIR_CHECK(options.steps >= 0, ArgumentError,
              "the number of steps must be at least 1, but is ", options.steps);
  std::vector<std::string> names = options.sets;
  if (names.empty() && options.quick) {
    names.assign(std::begin(kQuickSets), std::end(kQuickSets));
  }
  if (names.empty()) names = data::uci_set_names();
  const std::int64_t wanted =
      options.splits == 0 && options.quick ? kQuickSplits : options.splits;
  std::vector<data::UciSet> sets;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    data::UciSet set =
        data::read_uci(data::data_set_dir(options.data_dir, "uci/" + name));
    RADIR_CHECK(seen.insert(set.name).second, ArgumentError, "the set ",
                set.name, " is asked for twice");
    const auto there = static_cast<std::int64_t>(set.splits.size());
    if (wanted > 0 && wanted < there) {
      set.splits.resize(static_cast<std::size_t>(wanted));
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

std::string fingerprint(const std::vector<data::UciSet>& sets) {
  data::Fingerprint fingerprint;
  for (const data::UciSet& set : sets) {
    fingerprint.add(std::vector{set.features, set.hidden_units});
    fingerprint.add(set.inputs);
    fingerprint.add(set.targets);
    for (const data::UciSplit& split : set.splits) {
      fingerprint.add(split.train);
      fingerprint.add(split.test);
    }
  }
  return fingerprint.text();
}

const UciNoiseResult& UciSplitResult::tuned() const {
  return predicted_noise.validation > gaussian.validation ? predicted_noise
                                                          : gaussian;
}

std::vector<UciSplitResult> run_uci(const UciOptions& options,
                                    const std::vector<data::UciSet>& sets,
                                    ThreadPool& pool,
                                    const UciProgress& progress,
                                    const workflows::ResumableRun* run) {
  std::vector<data::Table> tables;
  for (const data::UciSet& set : sets) tables.push_back(data::to_table(set));
  const std::vector<Task> tasks = tasks_of(sets, tables, run);
  const std::string key = configuration(options, fingerprint(sets));
  // Threads that train on a device wait for it most of the time, and it trains
  // what all of them ask for side by side.
  std::optional<ThreadPool> waiting;
  if (options.device != Device::Cpu) {
    waiting.emplace(static_cast<int>(std::min(tasks.size(), kMostWaiting)));
  }
  return run_left<UciSplitResult>(
      tasks, waiting ? *waiting : pool,
      [&](const Task& task) { return task.kept(key); },
      [&](const Task& task) { return task.run(options, key); }, progress);
}

}  // namespace radir::reproduce
