#pragma once

#include <cstdint>

#include "radir/core/config.h"

namespace radir::kernels {
inline namespace RADIR_ISA {}  // namespace RADIR_ISA

/// KL of a block of weights, and its derivative by the log of the prior's
/// scale.
struct GaussianKl {
  double value;
  double log_prior_scale;
};

/// The unchecked loops of one instruction set.
template <typename T>
struct GaussianTable {
  /// deviation: standard normals in, deviations out.
  void (*sample)(std::int64_t count, const T* loc, const T* log_scale,
                 T* deviation, T* weight);
  void (*backward)(std::int64_t count, const T* deviation,
                   const T* weight_gradient, T* loc_gradient,
                   T* log_scale_gradient);
  /// Adds `scale` times the gradient where it is not null.
  GaussianKl (*kl)(std::int64_t count, const T* loc, const T* log_scale,
                   double log_prior_scale, double scale, T* loc_gradient,
                   T* log_scale_gradient);
};

namespace isa_generic {
extern const GaussianTable<float> gaussian_float;
extern const GaussianTable<double> gaussian_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const GaussianTable<float> gaussian_float;
extern const GaussianTable<double> gaussian_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const GaussianTable<float> gaussian_float;
extern const GaussianTable<double> gaussian_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
