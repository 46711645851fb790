#pragma once

#include <cstdint>

namespace radir::kernels {

// The functions of radir/math/array.h, dispatched when they are called to the
// best instruction set of this processor; those of math use the one their
// caller was compiled for. T is float or double; the output may be one of the
// inputs. They throw DomainError, which names the element, for values outside
// the domain of the function of one element (radir/math/bessel.h, vmf.h).

/// ratio[i] = I_nu(z[i])/I_{nu-1}(z[i]), nu >= 1/2.
template <typename T>
void dispatched_bessel_ratio(T nu, const T* z, std::int64_t count, T* ratio);

/// result[i] = log I_nu(z[i]), nu >= 0.
template <typename T>
void dispatched_log_bessel_i(T nu, const T* z, std::int64_t count, T* result);

/// mean[i] = A_m(kappa[i]), the mean cosine to the mean direction.
template <typename T>
void dispatched_vmf_mean_cosine(T m, const T* kappa, std::int64_t count,
                                T* mean);

/// variance[i] = A'_m(kappa[i]), the variance of that cosine.
template <typename T>
void dispatched_vmf_cosine_variance(T m, const T* kappa, std::int64_t count,
                                    T* variance);

/// result[i] = log C_m(kappa[i]).
template <typename T>
void dispatched_vmf_log_normalizer(T m, const T* kappa, std::int64_t count,
                                   T* result);

/// kl[i] = KL(vMF(., kappa_q[i]) || vMF(., kappa_p[i])) at cosine[i] between
/// the mean directions; computed in double.
template <typename T>
void dispatched_vmf_kl(T m, const T* kappa_q, const T* kappa_p, const T* cosine,
                       std::int64_t count, T* kl);

namespace article {

/// ratio[i] = the average of the bounds of Theorem 5 on
/// I_nu(z[i])/I_{nu-1}(z[i]), nu > 1/2, the article's approximation: the
/// baseline for the speed of dispatched_bessel_ratio.
template <typename T>
void dispatched_ratio_average_theorem5(T nu, const T* z, std::int64_t count,
                                       T* ratio);

}  // namespace article
}  // namespace radir::kernels
