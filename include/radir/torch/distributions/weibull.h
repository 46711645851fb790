#pragma once

#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// Weibull distribution with density
/// (k/l) (x/l)^(k-1) exp(-(x/l)^k), x > 0, of l = `scale` > 0 and shape
/// k = `concentration` > 0.
class Weibull : public Distribution {
 public:
  Weibull(torch::Tensor scale, torch::Tensor concentration,
          Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  torch::Tensor mean() const override;
  torch::Tensor variance() const override;
  torch::Tensor cdf(const torch::Tensor& value) const override;
  torch::Tensor icdf(const torch::Tensor& probability) const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& scale() const { return parameter(0); }
  const torch::Tensor& concentration() const { return parameter(1); }
};

}  // namespace radir::distributions
