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

/// Ties a probability to the arguments it was computed from.
struct GammaProbability {
  double sign;  ///< -1: of the upper tail

  double operator()(double /*shape*/, double /*x*/, double probability) const {
    return probability;
  }
  std::array<double, 3> gradient(double shape, double x,
                                 double /*probability*/) const {
    const double density = std::exp(detail::log_gamma_density(x, shape)) / x;
    return {-sign * density * math::gamma_sample_derivative(shape, x),
            sign * density, 0};
  }
};

}  // namespace

torch::Tensor detail::standard_gamma_cdf(const torch::Tensor& concentration,
                                         const torch::Tensor& x, Tail tail) {
  // libtorch has the values and the derivative by x, not that by the shape.
  const torch::Tensor shape = concentration.detach().to(torch::kDouble);
  const torch::Tensor at = x.detach().to(torch::kDouble);
  const bool lower = tail == Tail::Lower;
  const torch::Tensor probability = lower
                                        ? torch::special::gammainc(shape, at)
                                        : torch::special::gammaincc(shape, at);
  return elementwise(GammaProbability{lower ? 1.0 : -1.0}, concentration, x,
                     probability.to(x.scalar_type()));
}

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

torch::Tensor Gamma::cdf(const torch::Tensor& value) const {
  check_value("Gamma.cdf", value);
  return detail::standard_gamma_cdf(concentration(), rate() * value,
                                    detail::Tail::Lower);
}

torch::Tensor Gamma::entropy() const {
  return detail::elementwise(GammaEntropy{}, concentration(), rate());
}

}  // namespace radir::distributions
