#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "radir/network/cost.h"
#include "radir/network/spec.h"
#include "radir/prune/selection.h"
#include "radir/train/model.h"

namespace radir::prune {

/// One network between the complete one and the smallest.
struct CurvePoint {
  double share = 0;  ///< of the units of every layer that are gone
  Selection selection;
  std::string architecture;  ///< as prune::architecture says
  network::Cost cost;
  /// Share of examples put in a wrong class; for whoever has examples to fill
  /// in.
  std::optional<double> error = std::nullopt;
};

/// Networks from which equal shares of the units of every layer are removed,
/// those of the lowest scores first: shares of 0, 0.02, ... 0.98. Scores of
/// different layers have no common measure, so none is preferred.
std::vector<CurvePoint> size_curve(const network::NetworkSpec& network,
                                   const Scores& scores);

/// As many units as cost no more than `max_flops`, those of the highest scores
/// of all layers together: for scores that have a common measure. Where two
/// units of each layer cost more, these.
Selection within_flops(const network::NetworkSpec& network,
                       const Scores& scores, std::int64_t max_flops);

/// Limits on the cost of a network; empty: no limit.
struct Budget {
  std::optional<std::int64_t> max_flops;
  std::optional<std::int64_t> max_parameters;
  std::optional<double> max_error;  ///< as CurvePoint::error

  bool is_given() const { return max_flops || max_parameters || max_error; }
};

/// The first point of a curve that meets the budget; where only the error is
/// limited, the last one before it is passed. Throws ArgumentError when there
/// is none, naming the nearest, or when the error is limited but not known.
const CurvePoint& within_budget(const std::vector<CurvePoint>& curve,
                                const Budget& budget);

}  // namespace radir::prune
