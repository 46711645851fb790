#pragma once

#include <cstdint>
#include <type_traits>

#include "radir/math/detail/array_functions.h"
#include "radir/math/detail/block.h"
#include "radir/math/vmf.h"

// The functions of bessel.h and vmf.h over arrays, for one order or dimension
// per call: the number of terms and of recurrence steps is then the same for
// every element. Host code, compiled for the instruction set of the including
// file; kernels/math_array.h chooses one at run time.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

// Loops over complete arrays; nothing is checked.

template <typename T>
inline void ratio_array(T n, const T* z, std::int64_t count, T* ratio) {
  with_terms(n, [&](auto terms) {
    apply(RatioAtOrder<T, decltype(terms)::value>(n), z, count, ratio);
  });
}

template <typename T>
inline void cosine_variance_array(T n, const T* kappa, std::int64_t count,
                                  T* variance) {
  with_terms(n, [&](auto terms) {
    apply(VarianceAtOrder<T, decltype(terms)::value>(n), kappa, count,
          variance);
  });
}

template <typename T>
inline void log_bessel_array(T nu, const T* z, std::int64_t count, T* result) {
  constexpr auto kForm = BesselLogForm::Plain;
  with_terms(nu, [&](auto terms) {
    apply(LogAtOrder<kForm, T, decltype(terms)::value>(nu), z, count, result);
  });
}

template <typename T>
inline void log_normalizer_array(T n, const T* kappa, std::int64_t count,
                                 T* result) {
  with_terms(n, [&](auto terms) {
    apply(LogNormalizerAtOrder<T, decltype(terms)::value>(n), kappa, count,
          result);
  });
}

template <typename T>
inline void vmf_kl_array(double n, const T* kappa_q, const T* kappa_p,
                         const T* cosine, std::int64_t count, T* kl) {
  with_terms(n, [&](auto terms) {
    const KlAtOrder<decltype(terms)::value> function(n);
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
      Block<double> result = {};
      function(load_block<double>(kappa_q, begin, count),
               load_block<double>(kappa_p, begin, count),
               load_block<double>(cosine, begin, count), result);
      store_block(result, begin, count, kl);
    }
  });
}

/// Whether any element is outside [low, high], or NaN; vectorised.
template <typename T>
inline bool any_outside(const T* array, std::int64_t count, T low, T high) {
  using Flag = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  Flag outside = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    outside |= array[i] >= low && array[i] <= high ? Flag(0) : Flag(1);
  }
  return outside != 0;
}

/// Throw DomainError, naming the first offender, unless every element is in the
/// domain. `Search` is any_outside, or a copy of it compiled for another
/// instruction set.
template <typename T>
class ArrayCheck {
 public:
  using Search = bool (*)(const T* array, std::int64_t count, T low, T high);

  explicit ArrayCheck(const char* function, Search search = any_outside<T>)
      : function_(function), search_(search) {}

  void bessel(T nu, T min_order, const T* z, std::int64_t count) const {
    elements("nu", &nu, 1, min_order, kMaxBesselArgument<T>);
    elements("z", z, count, 0, kMaxBesselArgument<T>);
  }

  void vmf(T m, const char* name, const T* kappa, std::int64_t count) const {
    elements("m", &m, 1, 2, kMaxBesselArgument<T>);
    elements(name, kappa, count, 0, kMaxBesselArgument<T>);
  }

  void cosine(const T* cosine, std::int64_t count) const {
    elements("cosine", cosine, count, -1, 1);
  }

 private:
  void elements(const char* name, const T* array, std::int64_t count, T low,
                T high) const {
    if (!search_(array, count, low, high)) return;
    for (std::int64_t i = 0; i < count; ++i) {
      RADIR_CHECK(array[i] >= low && array[i] <= high, DomainError, function_,
                  ": every element of ", name, " must be in [", low, ", ", high,
                  "], but ", name, "[", i, "] is ", array[i]);
    }
  }

  const char* function_;
  Search search_;
};

}  // namespace detail

// The functions below are those of one element for `count` of them; the output
// may be one of the inputs. They throw DomainError, which names the element,
// where the function of one element would.

/// ratio[i] = I_nu(z[i])/I_{nu-1}(z[i]). Accuracy: 3 eps.
template <typename T>
inline void bessel_ratio(T nu, const T* z, std::int64_t count, T* ratio) {
  detail::ArrayCheck<T>("bessel_ratio").bessel(nu, T(0.5), z, count);
  detail::ratio_array(nu - 1, z, count, ratio);
}

/// result[i] = log I_nu(z[i]). Accuracy: that of one element.
template <typename T>
inline void log_bessel_i(T nu, const T* z, std::int64_t count, T* result) {
  detail::ArrayCheck<T>("log_bessel_i").bessel(nu, T(0), z, count);
  detail::log_bessel_array(nu, z, count, result);
}

/// mean[i] = A_m(kappa[i]). Accuracy: 3 eps.
template <typename T>
inline void vmf_mean_cosine(T m, const T* kappa, std::int64_t count, T* mean) {
  detail::ArrayCheck<T>("vmf_mean_cosine").vmf(m, "kappa", kappa, count);
  detail::ratio_array(m / 2 - 1, kappa, count, mean);
}

/// variance[i] = A'_m(kappa[i]). Accuracy: that of one element.
template <typename T>
inline void vmf_cosine_variance(T m, const T* kappa, std::int64_t count,
                                T* variance) {
  detail::ArrayCheck<T>("vmf_cosine_variance").vmf(m, "kappa", kappa, count);
  detail::cosine_variance_array(m / 2 - 1, kappa, count, variance);
}

/// result[i] = log C_m(kappa[i]). Accuracy: that of one element.
template <typename T>
inline void vmf_log_normalizer(T m, const T* kappa, std::int64_t count,
                               T* result) {
  detail::ArrayCheck<T>("vmf_log_normalizer").vmf(m, "kappa", kappa, count);
  detail::log_normalizer_array(m / 2 - 1, kappa, count, result);
}

/// kl[i] = KL(vMF(., kappa_q[i]) || vMF(., kappa_p[i])) at cosine[i] between
/// the mean directions. Computed in double. Accuracy: that of one element.
template <typename T>
inline void vmf_kl(T m, const T* kappa_q, const T* kappa_p, const T* cosine,
                   std::int64_t count, T* kl) {
  const detail::ArrayCheck<T> check("vmf_kl");
  check.vmf(m, "kappa_q", kappa_q, count);
  check.vmf(m, "kappa_p", kappa_p, count);
  check.cosine(cosine, count);
  detail::vmf_kl_array(static_cast<double>(m) / 2 - 1, kappa_q, kappa_p, cosine,
                       count, kl);
}

}  // namespace RADIR_ISA
}  // namespace radir::math
