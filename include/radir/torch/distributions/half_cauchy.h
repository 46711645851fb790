#pragma once

#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// Half-Cauchy distribution with density 2 / (pi g (1 + (x/g)^2)), x >= 0, of
/// g = `scale` > 0.
class HalfCauchy : public Distribution {
 public:
  explicit HalfCauchy(torch::Tensor scale, Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  torch::Tensor mean() const override;
  /// Infinite, as the mean.
  torch::Tensor variance() const override;
  torch::Tensor cdf(const torch::Tensor& value) const override;
  torch::Tensor icdf(const torch::Tensor& probability) const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& scale() const { return parameter(0); }
};

}  // namespace radir::distributions
