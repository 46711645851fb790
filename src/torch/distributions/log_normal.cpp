#include "radir/torch/distributions/log_normal.h"

#include <cmath>

#include "radir/math/gamma.h"
#include "radir/torch/distributions/normal.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"

namespace radir::distributions {
namespace {

using math::detail::kHalfLog2Pi;

struct LogNormalLogDensity {
  double operator()(double x, double loc, double scale) const {
    const double log_x = std::log(x);
    const double z = (log_x - loc) / scale;
    return -0.5 * z * z - std::log(scale) - kHalfLog2Pi - log_x;
  }
  std::array<double, 3> gradient(double x, double loc, double scale) const {
    const double z = (std::log(x) - loc) / scale;
    return {-(z / scale + 1) / x, z / scale, (z * z - 1) / scale};
  }
};

}  // namespace

LogNormal::LogNormal(torch::Tensor loc, torch::Tensor scale, Validate validate)
    : Distribution("LogNormal", &detail::kPositive,
                   {{"loc", std::move(loc), &detail::kFinite},
                    {"scale", std::move(scale), &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor LogNormal::log_prob(const torch::Tensor& value) const {
  check_value("LogNormal.log_prob", value);
  return detail::elementwise(LogNormalLogDensity{}, value, loc(), scale());
}

torch::Tensor LogNormal::rsample(Generator& generator,
                                 torch::IntArrayRef sample_shape) const {
  const Normal logarithm(loc(), scale(), Validate::Off);
  return logarithm.rsample(generator, sample_shape).exp();
}

torch::Tensor LogNormal::mean() const {
  return (loc() + 0.5 * scale().square()).exp();
}

torch::Tensor LogNormal::variance() const {
  const torch::Tensor variance_of_log = scale().square();
  return variance_of_log.expm1() * (2 * loc() + variance_of_log).exp();
}

torch::Tensor LogNormal::cdf(const torch::Tensor& value) const {
  check_value("LogNormal.cdf", value);
  return Normal(loc(), scale(), Validate::Off).cdf(value.log());
}

torch::Tensor LogNormal::icdf(const torch::Tensor& probability) const {
  check_probability("LogNormal.icdf", probability);
  return Normal(loc(), scale(), Validate::Off).icdf(probability).exp();
}

torch::Tensor LogNormal::entropy() const {
  return loc() + scale().log() + (0.5 + kHalfLog2Pi);
}

}  // namespace radir::distributions
