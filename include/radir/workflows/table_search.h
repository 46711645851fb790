#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// One candidate of a search and how it did.
struct TableTrial {
  TableSettings settings;
  std::int64_t round = 1;  ///< of search_settings()
  /// Mean log-likelihood of the validation rows, original units; minus infinity
  /// when the training failed.
  double log_likelihood = 0;
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

/// Successive halving (K. Jamieson and A. Talwalkar, "Non-stochastic best arm
/// identification", 2016): all candidates train for a ninth of their steps, the
/// best third of them for a third, the best third of these for all. Otherwise
/// as compare_candidates; the trials of all rounds, in order.
std::vector<TableTrial> search_settings(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates,
    const Execution& execution = {},
    const std::function<void(const TableTrial&)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);
/// How many trials that makes.
std::int64_t search_trials(std::int64_t candidates);

/// The trial of the last round with the highest log-likelihood. Throws
/// NumericalError when all of them failed.
const TableTrial& best_trial(const std::vector<TableTrial>& trials);

}  // namespace radir::workflows
