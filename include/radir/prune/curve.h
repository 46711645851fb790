#pragma once

#include <vector>

#include "radir/prune/cost.h"
#include "radir/prune/selection.h"

namespace radir::prune {

/// One network on the way from a whole one to nearly nothing.
struct CurvePoint {
  double share = 0;  ///< of the units of every layer that are gone
  Selection selection;
  Cost cost;
};

/// Networks from which equal shares of the units of every layer are removed,
/// those of the lowest scores first: shares of 0, 0.02, ... 0.98. Scores of
/// different layers have no common measure, so none is preferred.
std::vector<CurvePoint> size_curve(const train::NetworkSpec& network,
                                   const Scores& scores);

}  // namespace radir::prune
