#include "radir/torch/distributions/normal.h"

#include <cmath>

#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/math/gamma.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"
#include "torch/distributions/noise.h"

namespace radir::distributions {
namespace {

using math::detail::kHalfLog2Pi;

struct NormalLogDensity {
  double operator()(double x, double loc, double scale) const {
    const double z = (x - loc) / scale;
    return -0.5 * z * z - std::log(scale) - kHalfLog2Pi;
  }
  std::array<double, 3> gradient(double x, double loc, double scale) const {
    const double z = (x - loc) / scale;
    return {-z / scale, z / scale, (z * z - 1) / scale};
  }
};

}  // namespace

Normal::Normal(torch::Tensor loc, torch::Tensor scale, Validate validate)
    : Distribution("Normal", &detail::kFinite,
                   {{"loc", std::move(loc), &detail::kFinite},
                    {"scale", std::move(scale), &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor Normal::log_prob(const torch::Tensor& value) const {
  check_value("Normal.log_prob", value);
  return detail::elementwise(NormalLogDensity{}, value, loc(), scale());
}

torch::Tensor Normal::rsample(Generator& generator,
                              torch::IntArrayRef sample_shape) const {
  const kernels::RandomStream stream = generator.next();
  const torch::Tensor noise = detail::filled(
      extended_shape(sample_shape), dtype(), [&](auto* out, auto count) {
        kernels::fill_normal(stream, 0, count, out);
      });
  return loc() + scale() * noise;
}

torch::Tensor Normal::mean() const { return over_batch(loc()); }

torch::Tensor Normal::variance() const { return over_batch(scale().square()); }

torch::Tensor Normal::cdf(const torch::Tensor& value) const {
  check_value("Normal.cdf", value);
  return 0.5 * torch::erfc((loc() - value) / (std::sqrt(2.0) * scale()));
}

torch::Tensor Normal::icdf(const torch::Tensor& probability) const {
  check_probability("Normal.icdf", probability);
  return loc() + scale() * torch::special::ndtri(probability);
}

torch::Tensor Normal::entropy() const {
  return over_batch(scale().log() + (0.5 + kHalfLog2Pi));
}

}  // namespace radir::distributions
