#include "radir/workflows/settings_choice.h"

#include <algorithm>
#include <cmath>

#include "radir/data/column_code.h"
#include "radir/likelihood/options.h"
#include "radir/train/schedule.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/table_fit.h"
#include "workflows/row_groups.h"
#include "workflows/validation.h"

namespace radir::workflows {
namespace {

constexpr std::int64_t kLeastRows = 1000;
/// Of the comparison of scales of the target, and its training.
constexpr std::int64_t kLeastScaleRows = 50;
constexpr std::int64_t kScaleSteps = 5000;
constexpr std::int64_t kMostRows = 50000;

/// A table of so many rows gets networks that train longer, for so many passes
/// over the rows.
constexpr std::int64_t kManyRows = 20000;
constexpr std::int64_t kPasses = 160;
constexpr std::int64_t kLongSteps = 60000;

/// Inputs that pieces of numbers may come to, pieces of a number, and encoded
/// numbers of a table with them (100 MB).
constexpr std::int64_t kMostPieceInputs = 140;
constexpr std::int64_t kFewestPieces = 4;
constexpr std::int64_t kMostPieces = 16;
constexpr std::int64_t kMostEncoded = 25000000;

/// Errors below this share of the target's deviation are small: the length of
/// the training limits the fit, not noise.
constexpr double kSmallError = 0.05;
constexpr double kPreciseLength = 7.5;  // of the usual training

/// Two networks, larger than the default.
TableSettings larger_fit(const TableSettings& given, likelihood::Kind noise) {
  TableSettings settings;
  settings.seed = given.seed;
  settings.method = "rdp";
  settings.target_scale = TargetScale::Own;
  settings.hidden = {100, 100};
  settings.noise = noise;
  settings.restarts = 2;
  return settings;
}

TableSettings with_mixture_noise(const TableSettings& given) {
  TableSettings settings = larger_fit(given, likelihood::Kind::Mixture);
  settings.noise_parts = 5;
  settings.kl_weight = 0.3;
  settings.steps = 10000;
  return settings;
}

/// For targets with hardly any noise.
TableSettings precise_fit(const TableSettings& given) {
  TableSettings settings = larger_fit(given, likelihood::Kind::Gaussian);
  settings.kl_weight = 0.1;
  settings.steps =
      std::llround(kPreciseLength * static_cast<double>(given.steps));
  return settings;
}

/// What the defaults are compared with.
std::vector<TableSettings> alternatives(const TableSettings& given,
                                        const data::TableEncoder& encoder,
                                        std::int64_t rows) {
  std::vector<TableSettings> result = {with_mixture_noise(given)};
  if (const std::int64_t pieces = affordable_pieces(encoder, rows)) {
    TableSettings settings = result.front();
    settings.pieces = pieces;
    // A closer fit, whose networks are right together.
    settings.kl_weight = 0.15;
    settings.restarts = 4;
    result.push_back(settings);
    if (rows >= kManyRows) {
      settings.kl_weight = 0.3;
      settings.steps = std::min(kLongSteps, kPasses * (rows / settings.batch));
      result.push_back(settings);
    }
  }
  for (TableSettings& one : result) one = resolved(one, encoder, rows);
  return result;
}

/// Fewer rows would let chance decide.
bool has_alternatives(const data::TableEncoder& encoder, std::int64_t rows) {
  return !encoder.is_classification() && rows >= kLeastRows;
}

/// By more than chance, which gives a mean log-likelihood of n rows about
/// 1/sqrt(n).
bool is_clearly_better(const TableTrial& trial, const TableTrial& than,
                       const std::vector<std::int64_t>& compared) {
  const auto judges =
      static_cast<double>(validation_rows(RowGroups(compared).count()));
  return trial.log_likelihood > than.log_likelihood + 1 / std::sqrt(judges);
}

/// Other devices than the CPU do not train them.
void remove_mixtures(std::vector<TableSettings>& candidates) {
  const auto is_mixture = [](const TableSettings& settings) {
    return settings.noise == likelihood::Kind::Mixture;
  };
  candidates.erase(
      std::remove_if(candidates.begin(), candidates.end(), is_mixture),
      candidates.end());
}

/// Chains and mixtures need the CPU and do not share batches, and nobody knows
/// how long they take.
bool can_compare_defaults(const SearchRequest& request,
                          const Execution& execution, const ResumableRun* run) {
  return execution.device == Device::Cpu && !request.budget &&
         (run == nullptr || run->sharded() == nullptr);
}

/// Compares a precise fit, too, where the errors of the others are small. Its
/// trial is added, in the last round; returns whether there is one.
bool try_precise_fit(const data::Table& table,
                     const data::TableEncoder& encoder,
                     const std::vector<std::int64_t>& rows,
                     const TableSettings& given, const Execution& execution,
                     TuneFor goal,
                     const std::function<void(const TableTrial&)>& on_trial,
                     const ResumableRun* run, std::vector<TableTrial>& trials) {
  const auto error_less = [](const TableTrial& a, const TableTrial& b) {
    return a.error < b.error;
  };
  const double error =
      std::min_element(trials.begin(), trials.end(), error_less)->error;
  const data::ColumnCode& target = encoder.target();
  if (encoder.is_classification() || RowGroups(rows).count() < kLeastRows ||
      !target.transform.is_none() || !(error < kSmallError * target.scale)) {
    return false;
  }
  std::optional<ResumableRun> part;
  if (run != nullptr) part = run->part("precise");
  const std::vector<TableSettings> candidates = {resolved(
      precise_fit(given), encoder, static_cast<std::int64_t>(rows.size()))};
  const auto found =
      Validation(table, target.name, encoder.missing(), rows, candidates)
          .compare(candidates, execution, on_trial, part ? &*part : nullptr,
                   goal, trials.back().round);
  trials.push_back(found.front());
  return true;
}

ChosenSettings tuned(
    const SearchRequest& request, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& settings, const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run) {
  check_goal(request.goal, encoder);
  auto candidates = search_candidates(settings, encoder.is_classification());
  // A logarithm that was asked for is in the encoding, and mixtures have none.
  const bool no_mixtures =
      execution.device != Device::Cpu || !encoder.target().transform.is_none();
  if (no_mixtures) remove_mixtures(candidates);
  ChosenSettings result;
  SearchRules rules;
  rules.goal = request.goal;
  rules.budget = request.budget;
  if (request.with_defaults && can_compare_defaults(request, execution, run)) {
    rules.finalists = default_models(settings.seed, encoder,
                                     static_cast<std::int64_t>(rows.size()));
  }
  if (no_mixtures) remove_mixtures(rules.finalists);
  for (TableSettings& one : rules.finalists) {
    if (one.noise != likelihood::Kind::Mixture) {
      one.target_scale = settings.target_scale;
    }
  }
  std::int64_t total = 0;
  rules.on_plan = [&](const SearchPlan& plan) {
    total = plan.trials() + static_cast<std::int64_t>(rules.finalists.size());
    if (request.budget) result.plan = plan;
  };
  std::int64_t done = 0;
  const auto count = [&](const TableTrial&) {
    ++done;
    if (on_trial) on_trial(done, std::max(done, total));
  };
  result.trials =
      search_settings(table, encoder.target().name, encoder.missing(), rows,
                      candidates, execution, count, run, rules);
  candidates.insert(candidates.end(), rules.finalists.begin(),
                    rules.finalists.end());
  if (request.with_defaults && can_compare_defaults(request, execution, run) &&
      try_precise_fit(table, encoder, rows, settings, execution, request.goal,
                      count, run, result.trials)) {
    result.trials.back().candidate = candidates.size();
    candidates.push_back(result.trials.back().settings);
  }
  // At full length, whatever the plan.
  const TableTrial& best = best_trial(result.trials);
  result.settings = candidates[best.candidate];
  result.settings.noise_factor = best.settings.noise_factor;
  return result;
}

/// The scale of a target with a long upper tail, by the log-likelihood of quick
/// fits; `settings` gets it. Returns the trials.
std::vector<TableTrial> choose_target_scale(
    const SearchRequest& request, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run, TableSettings& settings) {
  if (settings.target_scale || encoder.is_classification()) return {};
  settings.target_scale = TargetScale::Own;
  const auto compared = compared_rows(rows, settings.seed);
  if (settings.noise == likelihood::Kind::Mixture || request.budget ||
      request.goal != TuneFor::LogLikelihood ||
      execution.device != Device::Cpu ||
      RowGroups(rows).count() < kLeastScaleRows ||
      !encoder.has_skewed_target(table, rows) ||
      !can_validate(table, encoder.target().name, encoder.missing(), compared,
                    settings.seed)) {
    return {};
  }
  TableSettings quick;
  quick.method = "rdp";
  quick.hidden = settings.hidden;
  quick.pieces = settings.pieces;
  quick.noise = settings.noise;
  quick.steps = std::min(kScaleSteps, settings.steps);
  quick.seed = settings.seed;
  std::vector<TableSettings> candidates(
      2, resolved(quick, encoder, static_cast<std::int64_t>(rows.size())));
  candidates[0].target_scale = TargetScale::Own;
  candidates[1].target_scale = TargetScale::Logarithm;
  std::optional<ResumableRun> part;
  if (run != nullptr) part = run->part("target-scale");
  std::int64_t done = 0;
  auto trials = compare_candidates(
      table, encoder.target().name, encoder.missing(), compared, candidates,
      execution,
      [&](const TableTrial&) {
        if (on_trial) on_trial(++done, 2);
      },
      part ? &*part : nullptr);
  for (TableTrial& trial : trials) trial.round = 0;
  if (is_clearly_better(trials[1], trials[0], compared)) {
    settings.target_scale = TargetScale::Logarithm;
  }
  return trials;
}

}  // namespace

std::vector<std::int64_t> compared_rows(const std::vector<std::int64_t>& rows,
                                        std::uint64_t seed) {
  const RowGroups groups(rows);
  if (groups.count() <= kMostRows) return rows;
  const auto order = train::shuffled(groups.count(), validation_seed(seed), 0);
  const std::int64_t count =
      std::min(kMostRows, groups.count() - held_out_rows(groups.count()));
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    groups.append(order[static_cast<std::size_t>(i)], places);
  }
  std::vector<std::int64_t> result;
  result.reserve(places.size());
  for (const std::int64_t place : places) {
    result.push_back(rows[static_cast<std::size_t>(place)]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool leaves_all_open(const TableSettings& given) {
  TableSettings defaults;
  defaults.seed = given.seed;
  if (given.target_scale == TargetScale::Own) {
    defaults.target_scale = TargetScale::Own;
  }
  return to_json(given) == to_json(defaults);
}

SettingsSearch search_for(const TableSettings& given,
                          const data::TableEncoder& encoder,
                          std::int64_t rows) {
  return leaves_all_open(given) && has_alternatives(encoder, rows)
             ? SettingsSearch::Defaults
             : SettingsSearch::Given;
}

std::vector<TableSettings> default_models(std::uint64_t seed,
                                          const data::TableEncoder& encoder,
                                          std::int64_t rows) {
  TableSettings open;
  open.seed = seed;
  std::vector<TableSettings> models;
  if (has_alternatives(encoder, rows)) {
    models = alternatives(open, encoder, rows);
  }
  open = resolved(open, encoder, rows);
  if (open.samples()) models.insert(models.begin(), open);
  return models;
}

std::int64_t affordable_pieces(const data::TableEncoder& encoder,
                               std::int64_t rows) {
  std::int64_t numbers = 0;
  for (const data::ColumnCode& code : encoder.inputs()) {
    if (code.type == data::ColumnType::Numeric) ++numbers;
  }
  const std::int64_t room = kMostPieceInputs - encoder.input_size();
  if (numbers == 0 || room < numbers * kFewestPieces) return 0;
  const std::int64_t pieces = std::min(room / numbers, kMostPieces);
  const std::int64_t inputs = encoder.input_size() + numbers * pieces;
  return rows * inputs <= kMostEncoded ? pieces : 0;
}

namespace {

/// The defaults, or what is clearly better.
ChosenSettings compared_defaults(
    const data::Table& table, const data::TableEncoder& encoder,
    const std::vector<std::int64_t>& rows, const TableSettings& settings,
    const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run) {
  const auto compared = compared_rows(rows, settings.seed);
  // Copies of a row say nothing more.
  if (RowGroups(rows).count() < kLeastRows ||
      !can_validate(table, encoder.target().name, encoder.missing(), compared,
                    settings.seed)) {
    return {settings, {}};
  }
  std::vector<TableSettings> candidates = {settings};
  for (TableSettings& other : alternatives(
           settings, encoder, static_cast<std::int64_t>(rows.size()))) {
    candidates.push_back(std::move(other));
  }
  const auto total = static_cast<std::int64_t>(candidates.size());
  std::int64_t done = 0;
  const auto count = [&](const TableTrial&) {
    ++done;
    if (on_trial) on_trial(done, std::max(done, total));
  };
  auto trials =
      compare_candidates(table, encoder.target().name, encoder.missing(),
                         compared, candidates, execution, count, run);
  try_precise_fit(table, encoder, compared, settings, execution,
                  TuneFor::LogLikelihood, count, run, trials);
  std::size_t best = 0;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    if (is_clearly_better(trials[i], trials[best], compared)) best = i;
  }
  return {best == 0 ? settings : trials[best].settings, std::move(trials)};
}

ChosenSettings searched(
    const SearchRequest& request, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& settings, const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run) {
  if (request.search == SettingsSearch::Tuning) {
    return tuned(request, table, encoder, rows, settings, execution, on_trial,
                 run);
  }
  if (request.search == SettingsSearch::Given ||
      execution.device != Device::Cpu) {
    return {settings, {}};
  }
  return compared_defaults(table, encoder, rows, settings, execution, on_trial,
                           run);
}

}  // namespace

ChosenSettings choose_settings(
    const SearchRequest& request, const data::Table& table,
    const data::TableEncoder& encoder, const std::vector<std::int64_t>& rows,
    const TableSettings& given, const Execution& execution,
    const std::function<void(std::int64_t, std::int64_t)>& on_trial,
    const ResumableRun* run) {
  TableSettings settings = given;
  std::vector<TableTrial> trials = choose_target_scale(
      request, table, encoder, rows, execution, on_trial, run, settings);
  ChosenSettings chosen = searched(request, table, encoder, rows, settings,
                                   execution, on_trial, run);
  chosen.trials.insert(chosen.trials.begin(), trials.begin(), trials.end());
  return chosen;
}

}  // namespace radir::workflows
