#pragma once

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <torch/types.h>

#include <cstring>

// New tensors on the CPU without a pass through libtorch's dispatcher, which
// takes longer than a small layer takes to compute.

namespace radir::nn::detail {

inline torch::Tensor empty_tensor(torch::IntArrayRef sizes,
                                  torch::Dtype dtype) {
  return torch::Tensor(at::detail::empty_cpu(sizes, dtype));
}

inline torch::Tensor zero_tensor(torch::IntArrayRef sizes, torch::Dtype dtype) {
  torch::Tensor tensor = empty_tensor(sizes, dtype);
  std::memset(tensor.data_ptr(), 0, tensor.nbytes());
  return tensor;
}

/// A tensor without dimensions.
inline torch::Tensor scalar_tensor(double value, torch::Dtype dtype) {
  torch::Tensor tensor = empty_tensor({}, dtype);
  AT_DISPATCH_FLOATING_TYPES(dtype, "scalar_tensor", [&] {
    *tensor.data_ptr<scalar_t>() = static_cast<scalar_t>(value);
  });
  return tensor;
}

/// The number in a tensor of one element, float or double.
inline double number_in(const torch::Tensor& tensor) {
  double value = 0;
  AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "number_in", [&] {
    value = static_cast<double>(*tensor.data_ptr<scalar_t>());
  });
  return value;
}

}  // namespace radir::nn::detail
