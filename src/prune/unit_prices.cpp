#include "radir/prune/unit_prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/network/cost.h"
#include "radir/network/wiring.h"

namespace radir::prune {
namespace {

/// FLOPs that go with one unit of each layer with weights.
struct UnitCosts {
  std::vector<double> outputs;
  std::vector<double> inputs;
  double least = std::numeric_limits<double>::infinity();
};

UnitCosts unit_costs(const network::NetworkSpec& network) {
  const network::Wiring wiring(network);
  const network::Cost cost = network::cost(network);
  const auto per = [&](std::size_t l, std::int64_t units) {
    return static_cast<double>(cost.layers[l].flops) /
           static_cast<double>(units);
  };
  UnitCosts costs;
  for (std::size_t l = 0; l < wiring.size(); ++l) {
    const double column = per(l, wiring.inputs(l));
    costs.outputs.push_back(per(l, wiring.outputs(l)));
    costs.inputs.push_back(column);
    if (l == 0) {
      if (wiring.removable(0)) costs.least = column;
      continue;
    }
    const auto features = static_cast<double>(wiring.features_per_maker(l));
    costs.outputs[l - 1] += column * features;
    // A feature of a flattened image goes without the filter that makes it.
    if (features == 1) costs.inputs[l] = costs.outputs[l - 1];
    costs.least = std::min(costs.least, costs.inputs[l]);
  }
  return costs;
}

}  // namespace

UnitPrices unit_prices(const network::NetworkSpec& network, double base,
                       double power) {
  const UnitCosts costs = unit_costs(network);
  const auto prices = [&](const std::vector<double>& flops) {
    std::vector<double> result;
    for (double unit : flops) {
      result.push_back(base * std::pow(unit / costs.least, power));
    }
    return result;
  };
  return {prices(costs.outputs), prices(costs.inputs)};
}

}  // namespace radir::prune
