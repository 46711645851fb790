#pragma once

#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// Distribution of exp(y), y normal of mean `loc` and standard deviation
/// `scale` > 0; support x > 0.
class LogNormal : public Distribution {
 public:
  LogNormal(torch::Tensor loc, torch::Tensor scale,
            Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  torch::Tensor mean() const override;
  torch::Tensor variance() const override;
  torch::Tensor cdf(const torch::Tensor& value) const override;
  torch::Tensor icdf(const torch::Tensor& probability) const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& loc() const { return parameter(0); }
  const torch::Tensor& scale() const { return parameter(1); }
};

}  // namespace radir::distributions
