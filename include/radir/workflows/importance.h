#pragma once

#include <vector>

#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// How strongly each input column of the encoder enters the network: the root
/// mean square, over the networks, of the length of all mean weights that the
/// first layer has for it. Inputs are standardised, so that columns compare;
/// 0 for one that was pruned.
std::vector<double> column_importance(const TableModel& model);

}  // namespace radir::workflows
