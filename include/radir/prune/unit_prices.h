#pragma once

#include <vector>

#include "radir/network/spec.h"

namespace radir::prune {

/// What one unit is to cost under the prior, for each layer with weights.
struct UnitPrices {
  std::vector<double> outputs;
  std::vector<double> inputs;
};

/// Prices that grow with the FLOPs that go with a unit: its row in the layer
/// that makes it and its columns in the one that reads it. The cheapest unit
/// costs `base`, any other that times the ratio of the FLOPs to the power
/// `power`: 0 treats all units alike, a higher power penalises expensive units
/// more. Throws ArgumentError when the layers do not fit each other.
UnitPrices unit_prices(const network::NetworkSpec& network, double base,
                       double power);

}  // namespace radir::prune
