#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "radir/core/error.h"

namespace radir::distributions::detail {

/// Gradients as a backward pass computed them, hidden from autograd.
struct Gradients {
  torch::autograd::variable_list tensors;
};

/// A node that passes gradients on and refuses to be differentiated itself.
struct FirstOrderOnly : torch::autograd::Function<FirstOrderOnly> {
  static torch::autograd::variable_list forward(
      torch::autograd::AutogradContext*, const Gradients& gradients,
      torch::TensorList /*sources*/) {
    return gradients.tensors;
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list) {
    radir::detail::throw_error<UnsupportedError>(
        "a second derivative was asked of a log density, entropy, divergence "
        "or sample, whose backward pass is written for first derivatives; "
        "differentiate once, or use plain tensor operations.");
  }
};

/// What a hand-written backward pass returns: `gradients` as they are or, when
/// a graph of the backward pass is being recorded, tied to the `sources` they
/// depend on so that differentiating them throws instead of giving zero.
inline torch::autograd::variable_list first_order_only(
    torch::autograd::variable_list gradients, torch::TensorList sources) {
  if (!torch::GradMode::is_enabled()) return gradients;
  torch::autograd::variable_list defined;
  for (const torch::Tensor& g : gradients) {
    if (g.defined()) defined.push_back(g);
  }
  defined = FirstOrderOnly::apply(Gradients{std::move(defined)}, sources);
  auto next = defined.begin();
  for (torch::Tensor& g : gradients) {
    if (g.defined()) g = *next++;
  }
  return gradients;
}

}  // namespace radir::distributions::detail
