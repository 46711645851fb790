#include "torch/nn/checks.h"

#include <ATen/ops/isfinite.h>

#include <cmath>

#include "radir/core/error.h"

namespace radir::nn::detail {

void check_finite(const std::string& where, const char* what,
                  const torch::Tensor& values) {
  // A sum costs one pass and is finite unless an element is not, or the sum
  // itself is too large, which the search below then excuses.
  const torch::Tensor flat = values.detach().reshape(-1);
  if (std::isfinite(flat.sum().item<double>())) return;
  const torch::Tensor bad = at::isfinite(flat).logical_not().nonzero();
  if (bad.numel() == 0) return;
  const auto index = bad[0].item<std::int64_t>();
  radir::detail::throw_error<DomainError>(
      where, ": ", what, " must be finite, but is ", flat[index].item<double>(),
      " at element ", index, " of shape ", values.sizes(), " (", bad.size(0),
      " such elements)");
}

void check_device(const std::string& where, torch::Device device) {
  RADIR_CHECK(device.is_cpu(), UnsupportedError, where,
              ": Bayesian layers run on the CPU, but the device is ",
              device.str(), "; move inputs and layers with to(torch::kCPU)");
}

void check_dtype(const std::string& where, torch::Dtype dtype) {
  RADIR_CHECK(dtype == torch::kFloat || dtype == torch::kDouble, ArgumentError,
              where, ": the dtype must be float or double, but is ",
              torch::toString(dtype));
}

}  // namespace radir::nn::detail
