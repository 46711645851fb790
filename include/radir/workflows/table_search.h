#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/core/settings.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/search_plan.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// What a search looks for.
enum class TuneFor {
  LogLikelihood,  ///< high, in original units
  Rmse,           ///< low, of a numeric target
  Crps,           ///< likewise
  Error,          ///< low, the share of rows in a wrong class
  Brier,          ///< low, the Brier score of classes
};
const Choices<TuneFor>& tune_for_choices();
/// Throws ArgumentError where the kind of target has no such score.
void check_goal(TuneFor goal, const data::TableEncoder& encoder);
/// Throws ArgumentError for a goal or a budget (seconds) without tuning, and
/// for a budget that is not above 0.
void check_tuning(bool tune, TuneFor goal, const std::optional<double>& budget);

/// One candidate of a search and how it did.
struct TableTrial {
  TableSettings settings;
  std::int64_t round = 1;  ///< of search_settings()
  /// Mean log-likelihood of the validation rows, original units; minus infinity
  /// when the training failed.
  double log_likelihood = 0;
  /// Their RMSE in original units, or the share that is in a wrong class;
  /// infinite when the training failed.
  double error = 0;
  /// CRPS or Brier score, where the search looks for that. CRPS: of the first
  /// 1,000 rows.
  std::optional<double> loss = std::nullopt;
  std::size_t candidate = 0;  ///< its number among the candidates, from 0
  TuneFor goal = TuneFor::LogLikelihood;

  /// What the search makes as high as it can.
  double score() const;
};

/// The settings that a search starts from: a method that fits instead of
/// "auto", and a mixture of four networks where their number is left open.
/// Throws ArgumentError for a method that samples.
TableSettings searchable(TableSettings settings);

/// Candidates for one network: four priors of the method (of the
/// radial-directional posteriors: double groups with two gaps, rows and columns
/// with uniform directions), two weights of the KL term or lengths of training
/// and, for a numeric target, both noise models. Those of the method pbp, as
/// many, differ in the passes.
std::vector<TableSettings> tuning_candidates(const TableSettings& given,
                                             bool classification);
/// The same with the noise models that are to be compared.
std::vector<TableSettings> tuning_candidates(
    const TableSettings& given, const std::vector<likelihood::Kind>& kinds);

/// The candidates that `radir train --tune` searches: those above for the given
/// network and, where that is the default one, for two and three layers of 100
/// units.
std::vector<TableSettings> search_candidates(const TableSettings& given,
                                             bool classification);

/// Seed of the shuffle whose first fifth of the rows candidates are scored on,
/// none of the training's.
std::uint64_t validation_seed(std::uint64_t seed);

/// How many of so many rows that is.
std::int64_t validation_rows(std::int64_t rows);

/// Fits every candidate to four fifths of `rows` of the table (its own encoder
/// fitted on them too) and scores it on the last fifth, in parallel.
/// `on_trial` is called after each, one call at a time. With a run, the
/// candidates are its parts "trial-1", "trial-2", ...
std::vector<TableTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates,
    const Execution& execution = {},
    const std::function<void(const TableTrial&)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);

/// How a search goes.
struct SearchRules {
  TuneFor goal = TuneFor::LogLikelihood;
  std::optional<double> budget;  ///< seconds; none: as long as it takes
  /// Settings that are tried in the last round alone, at full length; their
  /// numbers follow those of the candidates.
  std::vector<TableSettings> finalists;
  /// Told once, before the first trial.
  std::function<void(const SearchPlan&)> on_plan;
};

/// Successive halving (K. Jamieson and A. Talwalkar, "Non-stochastic best arm
/// identification", 2016): all candidates train for a ninth of their steps, the
/// best third of them for a third, the best third of these and the finalists of
/// the rules for all. Otherwise as compare_candidates; the trials of all
/// rounds, in order.
///
/// With a budget of time, a short timing of the candidates says how much of
/// this is done (plan_search). A run keeps that plan as the result of its part
/// "tune-plan", so that it is the same when the run is resumed. Throws
/// ArgumentError for a budget that is too short, or in a run with shards.
std::vector<TableTrial> search_settings(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates,
    const Execution& execution = {},
    const std::function<void(const TableTrial&)>& on_trial = nullptr,
    const ResumableRun* run = nullptr, const SearchRules& rules = {});

/// The trial of the last round with the highest score. Throws NumericalError
/// when all of them failed.
const TableTrial& best_trial(const std::vector<TableTrial>& trials);

}  // namespace radir::workflows
