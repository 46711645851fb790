#pragma once

#include <cstdint>
#include <vector>

#include "radir/data/table_encoder.h"

namespace radir::workflows {

/// The chosen rows (by their places among the encoded ones), in that order.
data::EncodedRows encoded_subset(const data::EncodedRows& rows,
                                 std::int64_t inputs,
                                 const std::vector<std::int64_t>& chosen);

/// At most `most` of the rows, evenly spaced.
data::EncodedRows encoded_sample(const data::EncodedRows& rows,
                                 std::int64_t inputs, std::int64_t most);

}  // namespace radir::workflows
