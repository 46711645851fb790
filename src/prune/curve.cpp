#include "radir/prune/curve.h"

#include <algorithm>

#include "radir/prune/shrink.h"

namespace radir::prune {

std::vector<CurvePoint> size_curve(const train::NetworkSpec& network,
                                   const Scores& scores) {
  const Wiring wiring(network);
  Scores sorted = scores;
  for (auto& layer : sorted) std::sort(layer.begin(), layer.end());
  std::vector<CurvePoint> curve;
  for (std::size_t percent = 0; percent < 100; percent += 2) {
    std::vector<double> thresholds;
    for (const auto& layer : sorted) {
      thresholds.push_back(layer.empty() ? 0
                                         : layer[layer.size() * percent / 100]);
    }
    CurvePoint point;
    point.share = static_cast<double>(percent) / 100;
    point.selection = select(wiring, scores, thresholds);
    point.cost = cost(shrink(network, point.selection));
    curve.push_back(std::move(point));
  }
  return curve;
}

}  // namespace radir::prune
