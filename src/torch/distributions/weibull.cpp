#include "radir/torch/distributions/weibull.h"

#include <cmath>

#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/math/gamma.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"
#include "torch/distributions/noise.h"

namespace radir::distributions {
namespace {

using math::detail::kEulerGamma;

struct WeibullLogDensity {
  double operator()(double x, double scale, double shape) const {
    const double y = std::log(x / scale);
    return std::log(shape / scale) + (shape - 1) * y - std::exp(shape * y);
  }
  std::array<double, 3> gradient(double x, double scale, double shape) const {
    const double y = std::log(x / scale);
    const double power = std::exp(shape * y);
    return {(shape - 1 - shape * power) / x, shape * (power - 1) / scale,
            1 / shape + y * (1 - power)};
  }
};

/// Mean of scale 1: Gamma(1 + 1/k).
struct StandardMean {
  double operator()(double shape) const {
    return std::exp(math::log_gamma(1 + 1 / shape));
  }
  std::array<double, 1> gradient(double shape) const {
    return {-(*this)(shape)*math::digamma(1 + 1 / shape) / (shape * shape)};
  }
};

/// Variance over squared mean: expm1(lgamma(1 + 2/k) - 2 lgamma(1 + 1/k)).
struct RelativeVariance {
  double operator()(double shape) const { return std::expm1(exponent(shape)); }
  std::array<double, 1> gradient(double shape) const {
    const double slope =
        -2 / (shape * shape) *
        (math::digamma(1 + 2 / shape) - math::digamma(1 + 1 / shape));
    return {slope * std::exp(exponent(shape))};
  }

 private:
  static double exponent(double shape) {
    // k >= 4: both sides nearly cancel; the tangent they share is left out.
    using math::detail::log_gamma_above_tangent;
    if (shape >= 4) {
      return log_gamma_above_tangent(2 / shape) -
             2 * log_gamma_above_tangent(1 / shape);
    }
    return math::log_gamma(1 + 2 / shape) - 2 * math::log_gamma(1 + 1 / shape);
  }
};

}  // namespace

Weibull::Weibull(torch::Tensor scale, torch::Tensor concentration,
                 Validate validate)
    : Distribution("Weibull", &detail::kPositive,
                   {{"scale", std::move(scale), &detail::kPositiveParameter},
                    {"concentration", std::move(concentration),
                     &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor Weibull::log_prob(const torch::Tensor& value) const {
  check_value("Weibull.log_prob", value);
  return detail::elementwise(WeibullLogDensity{}, value, scale(),
                             concentration());
}

torch::Tensor Weibull::rsample(Generator& generator,
                               torch::IntArrayRef sample_shape) const {
  const kernels::RandomStream stream = generator.next();
  const torch::Tensor noise = detail::filled(
      extended_shape(sample_shape), dtype(), [&](auto* out, auto count) {
        kernels::fill_exponential(stream, 0, count, out);
      });
  return scale() * noise.pow(concentration().reciprocal());
}

torch::Tensor Weibull::mean() const {
  return scale() * detail::elementwise(StandardMean{}, concentration());
}

torch::Tensor Weibull::variance() const {
  return mean().square() *
         detail::elementwise(RelativeVariance{}, concentration());
}

torch::Tensor Weibull::cdf(const torch::Tensor& value) const {
  check_value("Weibull.cdf", value);
  return -torch::expm1(-(value / scale()).pow(concentration()));
}

torch::Tensor Weibull::icdf(const torch::Tensor& probability) const {
  check_probability("Weibull.icdf", probability);
  return scale() *
         (-torch::log1p(-probability)).pow(concentration().reciprocal());
}

torch::Tensor Weibull::entropy() const {
  const torch::Tensor inverse = concentration().reciprocal();
  return kEulerGamma * (1 - inverse) + (scale() * inverse).log() + 1;
}

}  // namespace radir::distributions
