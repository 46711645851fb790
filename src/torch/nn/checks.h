#pragma once

#include <torch/types.h>

#include <string>

namespace radir::nn::detail {

/// Throws DomainError, naming the first element that is not finite.
void check_finite(const std::string& where, const char* what,
                  const torch::Tensor& values);

/// Throws UnsupportedError for a device other than the CPU.
void check_device(const std::string& where, torch::Device device);

/// Throws ArgumentError for a dtype other than float and double.
void check_dtype(const std::string& where, torch::Dtype dtype);

}  // namespace radir::nn::detail
