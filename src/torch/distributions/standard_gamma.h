#pragma once

#include <torch/types.h>

#include <cmath>

#include "radir/kernels/philox.h"
#include "radir/math/gamma.h"

namespace radir::distributions::detail {

/// Log density of log y for y ~ Gamma(shape, 1):
/// a log y - y - lgamma(a), with lgamma from Stirling's formula, so that the
/// large terms meet in phi(y/a - 1).
inline double log_gamma_density(double y, double shape) {
  using namespace math::detail;
  return -shape * phi_of_ratio(y, shape) + 0.5 * std::log(shape) - kHalfLog2Pi -
         stirling_remainder(shape);
}

/// Gamma draws of scale 1, one for each element of `concentration`, with the
/// implicit gradient. At least the smallest normal number of the dtype.
torch::Tensor standard_gamma(const torch::Tensor& concentration,
                             const kernels::RandomStream& stream);

/// Which side of a point a probability is of.
enum class Tail { Lower, Upper };

/// P(Y <= x), or P(Y > x) for the upper tail, of Y ~ Gamma(concentration, 1),
/// with gradients by both.
torch::Tensor standard_gamma_cdf(const torch::Tensor& concentration,
                                 const torch::Tensor& x, Tail tail);

}  // namespace radir::distributions::detail
