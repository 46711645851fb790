#pragma once

#include <string>
#include <vector>

#include "radir/report/page.h"
#include "radir/train/trainer.h"
#include "radir/workflows/metrics_lines.h"

namespace radir::workflows {

/// What the training of one network reported; at least one epoch.
struct LossCurve {
  std::string name;
  std::vector<train::EpochReport> epochs;
};

/// A curve for each network, in the order of their numbers.
std::vector<LossCurve> loss_curves(const std::vector<MetricsLine>& lines);

/// The curves drawn, and a table of their ends.
report::Section loss_section(const std::vector<LossCurve>& curves);

}  // namespace radir::workflows
