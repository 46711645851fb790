#pragma once

#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// Weights without noise and a penalty that makes groups of them exactly zero:
///   strength * sum over groups g of sqrt(size of g) * |w_g|
/// takes the place of the divergence. A training step applies it after the
/// optimiser's, by the proximal step
///   w_g <- w_g max(0, 1 - rate strength sqrt(size of g) / |w_g|),
/// rate being the learning rate times the penalty's factor in the loss. It does
/// not go through Adam, which would undo its size. Rows come before columns:
/// for both together an approximation of the joint step, exact for one side.
struct GroupLassoOptions {
  Grouping grouping = Grouping::Double;
  double strength = 1;
  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
};

void describe(SettingsVisitor& visit, GroupLassoOptions& options);
const Family& family_of(const GroupLassoOptions&);

}  // namespace radir::posterior
