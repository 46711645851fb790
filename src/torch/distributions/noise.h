#pragma once

#include <ATen/Dispatch.h>
#include <torch/types.h>

namespace radir::distributions::detail {

/// A new tensor whose elements `fill(out, count)` writes; it is called with a
/// float* or double*.
template <typename Fill>
torch::Tensor filled(torch::IntArrayRef shape, torch::Dtype dtype, Fill fill) {
  torch::Tensor out = torch::empty(shape, dtype);
  AT_DISPATCH_FLOATING_TYPES(
      dtype, "filled", [&] { fill(out.data_ptr<scalar_t>(), out.numel()); });
  return out;
}

}  // namespace radir::distributions::detail
