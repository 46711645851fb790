#include "torch/nn/gaussian_nodes.h"

#include <torch/csrc/autograd/functions/utils.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "radir/kernels/likelihood.h"
#include "radir/math/radial_kl.h"
#include "torch/distributions/first_order.h"
#include "torch/nn/fast_tensors.h"

namespace radir::nn::detail {
namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;
using Variables = torch::autograd::variable_list;

/// Floats in the widest vectors.
constexpr std::int64_t kMostLanes = 16;

constexpr double kLog2Pi = 1.8378770664093454836;  // log(2 pi)

/// The formula in plain tensor operations: what a backward pass that is itself
/// recorded differentiates. `inputs` as NllNode has them.
torch::Tensor composed_nll(const Variables& inputs) {
  const torch::Tensor &outputs = inputs[0], &targets = inputs[1];
  const torch::Tensor log_shape = inputs[2].to(torch::kDouble);
  const torch::Tensor log_rate = inputs[3].to(torch::kDouble);
  const double examples =
      static_cast<double>(outputs.size(0) * outputs.size(1));
  const double numbers = static_cast<double>(outputs.numel()) / examples;
  const torch::Tensor squares =
      (outputs - targets).square().sum().to(torch::kDouble) / examples;
  const torch::Tensor log_precision = log_shape.exp().digamma() - log_rate;
  const torch::Tensor precision = (log_shape - log_rate).exp();
  return (0.5 * (numbers * (kLog2Pi - log_precision) + precision * squares))
      .to(outputs.scalar_type());
}

/// The derivatives of a function by log_shape and log_rate.
struct PrecisionGradient {
  double log_shape = 0;
  double log_rate = 0;
};

/// The backward pass of gaussian_nll, whose gradients the forward pass finds.
class NllNode : public Node {
 public:
  NllNode(const Variables& inputs, const torch::Tensor& by_outputs,
          const PrecisionGradient& precision)
      : Node(torch::autograd::collect_next_edges(inputs)),
        by_outputs_(by_outputs),
        by_precision_(precision) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_[i] = SavedVariable(inputs[i], /*is_output=*/false);
    }
  }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    by_outputs_.reset();
    for (SavedVariable& input : inputs_) input.reset_data();
  }

 private:
  Variables apply(Variables&& output_gradients) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Variables inputs;
    for (const SavedVariable& input : inputs_) inputs.push_back(input.unpack());
    const torch::Tensor& outer = output_gradients[0];
    if (torch::GradMode::is_enabled()) return recorded(inputs, outer);

    const double scale = number_in(outer);
    const auto number = [&](const torch::Tensor& like, double derivative) {
      return scalar_tensor(scale * derivative, like.scalar_type());
    };
    Variables gradients(inputs.size());
    if (should_compute_output(0)) gradients[0] = by_outputs_ * scale;
    if (should_compute_output(1)) gradients[1] = by_outputs_.sum(0) * -scale;
    gradients[2] = number(inputs[2], by_precision_.log_shape);
    gradients[3] = number(inputs[3], by_precision_.log_rate);
    return gradients;
  }

  /// The same through tensor operations, which can be differentiated again.
  Variables recorded(const Variables& inputs,
                     const torch::Tensor& outer) const {
    Variables wanted;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (should_compute_output(i)) wanted.push_back(inputs[i]);
    }
    const Variables found = torch::autograd::grad(
        {composed_nll(inputs)}, wanted, {outer}, /*retain_graph=*/true,
        /*create_graph=*/true);
    Variables gradients(inputs.size());
    auto next = found.begin();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (should_compute_output(i)) gradients[i] = *next++;
    }
    return gradients;
  }

  std::array<SavedVariable, 4> inputs_;
  torch::Tensor by_outputs_;
  PrecisionGradient by_precision_;
};

/// The backward pass of precision_kl_term.
class PrecisionKlNode : public Node {
 public:
  PrecisionKlNode(const GammaPrecision& precision,
                  const PrecisionGradient& gradient)
      : Node(torch::autograd::collect_next_edges(precision.log_shape,
                                                 precision.log_rate)),
        precision_(precision),
        gradient_(gradient) {
    add_input_metadata(precision.log_shape.options().requires_grad(false),
                       c10::SymIntArrayRef(), false);
  }

