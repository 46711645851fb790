#include "radir/kernels/likelihood.h"

#include <cmath>

#include "kernels/likelihood_isa.h"
#include "radir/core/error.h"
#include "radir/math/constants.h"
#include "radir/math/gamma.h"

namespace radir::kernels {
namespace {

template <typename T>
const LikelihoodTable<T>& table_of(Isa isa);

template <>
const LikelihoodTable<float>& table_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return isa_avx512::likelihood_float;
  if (isa == Isa::Avx2) return isa_avx2::likelihood_float;
#endif
  static_cast<void>(isa);
  return isa_generic::likelihood_float;
}

template <>
const LikelihoodTable<double>& table_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return isa_avx512::likelihood_double;
  if (isa == Isa::Avx2) return isa_avx2::likelihood_double;
#endif
  static_cast<void>(isa);
  return isa_generic::likelihood_double;
}

using math::detail::kHalfLog2Pi;

}  // namespace

template <typename T>
double categorical_loss(const LikelihoodData<T>& data,
                        const std::int64_t* labels) {
  for (std::int64_t n = 0; n < data.batch; ++n) {
    RADIR_CHECK(labels[n] >= 0 && labels[n] < data.num_outputs, ArgumentError,
                "categorical_loss: labels must be between 0 and ",
                data.num_outputs - 1, ", but labels[", n, "] is ", labels[n]);
  }
  return table_of<T>(data.isa).categorical(data, labels);
}

template <typename T>
GammaPrecisionLoss gamma_precision_loss(const LikelihoodData<T>& data,
                                        const T* targets, double shape,
                                        double rate) {
  RADIR_CHECK(
      shape > 0 && std::isfinite(shape) && rate > 0 && std::isfinite(rate),
      DomainError, "gamma_precision_loss: shape and rate must be ",
      "positive and finite, but are ", shape, " and ", rate);
  LikelihoodData<T> scaled = data;
  scaled.scale = data.scale * shape / rate;
  const double half_squares =
      table_of<T>(data.isa).squared(scaled, targets) / 2;
  const auto count = static_cast<double>(data.batch * data.num_outputs);
  GammaPrecisionLoss result;
  result.loss = count * (kHalfLog2Pi +
                         (std::log(rate) - math::detail::digamma(shape)) / 2) +
                shape / rate * half_squares;
  result.shape_gradient =
      half_squares / rate - count * math::detail::trigamma(shape) / 2;
  result.rate_gradient = (count / 2 - shape / rate * half_squares) / rate;
  return result;
}

template <typename T>
TwoNormalsLoss two_normals_loss(const LikelihoodData<T>& data, const T* targets,
                                const TwoNormals& noise) {
  RADIR_CHECK(noise.scale > 0 && std::isfinite(noise.scale) &&
                  noise.ratio > 0 && std::isfinite(noise.ratio) &&
                  noise.share > 0 && noise.share < 1,
              DomainError, "two_normals_loss: scale and ratio must be ",
              "positive and finite and the share between 0 and 1, but are ",
              noise.scale, ", ", noise.ratio, " and ", noise.share);
  const auto sums = table_of<T>(data.isa).two_normals(data, targets, noise);
  const auto count = static_cast<double>(data.batch * data.num_outputs);
  TwoNormalsLoss result;
  result.loss = count * (kHalfLog2Pi + std::log(noise.scale)) - sums.logs;
  result.log_scale_gradient = count - sums.squares;
  result.log_ratio_gradient = sums.wide - sums.wide_squares;
  result.logit_share_gradient = count * noise.share - sums.wide;
  return result;
}

template <typename T>
double predicted_noise_loss(const LikelihoodData<T>& data, const T* targets,
                            NoiseOutput noise) {
  RADIR_CHECK(data.num_outputs % 2 == 0, ArgumentError,
              "predicted_noise_loss: outputs are means and as many noises, so ",
              "their number must be even, but is ", data.num_outputs);
  return table_of<T>(data.isa).predicted_noise(data, targets, noise);
}

template <typename T>
double noise_mixture_loss(const LikelihoodData<T>& data, const T* targets,
                          const NoiseMixture& mixture) {
  RADIR_CHECK(mixture.parts >= 1 && mixture.parts <= kMostNoiseParts &&
                  data.num_outputs % (3 * mixture.parts) == 0,
              ArgumentError, "noise_mixture_loss: needs 1 to ", kMostNoiseParts,
              " parts and three outputs for each, but has ", mixture.parts,
              " parts and ", data.num_outputs, " outputs");
  return table_of<T>(data.isa).noise_mixture(data, targets, mixture);
}

template double categorical_loss(const LikelihoodData<float>&,
                                 const std::int64_t*);
template double categorical_loss(const LikelihoodData<double>&,
                                 const std::int64_t*);
template GammaPrecisionLoss gamma_precision_loss(const LikelihoodData<float>&,
                                                 const float*, double, double);
template GammaPrecisionLoss gamma_precision_loss(const LikelihoodData<double>&,
                                                 const double*, double, double);
template TwoNormalsLoss two_normals_loss(const LikelihoodData<float>&,
                                         const float*, const TwoNormals&);
template TwoNormalsLoss two_normals_loss(const LikelihoodData<double>&,
                                         const double*, const TwoNormals&);
template double predicted_noise_loss(const LikelihoodData<float>&, const float*,
                                     NoiseOutput);
template double predicted_noise_loss(const LikelihoodData<double>&,
                                     const double*, NoiseOutput);
template double noise_mixture_loss(const LikelihoodData<float>&, const float*,
                                   const NoiseMixture&);
template double noise_mixture_loss(const LikelihoodData<double>&, const double*,
                                   const NoiseMixture&);

}  // namespace radir::kernels
