#include "radir/workflows/table_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "radir/core/error.h"
#include "radir/core/settings_text.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/radial_directional.h"
#include "radir/workflows/run_parts.h"
#include "radir/workflows/table_methods.h"
#include "workflows/validation.h"

namespace radir::workflows {
namespace {

/// Share of the rows behind a validation score, one in this many.
constexpr std::int64_t kValidationRowPart = 5;
/// What tuning compares the given weight of the KL term, or the given length of
/// training, with.
constexpr double kSmallKlWeight = 0.3;
constexpr std::int64_t kLonger = 3;
/// Networks behind tuned settings, unless another number is asked for: colder
/// posteriors (a smaller weight of the KL term) pay as a mixture.
constexpr std::int64_t kTunedNetworks = 4;
/// Added to the seed of the shuffle that cuts off the validation rows, so that
/// it is none of the training's.
constexpr std::uint64_t kValidationSeed = 0x76616c6964617465u;

/// Double groups around the posterior's own directions with two gaps, rows and
/// columns with uniform directions and a concentration each.
std::vector<TableSettings> radial_candidates(const TableSettings& base) {
  std::vector<TableSettings> candidates(4, base);
  const double gaps[] = {3e-3, 1e-3};
  const posterior::Grouping groups[] = {posterior::Grouping::Row,
                                        posterior::Grouping::Column};
  for (std::size_t i = 0; i < 2; ++i) {
    TableSettings& around = candidates[i];
    around.grouping = posterior::Grouping::Double;
    around.direction_prior = posterior::DirectionPrior::LocationAgnostic;
    around.concentration_per_group = false;
    around.direction_gap = gaps[i];
    TableSettings& uniform = candidates[2 + i];
    uniform.grouping = groups[i];
    uniform.direction_prior = posterior::DirectionPrior::Uniform;
    uniform.concentration_per_group = true;
  }
  return candidates;
}

/// One per set of the method's options; those of the settings stay.
std::vector<TableSettings> option_candidates(const TableSettings& base) {
  const auto given = parse_assignments("family_options", base.family_options);
  std::vector<TableSettings> candidates;
  for (const std::string& text : method_of(base).tuned_options) {
    auto options = given;
    options.merge(parse_assignments("family_options", text));
    std::string joined;
    for (const auto& [name, value] : options) {
      joined += (joined.empty() ? "" : ",") + name + "=" + value;
    }
    candidates.push_back(base);
    candidates.back().family_options = joined;
  }
  return candidates;
}

/// A method that fits instead of "auto", which may sample.
TableSettings with_fit(TableSettings settings) {
  if (settings.method == "auto") {
    settings.method = settings.family.empty() ? "rdp" : "elbo";
  }
  return settings;
}

TableSettings shortened(TableSettings settings, std::int64_t divisor) {
  settings.steps = std::max<std::int64_t>(1, settings.steps / divisor);
  if (settings.epochs > 0) {
    settings.epochs = std::max<std::int64_t>(1, settings.epochs / divisor);
  }
  return settings;
}

/// The numbers of the best trials, best first; the earlier of two equal ones.
std::vector<std::size_t> best_of(const std::vector<TableTrial>& trials,
                                 std::size_t count) {
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return trials[a].score() > trials[b].score();
                   });
  order.resize(count);
  return order;
}

/// The plan of a search with a budget: that of the run, if it has one already.
SearchPlan planned(const Validation& validation,
                   const std::vector<TableSettings>& candidates,
                   const Execution& execution, const ResumableRun* run,
                   const SearchRules& rules, Clock::time_point start) {
  SearchPlan plan{static_cast<std::int64_t>(candidates.size())};
  if (!rules.budget) return plan;
  RADIR_CHECK(run == nullptr || run->sharded() == nullptr, ArgumentError,
              "a budget for tuning and shards do not go together: the workers ",
              "would measure different times; leave one of them out");
  std::optional<ResumableRun> part;
  if (run != nullptr) part = run->part("tune-plan");
  PartsWork work;
  work.count = 1;
  work.part = [&](std::int64_t) { return part ? &*part : nullptr; };
  work.take_over = [&](std::int64_t) {
    const auto text = part ? part->result() : std::nullopt;
    if (text) plan = plan_from_json(*text);
    return text.has_value();
  };
  work.run = [&](std::int64_t i) {
    if (work.take_over(i)) return;
    const auto costs = validation.costs(candidates, execution, rules.goal);
    const int threads = execution.pool == nullptr ? 1 : execution.pool->size();
    plan = plan_search(costs, threads, *rules.budget, seconds_since(start));
    if (part) part->keep_result(to_json(plan));
  };
  run_parts(work, nullptr);
  return plan;
}

}  // namespace

