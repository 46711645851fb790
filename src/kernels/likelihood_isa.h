#pragma once

#include "radir/core/config.h"
#include "radir/kernels/likelihood.h"

namespace radir::kernels {
inline namespace RADIR_ISA {}

/// Sums over all data, r being the residual in scales and p the probability
/// that it belongs to the wide one of TwoNormals.
struct TwoNormalsSums {
  double logs = 0;          ///< of the density, times sqrt(2 pi) scale
  double wide = 0;          ///< of p
  double wide_squares = 0;  ///< of p (r/ratio)^2
  double squares = 0;       ///< of (1 - p) r^2 + p (r/ratio)^2
};

/// The unchecked losses of one instruction set.
template <typename T>
struct LikelihoodTable {
  double (*categorical)(const LikelihoodData<T>&, const std::int64_t* labels);
  /// Sum of (y - f)^2; the gradient is scale * (f - y).
  double (*squared)(const LikelihoodData<T>&, const T* targets);
  double (*predicted_noise)(const LikelihoodData<T>&, const T* targets,
                            NoiseOutput noise);
  double (*noise_mixture)(const LikelihoodData<T>&, const T* targets,
                          const NoiseMixture& mixture);
  TwoNormalsSums (*two_normals)(const LikelihoodData<T>&, const T* targets,
                                const TwoNormals& noise);
};

namespace isa_generic {
extern const LikelihoodTable<float> likelihood_float;
extern const LikelihoodTable<double> likelihood_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const LikelihoodTable<float> likelihood_float;
extern const LikelihoodTable<double> likelihood_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const LikelihoodTable<float> likelihood_float;
extern const LikelihoodTable<double> likelihood_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
