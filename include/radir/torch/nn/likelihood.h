#pragma once

#include <torch/arg.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "radir/torch/nn/variational.h"

namespace radir::nn {

/// How targets are distributed given the outputs of a network: what the
/// likelihoods below have in common.
///
/// Outputs are [batch, ...] or, under several draws of the weights, [samples,
/// batch, ...]. Members throw ArgumentError for shapes or dtypes that do not
/// fit each other (nothing is broadcast: an output [batch, 1] does not fit a
/// target [batch]) and DomainError for targets that are not finite.
class ObservationModel {
 public:
  virtual ~ObservationModel() = default;

  /// Negative log-likelihood in nats per example: the sum over the numbers of
  /// a target, the mean over the batch and the samples. A scalar through which
  /// gradients flow.
  virtual torch::Tensor nll(const torch::Tensor& outputs,
                            const torch::Tensor& targets) const = 0;

  /// Log-likelihood of each example under the mixture of the samples,
  /// log (1/S) sum_s p(target | outputs[s]), for outputs [samples, batch, ...]:
  /// a double tensor [batch].
  virtual torch::Tensor predictive_log_prob(
      const torch::Tensor& outputs, const torch::Tensor& targets) const = 0;

 protected:
  ObservationModel() = default;
  ObservationModel(const ObservationModel&) = default;
  ObservationModel(ObservationModel&&) = default;
  ObservationModel& operator=(const ObservationModel&) = default;
  ObservationModel& operator=(ObservationModel&&) = default;
};

struct GaussianLikelihoodOptions {
  /// Prior of the precision; Gamma(6, 6) is that of Oh, Adamczewski and Park
  /// (2019), for standardised targets. Small values leave the noise free.
  TORCH_ARG(double, prior_shape) = 6;
  TORCH_ARG(double, prior_rate) = 6;
  /// Numbers in all training targets: the shape is at its optimum,
  /// prior_shape + observations / 2, and stays there (it needs no gradient);
  /// the rate starts where the mean precision is that of the prior. 0: not
  /// known, so that both are learnt.
  TORCH_ARG(std::int64_t, observations) = 0;
};

/// Normal around the outputs with one precision tau for all of them, which has
/// a posterior q(tau) = Gamma(shape a, rate b) of its own; its parameters are
/// `log_shape` and `log_rate`.
///
/// nll is expected under q: with f an output and y its target,
///   log(2 pi)/2 + (log b - digamma(a))/2 + a/(2b) (y - f)^2;
/// predictive_log_prob integrates tau out: Student's t. The KL counts once per
/// network: register the likelihood in it, or add kl() by hand.
class GaussianLikelihoodImpl
    : public torch::nn::Cloneable<GaussianLikelihoodImpl>,
      public ObservationModel,
      public Variational {
 public:
  /// Throws ArgumentError unless prior_shape and prior_rate are positive and
  /// observations is not negative.
  explicit GaussianLikelihoodImpl(
      const GaussianLikelihoodOptions& options = {});

  torch::Tensor nll(const torch::Tensor& outputs,
                    const torch::Tensor& targets) const override;
  torch::Tensor predictive_log_prob(
      const torch::Tensor& outputs,
      const torch::Tensor& targets) const override;
  /// KL(q(tau) || prior) in nats. A second derivative throws UnsupportedError.
  torch::Tensor kl() const override;
  std::optional<KlTerm> kl_term() const override;

  /// Shape and rate of q(tau), as doubles.
  torch::Tensor shape() const;
  torch::Tensor rate() const;

  const GaussianLikelihoodOptions& options() const { return options_; }
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

 private:
  GaussianLikelihoodOptions options_;
  torch::Tensor log_shape_;
  torch::Tensor log_rate_;
};

/// Holds a GaussianLikelihoodImpl.
TORCH_MODULE(GaussianLikelihood);

/// Normal with a noise level that the network gives for each input: the first
/// half of the outputs' last dimension are means, the second half log
/// variances. For standardised targets: a log variance below log(1e-10) or
/// above log(100) counts as that bound (kernels::bounded_log_variance).
class PredictedNoise final : public ObservationModel {
 public:
  torch::Tensor nll(const torch::Tensor& outputs,
                    const torch::Tensor& targets) const override;
  torch::Tensor predictive_log_prob(
      const torch::Tensor& outputs,
      const torch::Tensor& targets) const override;
};

/// One of as many classes as the outputs' last dimension has, by softmax;
/// targets are whole numbers (int64) [batch]. Throws ArgumentError for a label
/// that is no class.
class Categorical final : public ObservationModel {
 public:
  torch::Tensor nll(const torch::Tensor& outputs,
                    const torch::Tensor& targets) const override;
  torch::Tensor predictive_log_prob(
      const torch::Tensor& outputs,
      const torch::Tensor& targets) const override;
};

}  // namespace radir::nn
