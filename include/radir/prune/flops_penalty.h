#pragma once

#include <cstdint>
#include <memory>

#include "radir/train/model.h"
#include "radir/train/penalty.h"

namespace radir::prune {

/// The FLOPs of a network as an objective (R. Tang, A. Adhikari, J. Lin,
/// "FLOPs as a direct optimization objective for learning sparse neural
/// networks", 2018): price * E max(0, F - target), F the FLOPs of the units
/// whose hard concrete gates are not zero. An input whose maker's gate is
/// closed does not count.
///
/// The expectation is over draws of all gates; the derivative by the
/// probability of one gate is the difference between its being open and
/// closed, the others drawn. That is exact in mean and varies much less than
/// the gradient of the log-probability.
///
/// Throws UnsupportedError unless every layer has hard concrete gates and is no
/// grouped convolution.
std::shared_ptr<const train::Penalty> flops_penalty(const train::Model& model,
                                                    double price,
                                                    std::int64_t target);

}  // namespace radir::prune