const Choices<TuneFor>& tune_for_choices() {
  static const Choices<TuneFor> choices = {
      {TuneFor::LogLikelihood, "log-likelihood"},
      {TuneFor::Rmse, "rmse"},
      {TuneFor::Crps, "crps"},
      {TuneFor::Error, "error"},
      {TuneFor::Brier, "brier"}};
  return choices;
}

void check_goal(TuneFor goal, const data::TableEncoder& encoder) {
  if (goal == TuneFor::LogLikelihood) return;
  const bool of_classes = goal == TuneFor::Error || goal == TuneFor::Brier;
  RADIR_CHECK(of_classes == encoder.is_classification(), ArgumentError,
              "cannot tune for ", choice_name(tune_for_choices(), goal),
              ": the target \"", encoder.target().name, "\" ",
              encoder.is_classification()
                  ? "has classes; tune for log-likelihood, error or brier"
                  : "is a number; tune for log-likelihood, rmse or crps");
}

void check_tuning(bool tune, TuneFor goal,
                  const std::optional<double>& budget) {
  RADIR_CHECK(tune || goal == TuneFor::LogLikelihood, ArgumentError,
              "tune-for ", choice_name(tune_for_choices(), goal),
              " says what tuning looks for; ask for tuning too (--tune)");
  RADIR_CHECK(tune || !budget, ArgumentError,
              "a tune-budget limits the time of tuning; ask for tuning too ",
              "(--tune)");
  RADIR_CHECK(!budget || *budget > 0, ArgumentError,
              "a tune-budget must be above 0 seconds, but is ", *budget);
}

double TableTrial::score() const {
  constexpr double kWorst = -std::numeric_limits<double>::infinity();
  switch (goal) {
    case TuneFor::LogLikelihood:
      return log_likelihood;
    case TuneFor::Rmse:
    case TuneFor::Error:
      return -error;
    case TuneFor::Crps:
    case TuneFor::Brier:
      return loss ? -*loss : kWorst;
  }
  return kWorst;
}

std::uint64_t validation_seed(std::uint64_t seed) {
  return seed + kValidationSeed;
}

std::int64_t validation_rows(std::int64_t rows) {
  return rows / kValidationRowPart;
}

std::vector<TableSettings> tuning_candidates(const TableSettings& given,
                                             bool classification) {
  if (classification) {
    return tuning_candidates(given, {likelihood::Kind::Gaussian});
  }
  return tuning_candidates(
      given, {likelihood::Kind::Gaussian, likelihood::Kind::Mixture});
}

std::vector<TableSettings> tuning_candidates(
    const TableSettings& given, const std::vector<likelihood::Kind>& kinds) {
  const TableSettings base = with_fit(given);
  std::vector<TableSettings> candidates;
  const TableMethod& method = method_of(base);
  // As many as the other methods have: of one noise model, half of them.
  for (std::size_t i = kinds.size() == 1 ? 1 : 0;
       i < method.tuned_passes.size(); i += kinds.size() == 1 ? 2 : 1) {
    candidates.push_back(base);
    candidates.back().epochs = method.tuned_passes[i];
  }
  if (!candidates.empty()) return candidates;

  const auto priors = method.tuned_options.empty() ? radial_candidates(base)
                                                   : option_candidates(base);
  for (likelihood::Kind noise : kinds) {
    for (const TableSettings& prior : priors) {
      for (bool second : {false, true}) {
        candidates.push_back(prior);
        TableSettings& candidate = candidates.back();
        candidate.noise = noise;
        if (noise == likelihood::Kind::Mixture) {
          candidate.target_scale = TargetScale::Own;
        }
        if (!second) continue;
        if (method.tunes_kl) {
          candidate.kl_weight *= kSmallKlWeight;
        } else {
          candidate.epochs *= kLonger;
          candidate.steps *= kLonger;
        }
      }
    }
  }
  return candidates;
}

