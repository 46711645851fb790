#pragma once

#include <cstdint>
#include <vector>

#include "radir/data/table.h"

namespace radir::data {

/// The rows of a table in an order that follows from what they say and not from
/// where they stand: by a hash of their cells. A fit to rows in this order does
/// not depend on the order of the table. Copies of a row come together, in the
/// order of the numbers that `ties` has for them, if any.
std::vector<std::int64_t> content_order(
    const Table& table, const std::vector<std::int64_t>& ties = {});

}  // namespace radir::data
