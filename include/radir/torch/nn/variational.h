#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>

#include "radir/torch/nn/options.h"

namespace radir::nn {

/// A module that holds a variational posterior, and so adds to the ELBO.
class Variational {
 public:
  virtual ~Variational() = default;

  /// KL(posterior || prior) in nats, a scalar through which gradients flow.
  virtual torch::Tensor kl() const = 0;

 protected:
  Variational() = default;
  Variational(const Variational&) = default;
  Variational(Variational&&) = default;
  Variational& operator=(const Variational&) = default;
  Variational& operator=(Variational&&) = default;
};

/// A module whose forward() draws its weights.
class RandomLayer : public Variational {
 public:
  virtual Mode mode() const = 0;
  /// Mode::Frozen takes a new draw each time it is set.
  virtual void set_mode(Mode mode) = 0;

  /// How many draws Mode::Sample makes at every forward(): the first dimension
  /// of the input is then cut into as many equal parts, each of which meets
  /// its own weights. See sample_forward.
  virtual std::int64_t parallel_samples() const = 0;
  virtual void set_parallel_samples(std::int64_t count) = 0;
};

/// The sum of kl() over `module` and everything registered in it; each
/// Variational once. Throws ArgumentError when there is none.
torch::Tensor kl(const torch::nn::Module& module);

/// Sets the mode of every RandomLayer in `module`.
void set_mode(torch::nn::Module& module, Mode mode);

/// Outputs of a whole network under `num_samples` draws of its weights, in one
/// call: [num_samples, batch, ...]. `forward` is run once, on the input
/// repeated num_samples times along its first dimension, with each RandomLayer
/// of `module` that is in Mode::Sample giving each repetition weights of its
/// own; all else in the network sees a larger batch.
///
///   outputs = sample_forward(*net, x, 10, [&](const torch::Tensor& x) {
///     return net->forward(x);
///   });
///
/// A batch normalisation that is training takes its statistics over all
/// repetitions. Throws ArgumentError for num_samples < 1, or an output whose
/// first dimension is not that of its input.
torch::Tensor sample_forward(
    torch::nn::Module& module, const torch::Tensor& input,
    std::int64_t num_samples,
    const std::function<torch::Tensor(const torch::Tensor&)>& forward);

}  // namespace radir::nn
