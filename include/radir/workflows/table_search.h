#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/options.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_settings.h"

namespace radir::workflows {

/// One candidate of a search and how it did.
struct TableTrial {
  TableSettings settings;
  /// Mean log-likelihood of the validation rows, original units; minus infinity
  /// when the training failed.
  double log_likelihood = 0;
};

/// The candidates that `radir train --tune` compares: four priors of the method
/// (of the radial-directional posteriors: double groups with two gaps, rows and
/// columns with uniform directions), two weights of the KL term or lengths of
/// training and, for a numeric target, both noise models. Those of
/// the method pbp, as many, differ in the passes.
std::vector<TableSettings> tuning_candidates(const TableSettings& given,
                                             bool classification);
/// The same with the noise models that are to be compared.
std::vector<TableSettings> tuning_candidates(
    const TableSettings& given, const std::vector<likelihood::Kind>& kinds);

/// Fits every candidate to four fifths of `rows` of the table (its own encoder
/// fitted on them too) and scores it on the last fifth, in parallel.
/// `on_trial` is called after each, one call at a time. With a run, the
/// candidates are its parts "trial-1", "trial-2", ...
std::vector<TableTrial> compare_candidates(
    const data::Table& table, const std::string& target,
    data::MissingValues missing, const std::vector<std::int64_t>& rows,
    const std::vector<TableSettings>& candidates, ThreadPool* pool = nullptr,
    const std::function<void(const TableTrial&)>& on_trial = nullptr,
    const ResumableRun* run = nullptr);

/// The trial with the highest log-likelihood. Throws NumericalError when all
/// failed.
const TableTrial& best_trial(const std::vector<TableTrial>& trials);

}  // namespace radir::workflows
