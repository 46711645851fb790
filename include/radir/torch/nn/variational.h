#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "radir/torch/nn/options.h"

namespace radir::nn {

/// A KL divergence that is not a tensor yet.
struct KlTerm {
  double value = 0;  ///< in nats
  torch::Dtype dtype = torch::kFloat;
  /// Takes the derivative by the value; invalid when nobody wants a gradient.
  torch::autograd::Edge edge;
};

/// A module that holds a variational posterior, and so adds to the ELBO.
class Variational {
 public:
  virtual ~Variational() = default;

  /// KL(posterior || prior) in nats, a scalar through which gradients flow.
  virtual torch::Tensor kl() const = 0;

  /// The same as a number, for nn::kl to sum without an operation on tensors
  /// per term. A class need not have it: nn::kl then adds kl().
  virtual std::optional<KlTerm> kl_term() const { return std::nullopt; }

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

  /// How many draws a forward() that samples makes: the first dimension
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

/// Outputs of a network under `num_samples` draws of its weights, in one call:
/// [num_samples, batch, ...]. `forward` is run once, on the input repeated
/// num_samples times along its first dimension, with each RandomLayer of
/// `module` giving each repetition weights of its own, after train() and after
/// eval(); all else in the network sees a larger batch. A layer whose mode was
/// set to other than Auto and Sample keeps it.
///
///   outputs = sample_forward(*net, x, 10, [&](const torch::Tensor& x) {
///     return net->head(net->body(x));
///   });
///
/// A batch normalisation that is training takes its statistics over all
/// repetitions. Throws ArgumentError for num_samples < 1, or an output whose
/// first dimension is not that of its input.
torch::Tensor sample_forward(
    torch::nn::Module& module, const torch::Tensor& input,
    std::int64_t num_samples,
    const std::function<torch::Tensor(const torch::Tensor&)>& forward);

namespace detail {

template <typename Network, typename = void>
struct has_forward : std::false_type {};
template <typename Network>
struct has_forward<Network,
                   std::void_t<decltype(std::declval<Network&>().forward(
                       std::declval<const torch::Tensor&>()))>>
    : std::true_type {};

}  // namespace detail

/// The same for a network with one forward(Tensor), which is called:
///
///   outputs = sample_forward(*net, x, 10);
template <typename Network, typename = std::enable_if_t<
                                std::is_base_of_v<torch::nn::Module, Network>>>
torch::Tensor sample_forward(Network& network, const torch::Tensor& input,
                             std::int64_t num_samples) {
  static_assert(detail::has_forward<Network>::value,
                "sample_forward: this type has no forward(Tensor); pass what "
                "to call as the fourth argument");
  return sample_forward(
      network, input, num_samples,
      [&](const torch::Tensor& x) { return network.forward(x); });
}

/// The same for a module holder: sample_forward(net, x, 10).
template <typename Network>
torch::Tensor sample_forward(const torch::nn::ModuleHolder<Network>& network,
                             const torch::Tensor& input,
                             std::int64_t num_samples) {
  return sample_forward(*network.ptr(), input, num_samples);
}

}  // namespace radir::nn
