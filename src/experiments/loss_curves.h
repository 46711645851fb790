#pragma once

#include <string>
#include <vector>

#include "radir/experiments/metrics_lines.h"
#include "radir/report/page.h"

namespace radir::experiments {

/// What the training of one network reported; at least one epoch.
struct LossCurve {
  std::string name;
  std::vector<train::EpochReport> epochs;
};

/// A curve for each network, in the order of their numbers.
std::vector<LossCurve> loss_curves(const std::vector<MetricsLine>& lines);

/// The curves drawn, and a table of their ends.
report::Section loss_section(const std::vector<LossCurve>& curves);

}  // namespace radir::experiments
