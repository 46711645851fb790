#include "radir/reproduce/uci_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/presets.h"
#include "radir/workflows/run_part.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_methods.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"
#include "reproduce/uci_fit.h"

namespace radir::reproduce {
namespace {

using Json = nlohmann::ordered_json;
using workflows::TableMethod;
using workflows::TableSettings;

/// Methods that "all" leaves out have no family of their own. Sampling takes it
/// from the settings too, but has a default.
bool has_own_posterior(const TableMethod& method) {
  return !method.family.empty() || method.name == "hmc";
}

TableSettings base_settings(const UciOptions& options,
                            const std::string& method, std::int64_t rows,
                            std::int64_t hidden_units) {
  TableSettings settings;
  settings.seed = options.seed;
  if (workflows::is_preset(method)) {
    workflows::apply_preset(method, settings);
    settings.hidden = {hidden_units};
    settings.steps = uci_steps(options, rows);
    return settings;
  }
  settings.method = method;
  settings.hidden = {hidden_units};
  settings.noise = likelihood::Kind::Gaussian;
  settings.target_scale = workflows::TargetScale::Own;
  settings.steps = uci_steps(options, rows);
  // One is not asked for: a method has its own number.
  settings.restarts = options.restarts > 1 ? options.restarts : 0;
  if (options.quick) {
    settings.hmc.warmup = 100;
    settings.hmc.draws = 100;
    settings.hmc.leapfrog_steps = 50;
  }
  return settings;
}

/// What tuning compares; the settings alone where there is nothing to tune.
std::vector<TableSettings> method_candidates(const std::string& method,
                                             const TableSettings& base) {
  if (base.samples() || workflows::is_preset(method)) return {base};
  return workflows::tuning_candidates(base, {likelihood::Kind::Gaussian});
}

/// One method on one split.
struct MethodTask {
  const data::UciSet* set;
  const data::Table* table;
  std::int64_t split;
  std::string method;
  double work;
  workflows::RunPart part;

  const data::UciSplit& rows() const {
    return set->splits[static_cast<std::size_t>(split)];
  }
  TableSettings base(const UciOptions& options) const {
    return base_settings(options, method,
                         static_cast<std::int64_t>(rows().train.size()),
                         set->hidden_units);
  }

  /// All that decides the result.
  std::string configuration(const UciOptions& options,
                            const std::string& data) const {
    Json json = {{"data", data},
                 {"samples", kUciSamples},
                 {"repetitions", repetitions(options)}};
    Json tried = Json::array();
    for (const TableSettings& settings :
         method_candidates(method, base(options))) {
      tried.push_back(Json::parse(workflows::to_json(settings)));
    }
    if (!tried.empty()) json["candidates"] = std::move(tried);
    return json.dump();
  }

  int repetitions(const UciOptions& options) const {
    return options.quick
               ? 1
               : repetitions_of(static_cast<std::int64_t>(rows().train.size()));
  }

