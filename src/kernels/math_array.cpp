#include "radir/kernels/math_array.h"

#include "kernels/math_array_isa.h"
#include "radir/math/array.h"

namespace radir::kernels {
namespace {

template <typename T>
const MathArrayFunctions<T>& active_functions() {
  static const MathArrayTable& table = math_array_table_of(active_isa());
  return table.functions<T>();
}

template <typename T>
math::detail::ArrayCheck<T> check(const char* function) {
  return math::detail::ArrayCheck<T>(function,
                                     active_functions<T>().any_outside);
}

}  // namespace

const MathArrayTable& math_array_table_of(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::Avx512:
      return isa_avx512::math_array_table;
    case Isa::Avx2:
      return isa_avx2::math_array_table;
    case Isa::Generic:
      break;
  }
#else
  RADIR_ASSERT(isa == Isa::Generic);
#endif
  return isa_generic::math_array_table;
}

template <typename T>
void dispatched_bessel_ratio(T nu, const T* z, std::int64_t count, T* ratio) {
  check<T>("bessel_ratio").bessel(nu, T(0.5), z, count);
  active_functions<T>().ratio(nu - 1, z, count, ratio);
}

template <typename T>
void dispatched_log_bessel_i(T nu, const T* z, std::int64_t count, T* result) {
  check<T>("log_bessel_i").bessel(nu, T(0), z, count);
  active_functions<T>().log_bessel(nu, z, count, result);
}

template <typename T>
void dispatched_vmf_mean_cosine(T m, const T* kappa, std::int64_t count,
                                T* mean) {
  check<T>("vmf_mean_cosine").vmf(m, "kappa", kappa, count);
  active_functions<T>().ratio(m / 2 - 1, kappa, count, mean);
}

template <typename T>
void dispatched_vmf_cosine_variance(T m, const T* kappa, std::int64_t count,
                                    T* variance) {
  check<T>("vmf_cosine_variance").vmf(m, "kappa", kappa, count);
  active_functions<T>().cosine_variance(m / 2 - 1, kappa, count, variance);
}

template <typename T>
void dispatched_vmf_log_normalizer(T m, const T* kappa, std::int64_t count,
                                   T* result) {
  check<T>("vmf_log_normalizer").vmf(m, "kappa", kappa, count);
  active_functions<T>().log_normalizer(m / 2 - 1, kappa, count, result);
}

template <typename T>
void dispatched_vmf_kl(T m, const T* kappa_q, const T* kappa_p, const T* cosine,
                       std::int64_t count, T* kl) {
  const auto checked = check<T>("vmf_kl");
  checked.vmf(m, "kappa_q", kappa_q, count);
  checked.vmf(m, "kappa_p", kappa_p, count);
  checked.cosine(cosine, count);
  active_functions<T>().vmf_kl(static_cast<double>(m) / 2 - 1, kappa_q, kappa_p,
                               cosine, count, kl);
}

namespace article {

template <typename T>
void dispatched_ratio_average_theorem5(T nu, const T* z, std::int64_t count,
                                       T* ratio) {
  check<T>("ratio_average_theorem5").bessel(nu, T(0.5), z, count);
  active_functions<T>().ratio_average_theorem5(nu, z, count, ratio);
}

}  // namespace article

#define RADIR_INSTANTIATE(T)                                                   \
  template void dispatched_bessel_ratio(T, const T*, std::int64_t, T*);        \
  template void dispatched_log_bessel_i(T, const T*, std::int64_t, T*);        \
  template void dispatched_vmf_mean_cosine(T, const T*, std::int64_t, T*);     \
  template void dispatched_vmf_cosine_variance(T, const T*, std::int64_t, T*); \
  template void dispatched_vmf_log_normalizer(T, const T*, std::int64_t, T*);  \
  template void dispatched_vmf_kl(T, const T*, const T*, const T*,             \
                                  std::int64_t, T*);                           \
  template void article::dispatched_ratio_average_theorem5(T, const T*,        \
                                                           std::int64_t, T*);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::kernels
