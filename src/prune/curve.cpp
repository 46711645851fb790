#include "radir/prune/curve.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "radir/core/error.h"
#include "radir/core/text_stream.h"
#include "radir/network/wiring.h"
#include "radir/prune/shrink.h"
#include "radir/train/model.h"

namespace radir::prune {
namespace {

template <typename Limit, typename Value>
bool within(const std::optional<Limit>& limit, const Value& value) {
  return !limit || value <= *limit;
}

std::string describe(const CurvePoint& point) {
  std::ostringstream text = text_stream();
  text << point.architecture << " with " << point.cost.flops << " FLOPs and "
       << point.cost.parameters << " parameters";
  if (point.error) {
    text << ", and an error of " << *point.error << " before any fine-tuning";
  }
  return text.str();
}

}  // namespace

std::vector<CurvePoint> size_curve(const network::NetworkSpec& network,
                                   const Scores& scores) {
  const network::Wiring wiring(network);
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
    point.architecture = architecture(wiring, point.selection);
    point.cost = cost(shrink(network, point.selection));
    curve.push_back(std::move(point));
  }
  return curve;
}

Selection within_flops(const network::NetworkSpec& network,
                       const Scores& scores, std::int64_t max_flops) {
  const network::Wiring wiring(network);
  std::vector<double> thresholds = {-std::numeric_limits<double>::infinity()};
  for (const auto& layer : scores) {
    thresholds.insert(thresholds.end(), layer.begin(), layer.end());
  }
  thresholds.push_back(std::numeric_limits<double>::infinity());
  std::sort(thresholds.begin(), thresholds.end());
  const auto above = [&](double threshold) {
    return select(wiring, scores,
                  std::vector<double>(wiring.size(), threshold));
  };
  const auto too_low = [&](double threshold) {
    return network::cost(shrink(network, above(threshold))).flops > max_flops;
  };
  const auto first =
      std::partition_point(thresholds.begin(), thresholds.end() - 1, too_low);
  return above(*first);
}

const CurvePoint& within_budget(const std::vector<CurvePoint>& curve,
                                const Budget& budget) {
  RADIR_CHECK(!budget.max_error || curve.front().error, ArgumentError,
              "a budget limits the error, but the error of the networks was "
              "not measured");
  const CurvePoint* chosen = nullptr;
  for (const CurvePoint& point : curve) {
    if (!within(budget.max_error, point.error)) break;
    if (!within(budget.max_flops, point.cost.flops) ||
        !within(budget.max_parameters, point.cost.parameters)) {
      continue;
    }
    chosen = &point;
    // An error budget alone asks for the smallest network within it.
    if (budget.max_flops || budget.max_parameters) break;
  }
  if (chosen != nullptr) return *chosen;
  const bool too_bad = !within(budget.max_error, curve.front().error);
  const CurvePoint& nearest = too_bad ? curve.front() : curve.back();
  detail::throw_error<ArgumentError>(
      "no network meets the budget; the nearest is ", describe(nearest));
}

}  // namespace radir::prune
