#pragma once

#include <torch/types.h>

#include "radir/torch/nn/variational.h"

// The parts of GaussianLikelihood's loss, each with one autograd node.

namespace radir::nn::detail {

/// q(tau) = Gamma(shape, rate) of a precision, by the logarithms of both.
struct GammaPrecision {
  torch::Tensor log_shape;
  torch::Tensor log_rate;
};

/// -E_q[log N(targets | outputs, 1/tau)] in nats per example; outputs are
/// [samples, batch, ...], targets [batch, ...] of the same dtype.
/// Differentiable any number of times.
torch::Tensor gaussian_nll(const torch::Tensor& outputs,
                           const torch::Tensor& targets,
                           const GammaPrecision& precision);

/// KL(q || Gamma(prior_shape, prior_rate)). A second derivative throws
/// UnsupportedError.
KlTerm precision_kl_term(const GammaPrecision& precision, double prior_shape,
                         double prior_rate);

}  // namespace radir::nn::detail
