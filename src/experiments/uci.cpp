#include "radir/experiments/uci.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/experiments/tabular_predictor.h"
#include "radir/experiments/tabular_source.h"
#include "radir/io/atomic_file.h"
#include "radir/io/byte_source.h"
#include "radir/io/data_dir.h"

namespace radir::experiments {
namespace {

using Json = nlohmann::ordered_json;
using train::Likelihood;

constexpr std::int64_t kRestarts = 5;
constexpr std::int64_t kSamples = 200;
/// As the article takes them.
constexpr std::int64_t kPublishedSamples = 100;
constexpr std::int64_t kQuickSplits = 5;
constexpr std::size_t kMaxResultBytes = std::size_t{1} << 20;
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

/// Sets with fewer training rows than this are small: a held-out fifth says
/// little there, so several are tried, and long training gains nothing.
constexpr std::int64_t kSmallSet = 2000;
constexpr int kSmallSetRepetitions = 3;

std::int64_t steps_of(const UciOptions& options, std::int64_t rows) {
  if (options.steps > 0) return options.steps;
  if (options.quick) return 10000;
  return rows < kSmallSet ? 20000 : 40000;
}

std::vector<TabularSettings> candidates(const UciOptions& options,
                                        std::int64_t rows,
                                        std::int64_t hidden_units,
                                        Likelihood::Kind noise) {
  std::vector<TabularSettings> result;
  const std::int64_t steps = steps_of(options, rows);
  for (const Prior& prior : kPriors) {
    TabularSettings settings;
    settings.hidden = {hidden_units};
    settings.noise = noise;
    settings.grouping = prior.grouping;
    settings.direction_gap = prior.direction_gap;
    settings.steps = steps;
    settings.restarts = kRestarts;
    settings.seed = options.seed;
    result.push_back(settings);
  }
  return result;
}

std::string describe(const TabularSettings& settings) {
  return fmt::format("{} {:g}, {} steps",
                     posterior::to_string(settings.grouping),
                     settings.direction_gap, settings.steps);
}

UciScore score(const TabularModel& model, const EncodedRows& test,
               std::uint64_t seed) {
  TabularPredictor predictor(model, kSamples, seed);
  const ColumnCode& code = model.encoder.target();
  UciScore result;
  double squares = 0;
  predictor.regression(test, [&](std::int64_t row, const PredictiveMixture& p) {
    const double target =
        code.mean +
        code.scale *
            static_cast<double>(test.targets[static_cast<std::size_t>(row)]);
    result.log_likelihood += p.log_density(target);
    squares += (target - p.mean()) * (target - p.mean());
    const double probability = p.cdf(target);
    if (probability >= 0.05 && probability <= 0.95) result.coverage_90 += 1;
  });
  const double count = static_cast<double>(test.count);
  result.log_likelihood /= count;
  result.rmse = std::sqrt(squares / count);
  result.coverage_90 /= count;
  return result;
}

/// The candidates' scores, means over several held-out parts for small sets.
std::vector<TabularTrial> mean_trials(
    const io::Table& table, const io::UciSplit& split,
    const std::vector<TabularSettings>& settings) {
  const int repetitions =
      static_cast<std::int64_t>(split.train.size()) < kSmallSet
          ? kSmallSetRepetitions
          : 1;
  std::vector<TabularTrial> means;
  for (const TabularSettings& candidate : settings)
    means.push_back({candidate});
  for (int i = 0; i < repetitions; ++i) {
    std::vector<TabularSettings> seeded = settings;
    for (TabularSettings& candidate : seeded) {
      candidate.seed = restart_seed(candidate.seed, i);
    }
    const auto trials = compare_candidates(
        table, "target", MissingValues::Refuse, split.train, seeded);
    for (std::size_t k = 0; k < means.size(); ++k) {
      means[k].log_likelihood += trials[k].log_likelihood / repetitions;
    }
  }
  return means;
}

UciNoiseResult run_noise_model(const io::Table& table,
                               const io::UciSplit& split,
                               const std::vector<TabularSettings>& settings) {
  const TabularTrial best = best_trial(mean_trials(table, split, settings));
  const TableEncoder encoder =
      TableEncoder::fit(table, "target", MissingValues::Refuse, split.train);
  const EncodedRows train = encoder.encode(table, true, split.train);
  const EncodedRows test = encoder.encode(table, true, split.test);
  TabularModel model = fit_tabular(encoder, train, best.settings);

  UciNoiseResult result;
  result.chosen = describe(best.settings);
  result.validation = best.log_likelihood;
  const std::uint64_t seed = best.settings.seed;
  result.mixture = score(model, test, seed);
  model.networks.resize(1);
  result.single = score(model, test, seed);
  if (best.settings.noise == Likelihood::Kind::Gaussian) {
    result.published_estimator =
        TabularPredictor(model, kPublishedSamples, seed)
            .published_estimator(test);
  }
  return result;
}

UciSplitResult run_split(const UciOptions& options, const io::UciSet& set,
                         const io::Table& table, std::int64_t split) {
  const auto start = std::chrono::steady_clock::now();
  const io::UciSplit& rows = set.splits[static_cast<std::size_t>(split)];
  const auto train_rows = static_cast<std::int64_t>(rows.train.size());
  UciSplitResult result;
  result.set = set.name;
  result.split = split;
  result.gaussian =
      run_noise_model(table, rows,
                      candidates(options, train_rows, set.hidden_units,
                                 Likelihood::Kind::Gaussian));
  result.predicted_noise =
      run_noise_model(table, rows,
                      candidates(options, train_rows, set.hidden_units,
                                 Likelihood::Kind::PredictedNoise));
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}

// Finished splits on disk.

/// What must be equal for a stored result to count.
std::string configuration(const UciOptions& options) {
  Json json = {{"program", version()},
               {"seed", options.seed},
               {"samples", kSamples},
               {"restarts", kRestarts},
               {"repetitions", kSmallSetRepetitions}};
  for (std::int64_t rows : {kSmallSet - 1, kSmallSet}) {
    for (const TabularSettings& settings :
         candidates(options, rows, 1, Likelihood::Kind::Gaussian)) {
      json["candidates"].push_back(describe(settings));
    }
  }
  return json.dump();
}

std::string result_path(const UciOptions& options, const std::string& set,
                        std::int64_t split) {
  return (std::filesystem::path(options.out) /
          fmt::format("{}-{}.json", set, split))
      .string();
}

Json to_json(const UciScore& score) {
  return {{"log_likelihood", score.log_likelihood},
          {"rmse", score.rmse},
          {"coverage_90", score.coverage_90}};
}

Json to_json(const UciNoiseResult& result) {
  return {{"chosen", result.chosen},
          {"validation", result.validation},
          {"single", to_json(result.single)},
          {"mixture", to_json(result.mixture)},
          {"published_estimator", result.published_estimator}};
}

UciScore score_from(const Json& json) {
  return {json.at("log_likelihood").get<double>(),
          json.at("rmse").get<double>(), json.at("coverage_90").get<double>()};
}

UciNoiseResult noise_result_from(const Json& json) {
  UciNoiseResult result;
  json.at("chosen").get_to(result.chosen);
  json.at("validation").get_to(result.validation);
  result.single = score_from(json.at("single"));
  result.mixture = score_from(json.at("mixture"));
  json.at("published_estimator").get_to(result.published_estimator);
  return result;
}

void store(const UciOptions& options, const UciSplitResult& result) {
  if (options.out.empty()) return;
  const Json json = {{"configuration", configuration(options)},
                     {"set", result.set},
                     {"split", result.split},
                     {"gaussian", to_json(result.gaussian)},
                     {"predicted_noise", to_json(result.predicted_noise)},
                     {"seconds", result.seconds}};
  io::write_file(result_path(options, result.set, result.split),
                 json.dump(2) + "\n");
}

/// A stored result of the same configuration, if there is one.
std::optional<UciSplitResult> stored(const UciOptions& options,
                                     const std::string& set,
                                     std::int64_t split) {
  if (options.out.empty()) return std::nullopt;
  const std::string path = result_path(options, set, split);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    const Json json =
        Json::parse(io::read_all(*io::open_byte_source(path), kMaxResultBytes));
    if (json.at("configuration") != configuration(options)) return std::nullopt;
    UciSplitResult result;
    result.set = set;
    result.split = split;
    result.gaussian = noise_result_from(json.at("gaussian"));
    result.predicted_noise = noise_result_from(json.at("predicted_noise"));
    json.at("seconds").get_to(result.seconds);
    return result;
  } catch (const Json::exception&) {
    return std::nullopt;  // damaged: done again
  }
}

/// A set in memory.
struct LoadedSet {
  io::UciSet set;
  io::Table table;
  std::int64_t splits;
};

std::vector<LoadedSet> load_sets(const UciOptions& options) {
  std::vector<std::string> names = options.sets;
  if (names.empty() && options.quick) {
    names.assign(std::begin(kQuickSets), std::end(kQuickSets));
  }
  if (names.empty()) names = io::uci_set_names();
  const std::int64_t wanted =
      options.splits == 0 && options.quick ? kQuickSplits : options.splits;
  std::vector<LoadedSet> sets;
  for (const std::string& name : names) {
    io::UciSet set =
        io::read_uci(io::data_set_dir(options.data_dir, "uci/" + name));
    io::Table table = to_table(set);
    const auto there = static_cast<std::int64_t>(set.splits.size());
    sets.push_back({std::move(set), std::move(table),
                    wanted == 0 ? there : std::min(wanted, there)});
  }
  return sets;
}

/// One split to do; steps cost about as much as the network has weights.
struct Task {
  const LoadedSet* set;
  std::int64_t split;
  double work;
};

std::vector<Task> tasks_of(const std::vector<LoadedSet>& sets) {
  std::vector<Task> tasks;
  for (const LoadedSet& set : sets) {
    const double weights =
        static_cast<double>(set.set.hidden_units * (set.set.features + 2));
    for (std::int64_t split = 0; split < set.splits; ++split) {
      tasks.push_back({&set, split, 300 + weights});
    }
  }
  // Large ones first, so that no thread is left with one at the end.
  std::stable_sort(
      tasks.begin(), tasks.end(),
      [](const Task& a, const Task& b) { return a.work > b.work; });
  return tasks;
}

}  // namespace

