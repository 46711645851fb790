#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "radir/data/table_encoder.h"

namespace radir::cli {

/// A line for each column with values that the training did not see, but for
/// the columns in `said`, to which it adds them: models of several targets read
/// the same columns.
void say_unseen(const std::vector<data::UnseenLevels>& unseen,
                std::set<std::string>& said);

/// The number of rows by column.
nlohmann::ordered_json unseen_json(
    const std::vector<data::UnseenLevels>& unseen);

}  // namespace radir::cli
