#include "radir/torch/distributions/half_cauchy.h"

#include <cmath>

#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/math/half_cauchy.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"
#include "torch/distributions/noise.h"

namespace radir::distributions {
namespace {

struct HalfCauchyLogDensity {
  double operator()(double x, double scale) const {
    return math::half_cauchy_log_density(x, scale);
  }
  std::array<double, 2> gradient(double x, double scale) const {
    // With t = x/g: d/dx = -2t / (g (1+t^2)), d/dg = (t^2-1) / (g (1+t^2)).
    const double t = x / scale;
    const double denominator = scale * (1 + t * t);
    return {-2 * t / denominator, (t * t - 1) / denominator};
  }
};

}  // namespace

HalfCauchy::HalfCauchy(torch::Tensor scale, Validate validate)
    : Distribution("HalfCauchy", &detail::kNonNegative,
                   {{"scale", std::move(scale), &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor HalfCauchy::log_prob(const torch::Tensor& value) const {
  check_value("HalfCauchy.log_prob", value);
  return detail::elementwise(HalfCauchyLogDensity{}, value, scale());
}

torch::Tensor HalfCauchy::rsample(Generator& generator,
                                  torch::IntArrayRef sample_shape) const {
  const kernels::RandomStream stream = generator.next();
  const torch::Tensor noise = detail::filled(
      extended_shape(sample_shape), dtype(), [&](auto* out, auto count) {
        kernels::fill_uniform(stream, 0, count, out);
        using T = std::remove_pointer_t<decltype(out)>;
        for (decltype(count) i = 0; i < count; ++i) {
          out[i] = math::half_cauchy_quantile(out[i], T(1));
        }
      });
  return scale() * noise;
}

torch::Tensor HalfCauchy::mean() const {
  return torch::full_like(scale(), detail::kInfinity);
}

torch::Tensor HalfCauchy::variance() const { return mean(); }

torch::Tensor HalfCauchy::cdf(const torch::Tensor& value) const {
  check_value("HalfCauchy.cdf", value);
  return (2 / M_PI) * (value / scale()).atan();
}

torch::Tensor HalfCauchy::icdf(const torch::Tensor& probability) const {
  check_probability("HalfCauchy.icdf", probability);
  return scale() * ((M_PI / 2) * probability).tan();
}

torch::Tensor HalfCauchy::entropy() const {
  return scale().log() + std::log(2 * M_PI);
}

}  // namespace radir::distributions
