#include "radir/torch/distributions/gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/kernels/philox.h"
#include "radir/math/gamma.h"
#include "radir/math/gamma_sampling.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"
#include "torch/distributions/standard_gamma.h"

namespace radir::distributions {
namespace {

struct GammaLogDensity {
  double operator()(double x, double shape, double rate) const {
    return detail::log_gamma_density(rate * x, shape) - std::log(x);
  }
  std::array<double, 3> gradient(double x, double shape, double rate) const {
    return {(shape - 1) / x - rate, std::log(rate * x) - math::digamma(shape),
            shape / rate - x};
  }
};

struct GammaEntropy {
  double operator()(double shape, double rate) const {
    return shape + math::log_gamma(shape) + (1 - shape) * math::digamma(shape) -
           std::log(rate);
  }
  std::array<double, 2> gradient(double shape, double rate) const {
    return {1 + (1 - shape) * math::trigamma(shape), -1 / rate};
  }
};

/// Ties a draw to its concentration: the draw itself, with the derivative it
/// has at fixed probability.
struct ImplicitDraw {
  double operator()(double /*shape*/, double draw) const { return draw; }
  std::array<double, 2> gradient(double shape, double draw) const {
    return {math::gamma_sample_derivative(shape, draw), 1};
  }
};

}  // namespace

torch::Tensor detail::standard_gamma(const torch::Tensor& concentration,
                                     const kernels::RandomStream& stream) {
  torch::Tensor draws = torch::empty_like(concentration.detach(),
                                          torch::MemoryFormat::Contiguous);
  const torch::Tensor shapes = concentration.detach().contiguous();
  AT_DISPATCH_FLOATING_TYPES(draws.scalar_type(), "standard_gamma", [&] {
    constexpr double kSmallest = std::numeric_limits<scalar_t>::min();
    const scalar_t* shape = shapes.data_ptr<scalar_t>();
    scalar_t* draw = draws.data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < draws.numel(); ++i) {
      kernels::PhiloxEngine engine(stream, static_cast<std::uint32_t>(i));
      draw[i] =
          static_cast<scalar_t>(std::max(engine.gamma(shape[i]), kSmallest));
    }
  });
  return elementwise(ImplicitDraw{}, concentration, draws);
}

Gamma::Gamma(torch::Tensor concentration, torch::Tensor rate, Validate validate)
    : Distribution("Gamma", &detail::kPositive,
                   {{"concentration", std::move(concentration),
                     &detail::kPositiveParameter},
                    {"rate", std::move(rate), &detail::kPositiveParameter}},
                   validate) {}

torch::Tensor Gamma::log_prob(const torch::Tensor& value) const {
  check_value("Gamma.log_prob", value);
  return detail::elementwise(GammaLogDensity{}, value, concentration(), rate());
}

torch::Tensor Gamma::rsample(Generator& generator,
                             torch::IntArrayRef sample_shape) const {
  const torch::Tensor shapes =
      concentration().expand(extended_shape(sample_shape));
  return detail::standard_gamma(shapes, generator.next()) / rate();
}

torch::Tensor Gamma::mean() const { return concentration() / rate(); }

torch::Tensor Gamma::variance() const {
  return concentration() / rate().square();
}

torch::Tensor Gamma::entropy() const {
  return detail::elementwise(GammaEntropy{}, concentration(), rate());
}

}  // namespace radir::distributions
