#pragma once

#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// Gamma distribution with density
/// b^a / Gamma(a) x^(a-1) exp(-b x), x > 0, of shape a = `concentration` > 0
/// and b = `rate` > 0. (Half-Cauchy constructions give a scale: rate = 1 /
/// scale.)
class Gamma : public Distribution {
 public:
  Gamma(torch::Tensor concentration, torch::Tensor rate,
        Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;
  /// The gradient with respect to the concentration is the implicit one,
  /// dx/da = -(dF/da) / p(x), exact to rounding.
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  torch::Tensor mean() const override;
  torch::Tensor variance() const override;
  /// By the regularised incomplete gamma function.
  torch::Tensor cdf(const torch::Tensor& value) const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& concentration() const { return parameter(0); }
  const torch::Tensor& rate() const { return parameter(1); }
};

}  // namespace radir::distributions