const UciNoiseResult& UciSplitResult::tuned() const {
  return predicted_noise.validation > gaussian.validation ? predicted_noise
                                                          : gaussian;
}

std::vector<UciSplitResult> run_uci(const UciOptions& options, ThreadPool& pool,
                                    const UciProgress& progress) {
  RADIR_CHECK(options.splits >= 0, ArgumentError,
              "the number of splits must be at least 1, but is ",
              options.splits);
  const std::vector<LoadedSet> sets = load_sets(options);
  const std::vector<Task> tasks = tasks_of(sets);
  if (!options.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.out, error);
    RADIR_CHECK(!error, IoError, "cannot make the folder ", options.out, ": ",
                error.message());
  }
  std::vector<UciSplitResult> results(tasks.size());
  std::vector<std::size_t> left;
  double total = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (auto known = stored(options, tasks[i].set->set.name, tasks[i].split)) {
      results[i] = std::move(*known);
      continue;
    }
    left.push_back(i);
    total += tasks[i].work;
  }

  std::mutex one_at_a_time;
  double done = 0;
  pool.run(static_cast<std::int64_t>(left.size()), [&](std::int64_t i) {
    const std::size_t at = left[static_cast<std::size_t>(i)];
    const Task& task = tasks[at];
    results[at] =
        run_split(options, task.set->set, task.set->table, task.split);
    store(options, results[at]);
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    done += task.work;
    if (progress) progress(results[at], done / total);
  });
  return results;
}

}  // namespace radir::experiments
