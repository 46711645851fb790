#include "radir/torch/distributions/inverse_gamma.h"

#include <cmath>

#include "radir/math/gamma.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"
#include "torch/distributions/standard_gamma.h"

namespace radir::distributions {
namespace {

struct InverseGammaLogDensity {
  double operator()(double x, double shape, double scale) const {
    return detail::log_gamma_density(scale / x, shape) - std::log(x);
  }
  std::array<double, 3> gradient(double x, double shape, double scale) const {
    return {(scale / x - shape - 1) / x,
            std::log(scale / x) - math::digamma(shape), shape / scale - 1 / x};
  }
};

struct InverseGammaEntropy {
  double operator()(double shape, double scale) const {
    return shape + math::log_gamma(shape) - (1 + shape) * math::digamma(shape) +
           std::log(scale);
  }
  std::array<double, 2> gradient(double shape, double scale) const {
    return {1 - (1 + shape) * math::trigamma(shape), 1 / scale};
  }
};

struct InverseGammaMean {
  double operator()(double shape, double scale) const {
    return shape > 1 ? scale / (shape - 1) : detail::kInfinity;
  }
  std::array<double, 2> gradient(double shape, double scale) const {
    if (shape <= 1) return {0, 0};
    return {-scale / ((shape - 1) * (shape - 1)), 1 / (shape - 1)};
  }
};

struct InverseGammaVariance {
  double operator()(double shape, double scale) const {
    if (shape <= 2) return detail::kInfinity;
    const double mean = scale / (shape - 1);
    return mean * mean / (shape - 2);
  }
  std::array<double, 2> gradient(double shape, double scale) const {
    if (shape <= 2) return {0, 0};
    const double variance = (*this)(shape, scale);
    return {-variance * (2 / (shape - 1) + 1 / (shape - 2)),
            2 * variance / scale};
  }
};

}  // namespace

InverseGamma::InverseGamma(torch::Tensor concentration, torch::Tensor scale,
                           Validate validate)
    : Distribution("InverseGamma", &detail::kPositive,
                   {{"concentration", std::move(concentration),
                     &detail::kPositiveParameter},
                    {"scale", std::move(scale), &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor InverseGamma::log_prob(const torch::Tensor& value) const {
  check_value("InverseGamma.log_prob", value);
  return detail::elementwise(InverseGammaLogDensity{}, value, concentration(),
                             scale());
}

torch::Tensor InverseGamma::rsample(Generator& generator,
                                    torch::IntArrayRef sample_shape) const {
  const torch::Tensor shapes =
      concentration().expand(extended_shape(sample_shape));
  return scale() / detail::standard_gamma(shapes, generator.next());
}

torch::Tensor InverseGamma::mean() const {
  return detail::elementwise(InverseGammaMean{}, concentration(), scale());
}

torch::Tensor InverseGamma::variance() const {
  return detail::elementwise(InverseGammaVariance{}, concentration(), scale());
}

torch::Tensor InverseGamma::cdf(const torch::Tensor& value) const {
  check_value("InverseGamma.cdf", value);
  return detail::standard_gamma_cdf(concentration(), scale() / value,
                                    detail::Tail::Upper);
}

torch::Tensor InverseGamma::entropy() const {
  return detail::elementwise(InverseGammaEntropy{}, concentration(), scale());
}

}  // namespace radir::distributions
