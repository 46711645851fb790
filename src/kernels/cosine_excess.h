#pragma once

#include <cmath>

#include "radir/core/config.h"
#include "radir/math/vmf.h"

namespace radir::kernels {
inline namespace RADIR_ISA {

/// x0 - A for a direction of dimension m: how far the reference point of the
/// sampler lies above the mean cosine.
template <typename T>
RADIR_HOST_DEVICE inline T x0_excess(T m, T kappa) {
  const T freedom = m - 1;
  const T s = std::hypot(2 * kappa, freedom);
  const T one_minus_x0 =
      freedom * (1 + freedom / (s + 2 * kappa)) / (freedom + s);
  return math::vmf_one_minus_mean_cosine(m, kappa) - one_minus_x0;
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