TableSettings searchable(TableSettings settings) {
  settings = with_fit(std::move(settings));
  RADIR_CHECK(!settings.samples(), ArgumentError,
              "tuning compares fits; the method ", settings.method,
              " needs none, train without tuning");
  if (settings.restarts == 0 && method_of(settings).networks == 1) {
    settings.restarts = kTunedNetworks;
  }
  return settings;
}

std::vector<TableSettings> search_candidates(const TableSettings& given,
                                             bool classification) {
  std::vector<std::vector<std::int64_t>> networks = {given.hidden};
  if (given.hidden == TableSettings{}.hidden) {
    networks.push_back({100, 100});
    networks.push_back({100, 100, 100});
  }
  std::vector<TableSettings> candidates;
  for (const auto& hidden : networks) {
    TableSettings base = given;
    base.hidden = hidden;
    for (TableSettings& one : tuning_candidates(base, classification)) {
      candidates.push_back(std::move(one));
    }
  }
  return candidates;
}

std::vector<TableTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, const Execution& execution,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "compare_candidates: there are no candidates");
  return Validation(table, target, missing, rows, candidates)
      .compare(candidates, execution, on_trial, run);
}

std::vector<TableTrial> search_settings(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, const Execution& execution,
    const std::function<void(const TableTrial&)>& on_trial,
    const ResumableRun* run, const SearchRules& rules) {
  RADIR_CHECK(!candidates.empty(), ArgumentError,
              "search_settings: there are no candidates");
  const Clock::time_point start = Clock::now();
  std::vector<TableSettings> everyone = candidates;
  everyone.insert(everyone.end(), rules.finalists.begin(),
                  rules.finalists.end());
  const Validation validation(table, target, missing, rows, everyone);
  const SearchPlan plan =
      planned(validation, candidates, execution, run, rules, start);
  if (rules.on_plan) rules.on_plan(plan);
  std::vector<TableTrial> all;
  std::vector<std::size_t> left(static_cast<std::size_t>(plan.candidates));
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (std::int64_t round = 1;; ++round) {
    std::vector<TableSettings> tried;
    tried.reserve(left.size());
    for (const std::size_t i : left) {
      tried.push_back(shortened(candidates[i], plan.divisor_of(round)));
    }
    if (round == SearchPlan::kRounds) {
      for (std::size_t i = candidates.size(); i < everyone.size(); ++i) {
        tried.push_back(everyone[i]);
        left.push_back(i);
      }
    }
    auto trials = validation.compare(tried, execution, on_trial, run,
                                     rules.goal, round, all.size());
    const auto best = best_of(trials, SearchPlan::left_of(left.size()));
    std::vector<std::size_t> next;
    for (const std::size_t i : best) next.push_back(left[i]);
    for (TableTrial& trial : trials) trial.candidate = left[trial.candidate];
    all.insert(all.end(), trials.begin(), trials.end());
    if (round == SearchPlan::kRounds) return all;
    left = std::move(next);
  }
}

const TableTrial& best_trial(const std::vector<TableTrial>& trials) {
  // Of an earlier round, what was shortened might win by chance.
  const auto last =
      std::find_if(trials.begin(), trials.end(), [&](const TableTrial& trial) {
        return trial.round == trials.back().round;
      });
  const auto best = std::max_element(
      last, trials.end(), [](const TableTrial& a, const TableTrial& b) {
        return a.score() < b.score();
      });
  RADIR_CHECK(best != trials.end() && std::isfinite(best->score()),
              NumericalError, "tuning: every candidate's training failed; try ",
              "a smaller learning rate");
  return *best;
}

}  // namespace radir::workflows
