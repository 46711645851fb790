#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/uci.h"
#include "radir/files/json_object.h"
#include "radir/reproduce/uci.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"

// What the benchmarks on UCI sets share. Private to the reproductions.

namespace radir::reproduce {

/// Draws of the weights of a network behind a score.
constexpr std::int64_t kUciSamples = 200;

/// Sets with fewer training rows than this are small: a held-out fifth says
/// little there, so several are tried, and long training gains nothing.
constexpr std::int64_t kSmallSet = 2000;
constexpr int kSmallSetRepetitions = 3;

/// Steps of each training.
std::int64_t uci_steps(const UciOptions& options, std::int64_t rows);

/// Held-out parts that tuning looks at, for so many training rows.
int repetitions_of(std::int64_t rows);

/// The candidates' scores, means over several held-out parts, and the geometric
/// means of their noise factors.
std::vector<workflows::TableTrial> mean_trials(
    const data::Table& table, const data::UciSplit& split,
    const std::vector<workflows::TableSettings>& settings, int repetitions,
    const workflows::ResumableRun* run);

/// How well test rows are predicted.
UciScore uci_score(const workflows::TableModel& model,
                   const data::EncodedRows& test, std::uint64_t seed);

nlohmann::ordered_json to_json(const UciScore& score);
UciScore score_from(files::JsonObject json);
/// A number that is not finite is null in JSON, and NaN here.
double number_from(files::JsonObject& json, const char* key);

}  // namespace radir::reproduce
