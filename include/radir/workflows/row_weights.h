#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radir/data/table.h"

// Weights are whole numbers: how often a row counts. A posterior has no exact
// meaning for others.

namespace radir::workflows {

/// Takes a column out of a table: how often each row counts. Throws
/// ArgumentError, which names the row, unless all are whole numbers from 0 to
/// 1,000,000, and where all are 0.
std::vector<std::int64_t> take_row_weights(data::Table& table,
                                           const std::string& column);

/// How often the rows of each class of the target count: "balanced", or
/// "NAME=W,...", 1 for the others. Balanced are n / (rows of the class), n
/// being the rows of the most frequent one, rounded; rows count with their
/// weights, all once where these are empty. Throws ArgumentError for a target
/// that is not a category, a class that there is not and a weight that is not a
/// whole number from 1 to 1,000,000.
std::vector<std::int64_t> times_class_weights(
    const data::Table& table, const std::string& target,
    const std::string& class_weights, std::vector<std::int64_t> row_weights);

/// The rows in their order, each as often as it counts.
std::vector<std::int64_t> repeated_rows(
    const std::vector<std::int64_t>& order,
    const std::vector<std::int64_t>& weights);

}  // namespace radir::workflows
