#pragma once

#include <string>
#include <vector>

#include "radir/io/target_runs.h"
#include "radir/workflows/run_report.h"

namespace radir::workflows {

/// The page of a folder with several targets: what held-out rows showed of
/// each, and links to their pages. `name` is that of the folder.
RunReport targets_page(const std::string& path, const std::string& name,
                       const std::vector<io::TargetRun>& runs);

}  // namespace radir::workflows
