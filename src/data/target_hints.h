#pragma once

#include <string>

#include "data/column_coding.h"
#include "radir/data/table.h"

// What the values of a target say about how it may be meant. None is missing in
// the rows.

namespace radir::data {

/// A hint for a numeric target of a few integers; empty for others.
std::string classes_hint(const Column& target, const RowNumbers& rows);

/// A hint for classes of about one row each; empty for others.
std::string rare_classes_hint(const FittedColumn& target,
                              const RowNumbers& rows);

/// Of the most frequent number.
double share_of_most_frequent(const Column& column, const RowNumbers& rows);

}  // namespace radir::data
