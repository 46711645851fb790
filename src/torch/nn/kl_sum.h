#pragma once

#include <torch/types.h>

#include <vector>

#include "radir/torch/nn/variational.h"

namespace radir::nn::detail {

/// The sum of the terms as a scalar with one autograd node, of the widest dtype
/// among them.
torch::Tensor sum_of(const std::vector<KlTerm>& terms);

}  // namespace radir::nn::detail