  UciMethodResult run(const UciOptions& options) const {
    const auto start = std::chrono::steady_clock::now();
    UciMethodResult result;
    result.set = set->name;
    result.split = split;
    result.method = method;
    result.validation = std::numeric_limits<double>::quiet_NaN();
    std::vector<TableSettings> settings =
        method_candidates(method, base(options));
    if (settings.size() > 1) {
      const workflows::TableTrial best = workflows::best_trial(
          mean_trials(*table, rows(), settings, repetitions(options),
                      Device::Cpu, part.get()));
      settings = {best.settings};
      result.validation = best.log_likelihood;
    }
    result.chosen = workflows::to_json(settings.front());
    const data::TableEncoder encoder = data::TableEncoder::fit(
        *table, "target", data::MissingValues::Refuse, rows().train);
    const workflows::TableModel model = workflows::fit_networks(
        encoder, encoder.encode(*table, true, rows().train), settings.front(),
        nullptr, nullptr, part.get());
    result.score = uci_score(model, encoder.encode(*table, true, rows().test),
                             settings.front().seed);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return result;
  }
};

std::string to_json(const UciMethodResult& result,
                    const std::string& configuration) {
  const Json json = {
      {"configuration", configuration}, {"set", result.set},
      {"split", result.split},          {"method", result.method},
      {"chosen", result.chosen},        {"validation", result.validation},
      {"score", to_json(result.score)}, {"seconds", result.seconds}};
  return json.dump(2) + "\n";
}

/// What to_json wrote for the same configuration; none for another text.
std::optional<UciMethodResult> method_result_from(
    const std::string& text, const std::string& configuration) {
  try {
    const Json document = files::parse_json<Json>("result", text, {});
    files::JsonObject json(document, "result");
    if (json.text("configuration") != configuration) return std::nullopt;
    UciMethodResult result;
    result.set = json.text("set");
    result.split = json.integer("split");
    result.method = json.text("method");
    result.chosen = json.text("chosen");
    result.validation = number_from(json, "validation");
    result.score = score_from(json.object("score"));
    result.seconds = json.number("seconds");
    json.finish();
    return result;
  } catch (const IoError&) {
    return std::nullopt;  // damaged
  }
}

/// The result of an earlier process, if it counts.
std::optional<UciMethodResult> kept_result(const MethodTask& task,
                                           const UciOptions& options,
                                           const std::string& data) {
  const workflows::ResumableRun* part = task.part.get();
  const auto text = part != nullptr ? part->result() : std::nullopt;
  auto found =
      text ? method_result_from(*text, task.configuration(options, data))
           : std::nullopt;
  const bool right = found && found->set == task.set->name &&
                     found->split == task.split && found->method == task.method;
  return right ? found : std::nullopt;
}

std::vector<MethodTask> method_tasks(const UciOptions& options,
                                     const std::vector<data::UciSet>& sets,
                                     const std::vector<data::Table>& tables,
                                     const workflows::ResumableRun* run) {
  std::vector<MethodTask> tasks;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const data::UciSet& set = sets[i];
    const auto splits = static_cast<std::int64_t>(set.splits.size());
    for (std::int64_t split = 0; split < splits; ++split) {
      for (const std::string& method : uci_methods_of(options)) {
        // Steps cost about as much as the network has weights; chains pass over
        // all rows.
        const auto weights =
            static_cast<double>(set.hidden_units * (set.features + 2));
        const auto rows = static_cast<double>(set.targets.size());
        const double work = 300 + weights * (method == "hmc" ? rows / 100 : 1);
        tasks.push_back(
            {&set, &tables[i], split, method, work,
             workflows::RunPart(
                 run, fmt::format("{}-split-{}-{}", set.name, split, method))});
      }
    }
  }
  std::stable_sort(
      tasks.begin(), tasks.end(),
      [](const MethodTask& a, const MethodTask& b) { return a.work > b.work; });
  return tasks;
}

}  // namespace

std::vector<std::string> uci_methods_of(const UciOptions& options) {
  std::vector<std::string> methods;
  for (const std::string& name : options.methods) {
    if (name == "all") {
      for (const TableMethod& method : workflows::table_methods()) {
        if (has_own_posterior(method)) methods.push_back(method.name);
      }
      continue;
    }
    if (workflows::is_preset(name)) {
      methods.push_back(name);
      continue;
    }
    TableSettings settings;
    settings.method = name;
    RADIR_CHECK(
        name != "auto" && has_own_posterior(workflows::method_of(settings)),
        ArgumentError, "uci: the method ", name,
        " does not say which posterior to use");
    methods.push_back(name);
  }
  const std::set<std::string> different(methods.begin(), methods.end());
  RADIR_CHECK(different.size() == methods.size(), ArgumentError,
              "uci: a method is asked for twice");
  return methods;
}

std::vector<UciMethodResult> run_uci_methods(
    const UciOptions& options, const std::vector<data::UciSet>& sets,
    ThreadPool& pool, const UciMethodProgress& progress,
    const workflows::ResumableRun* run) {
  std::vector<data::Table> tables;
  for (const data::UciSet& set : sets) tables.push_back(data::to_table(set));
  const std::vector<MethodTask> tasks =
      method_tasks(options, sets, tables, run);
  const std::string data = fingerprint(sets);
  return run_left<UciMethodResult>(
      tasks, pool,
      [&](const MethodTask& task) { return kept_result(task, options, data); },
      [&](const MethodTask& task) {
        const workflows::ResumableRun* part = task.part.get();
        if (part != nullptr) part->check_stop();
        UciMethodResult result = task.run(options);
        if (part != nullptr) {
          part->keep_result(to_json(result, task.configuration(options, data)));
        }
        return result;
      },
      progress);
}

}  // namespace radir::reproduce
