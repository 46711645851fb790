#pragma once

#include <string>
#include <vector>

#include "radir/report/table.h"

namespace radir::reproduce {

/// A data set that is not the one which the published figures are of.
struct UnpublishedSet {
  std::string name;
  std::string problem;  ///< the first file that is missing or differs
};

/// Those of the named sets, such as "yacht" or "mnist", whose files in the data
/// folder have other checksums than the published ones.
std::vector<UnpublishedSet> unpublished_sets(
    const std::string& data_dir, const std::vector<std::string>& names);

/// Says so in the first cell of each row of such a set.
void mark_unpublished(report::Table& table,
                      const std::vector<UnpublishedSet>& sets);

/// "not the published data: yacht (...)"; empty when there is no such set.
std::string note_on_unpublished(const std::vector<UnpublishedSet>& sets);

}  // namespace radir::reproduce
