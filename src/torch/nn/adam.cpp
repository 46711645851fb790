#include "radir/torch/nn/adam.h"

#include <ATen/Dispatch.h>
#include <torch/torch.h>

#include <string>
#include <utility>

#include "radir/core/error.h"
#include "radir/kernels/adam.h"

namespace radir::nn {
namespace {

kernels::AdamOptions kernel_options(const Adam::Options& options) {
  RADIR_CHECK(!options.amsgrad(), UnsupportedError,
              "Adam: amsgrad is not supported; use torch::optim::Adam");
  kernels::AdamOptions result;
  result.learning_rate = options.lr();
  result.beta1 = std::get<0>(options.betas());
  result.beta2 = std::get<1>(options.betas());
  result.epsilon = options.eps();
  result.weight_decay = options.weight_decay();
  return result;
}

void check_parameter(const torch::Tensor& parameter) {
  const bool usable = parameter.device().is_cpu() &&
                      parameter.is_contiguous() &&
                      (parameter.scalar_type() == torch::kFloat ||
                       parameter.scalar_type() == torch::kDouble) &&
                      !parameter.grad().is_sparse();
  RADIR_CHECK(usable, UnsupportedError,
              "Adam: parameters must be contiguous float or double tensors on ",
              "the CPU with dense gradients, but one is ", parameter.toString(),
              " of shape ", parameter.sizes(), "; use torch::optim::Adam");
}

std::string key(const char* name, std::size_t index) {
  return name + std::to_string(index);
}

}  // namespace

Adam::Adam(std::vector<torch::Tensor> parameters, const Options& defaults)
    : Adam(
          std::vector<torch::optim::OptimizerParamGroup>{
              torch::optim::OptimizerParamGroup(std::move(parameters))},
          defaults) {}

Adam::Adam(std::vector<torch::optim::OptimizerParamGroup> groups,
           const Options& defaults)
    : Optimizer(std::move(groups), std::make_unique<Options>(defaults)) {}

torch::Tensor Adam::step(LossClosure closure) {
  torch::Tensor loss;
  if (closure != nullptr) {
    const torch::AutoGradMode enable_grad(true);
    loss = closure();
  }
  const torch::NoGradGuard no_grad;
  std::size_t index = 0;
  for (auto& group : param_groups_) {
    const auto& options = static_cast<const Options&>(group.options());
    for (torch::Tensor& parameter : group.params()) {
      if (index == moments_.size()) moments_.emplace_back();
      Moments& moments = moments_[index++];
      if (parameter.grad().defined()) update(options, parameter, moments);
    }
  }
  return loss;
}

void Adam::update(const Options& options, torch::Tensor& parameter,
                  Moments& moments) const {
  check_parameter(parameter);
  if (!moments.first.defined()) {
    moments.first = torch::zeros_like(parameter);
    moments.second = torch::zeros_like(parameter);
  }
  const torch::Tensor gradient = parameter.grad().contiguous();
  ++moments.steps;
  AT_DISPATCH_FLOATING_TYPES(parameter.scalar_type(), "adam", [&] {
    kernels::AdamBuffers<scalar_t> buffers;
    buffers.parameter = parameter.data_ptr<scalar_t>();
    buffers.gradient = gradient.data_ptr<scalar_t>();
    buffers.first_moment = moments.first.data_ptr<scalar_t>();
    buffers.second_moment = moments.second.data_ptr<scalar_t>();
    kernels::adam_step(kernel_options(options), moments.steps,
                       parameter.numel(), buffers);
  });
  // So that a graph that saved the old values knows they are gone.
  parameter.unsafeGetTensorImpl()->bump_version();
}

void Adam::zero_grad() {
  for (auto& group : param_groups_) {
    for (torch::Tensor& parameter : group.params()) {
      parameter.mutable_grad().reset();
    }
  }
}

void Adam::save(torch::serialize::OutputArchive& archive) const {
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    const Moments& moments = moments_[i];
    archive.write(key("steps_", i),
                  torch::full({}, moments.steps, torch::kLong));
    if (moments.steps == 0) continue;
    archive.write(key("first_moment_", i), moments.first);
    archive.write(key("second_moment_", i), moments.second);
  }
}

void Adam::load(torch::serialize::InputArchive& archive) {
  std::vector<Moments> loaded;
  for (const auto& group : param_groups_) {
    for (const torch::Tensor& parameter : group.params()) {
      const std::size_t i = loaded.size();
      Moments moments;
      torch::Tensor steps;
      if (!archive.try_read(key("steps_", i), steps)) continue;
      moments.steps = steps.item<std::int64_t>();
      if (moments.steps > 0) {
        archive.read(key("first_moment_", i), moments.first);
        archive.read(key("second_moment_", i), moments.second);
        RADIR_CHECK(moments.first.sizes() == parameter.sizes(), ArgumentError,
                    "Adam: the file's parameter ", i, " has the shape ",
                    moments.first.sizes(), ", but here it is ",
                    parameter.sizes());
      }
      loaded.push_back(std::move(moments));
    }
  }
  moments_ = std::move(loaded);
}

}  // namespace radir::nn
