#include "torch/nn/checks.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/isfinite.h>

#include "radir/core/error.h"

namespace radir::nn::detail {
namespace {

/// In one pass that compilers vectorise: x - x is zero, or NaN where x is not
/// finite.
bool all_finite(const torch::Tensor& values) {
  bool result = true;
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "all_finite", [&] {
    const scalar_t* x = values.data_ptr<scalar_t>();
    int bad = 0;
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      bad |= static_cast<int>(x[i] - x[i] != 0);
    }
    result = bad == 0;
  });
  return result;
}

}  // namespace

void check_finite(const std::string& where, const char* what,
                  const torch::Tensor& values) {
  if (all_finite(values.contiguous())) return;
  const torch::Tensor flat = values.detach().reshape(-1);
  const torch::Tensor bad = at::isfinite(flat).logical_not().nonzero();
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
