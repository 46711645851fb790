#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "radir/data/table_encoder.h"

namespace radir::cli {

/// A line for each column with values that the training did not see.
void say_unseen(const std::vector<data::UnseenLevels>& unseen);

/// The number of rows by column.
nlohmann::ordered_json unseen_json(
    const std::vector<data::UnseenLevels>& unseen);

}  // namespace radir::cli
