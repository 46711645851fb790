#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "radir/report/table.h"
#include "radir/workflows/table_search.h"

// The settings that were compared, as config.json has them ("trials"), and what
// they say to people.

namespace radir::workflows {

/// Every trial: its settings for `rows` training rows, its round and its
/// validation scores.
nlohmann::ordered_json trials_json(const std::vector<TableTrial>& trials,
                                   std::int64_t rows, bool classes);

/// Of a run's config.json: scores of the trials and the settings in which they
/// differ. The last round comes first, and in a round the best; the first
/// `most` of them. No rows where nothing was compared.
report::Table trials_table(
    const nlohmann::ordered_json& config,
    std::size_t most = std::numeric_limits<std::size_t>::max());

/// Where the settings that tuning chose for their likelihood have a much larger
/// error than another trial, a sentence that says so; else empty.
std::string error_note(const nlohmann::ordered_json& config);

}  // namespace radir::workflows
