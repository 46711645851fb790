#pragma once

#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// Distribution of 1/y, y Gamma; density b^a / Gamma(a) x^(-a-1) exp(-b/x),
/// x > 0, of shape a = `concentration` > 0 and b = `scale` > 0 (which
/// torch.distributions calls the rate, that of y).
class InverseGamma : public Distribution {
 public:
  InverseGamma(torch::Tensor concentration, torch::Tensor scale,
               Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;
  /// Implicit gradient with respect to the concentration, as Gamma's.
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  torch::Tensor mean() const override;
  /// Infinite for concentration <= 1, and the variance for <= 2.
  torch::Tensor variance() const override;
  /// By the regularised incomplete gamma function.
  torch::Tensor cdf(const torch::Tensor& value) const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& concentration() const { return parameter(0); }
  const torch::Tensor& scale() const { return parameter(1); }
};

}  // namespace radir::distributions
