#pragma once

#include "radir/core/config.h"
#include "radir/kernels/likelihood.h"

namespace radir::kernels {
inline namespace RADIR_ISA {}

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
