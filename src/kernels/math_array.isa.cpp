#include "kernels/math_array_isa.h"
#include "radir/math/array.h"
#include "radir/math/article.h"

namespace radir::kernels::RADIR_ISA {
namespace {

template <typename T>
void ratio_average_theorem5(T nu, const T* z, std::int64_t count, T* ratio) {
  for (std::int64_t i = 0; i < count; ++i) {
    ratio[i] = math::article::detail::ratio_average_theorem5(nu, z[i]);
  }
}

template <typename T>
constexpr MathArrayFunctions<T> kFunctions = {
    math::detail::any_outside<T>,           math::detail::ratio_array<T>,
    math::detail::cosine_variance_array<T>, math::detail::log_bessel_array<T>,
    math::detail::log_normalizer_array<T>,  ratio_average_theorem5<T>,
    math::detail::vmf_kl_array<T>};

}  // namespace

extern const MathArrayTable math_array_table = {kFunctions<float>,
                                                kFunctions<double>};

}  // namespace radir::kernels::RADIR_ISA