 private:
  Variables apply(Variables&& output_gradients) override {
    const double scale = number_in(output_gradients[0]);
    const torch::Dtype dtype = precision_.log_shape.scalar_type();
    return distributions::detail::first_order_only(
        {scalar_tensor(scale * gradient_.log_shape, dtype),
         scalar_tensor(scale * gradient_.log_rate, dtype)},
        {precision_.log_shape, precision_.log_rate, output_gradients[0]});
  }

  GammaPrecision precision_;
  PrecisionGradient gradient_;
};

/// The loss of all samples, its gradient by the outputs into `by_outputs`
/// (undefined: not wanted) and that by the precision's parameters.
template <typename T>
kernels::GammaPrecisionLoss total_loss(const torch::Tensor& outputs,
                                       const torch::Tensor& targets,
                                       const torch::Tensor& by_outputs,
                                       double shape, double rate) {
  // Numbers are alike, so each sample is a batch of single outputs, in rows
  // that vectors of any instruction set fill.
  kernels::LikelihoodData<T> data;
  data.num_outputs = 1;
  data.batch = targets.numel();
  data.stride = (data.batch + kMostLanes - 1) / kMostLanes * kMostLanes;
  data.scale = 1 / static_cast<double>(outputs.size(0) * outputs.size(1));
  std::vector<T> row(static_cast<std::size_t>(data.stride));
  std::vector<T> gradient(by_outputs.defined() ? row.size() : 0);
  data.outputs = row.data();
  data.gradient = gradient.empty() ? nullptr : gradient.data();
  kernels::GammaPrecisionLoss total;
  for (std::int64_t s = 0; s < outputs.size(0); ++s) {
    std::copy_n(outputs.data_ptr<T>() + s * data.batch, data.batch,
                row.begin());
    const kernels::GammaPrecisionLoss part =
        kernels::gamma_precision_loss(data, targets.data_ptr<T>(), shape, rate);
    if (by_outputs.defined()) {
      std::copy_n(gradient.begin(), data.batch,
                  by_outputs.data_ptr<T>() + s * data.batch);
    }
    total.loss += data.scale * part.loss;
    total.shape_gradient += data.scale * part.shape_gradient;
    total.rate_gradient += data.scale * part.rate_gradient;
  }
  return total;
}

}  // namespace

torch::Tensor gaussian_nll(const torch::Tensor& outputs,
                           const torch::Tensor& targets,
                           const GammaPrecision& precision) {
  const Variables inputs = {outputs, targets, precision.log_shape,
                            precision.log_rate};
  const bool recorded = torch::autograd::compute_requires_grad(inputs);
  const double shape = std::exp(number_in(precision.log_shape));
  const double rate = std::exp(number_in(precision.log_rate));
  torch::Tensor by_outputs;
  if (recorded) {
    by_outputs = empty_tensor(outputs.sizes(), outputs.scalar_type());
  }
  kernels::GammaPrecisionLoss total;
  AT_DISPATCH_FLOATING_TYPES(outputs.scalar_type(), "gaussian_nll", [&] {
    total = total_loss<scalar_t>(outputs.contiguous(), targets.contiguous(),
                                 by_outputs, shape, rate);
  });
  torch::Tensor nll = scalar_tensor(total.loss, outputs.scalar_type());
  if (recorded) {
    const PrecisionGradient gradient = {shape * total.shape_gradient,
                                        rate * total.rate_gradient};
    const std::shared_ptr<Node> node(new NllNode(inputs, by_outputs, gradient),
                                     torch::autograd::deleteNode);
    torch::autograd::create_gradient_edge(nll, node);
  }
  return nll;
}

KlTerm precision_kl_term(const GammaPrecision& precision, double prior_shape,
                         double prior_rate) {
  const double shape = std::exp(number_in(precision.log_shape));
  const double rate = std::exp(number_in(precision.log_rate));
  KlTerm term;
  term.value = math::kl_gamma(shape, rate, prior_shape, prior_rate);
  term.dtype = precision.log_shape.scalar_type();
  if (torch::autograd::compute_requires_grad(precision.log_shape,
                                             precision.log_rate)) {
    const auto gradient =
        math::kl_gamma_gradient(shape, rate, prior_shape, prior_rate);
    const std::shared_ptr<Node> node(
        new PrecisionKlNode(precision,
                            {shape * gradient.q1, rate * gradient.q2}),
        torch::autograd::deleteNode);
    term.edge = {node, 0};
  }
  return term;
}

}  // namespace radir::nn::detail
