#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/float_format.h"
#include "radir/core/config.h"

// The elementary functions behind random numbers, of one number at a time. They
// give the bits of those in kernels/simd_math.h: the same operations in the
// same order, none of them fused.

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace exact {

#if defined(__CUDA_ARCH__)
__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double over(double a, double b) { return __ddiv_rn(a, b); }
__device__ inline float root(float a) { return __fsqrt_rn(a); }
__device__ inline double root(double a) { return __dsqrt_rn(a); }
#else
// Files that use these are compiled without fused operations.
template <typename T>
RADIR_HOST_DEVICE inline T times(T a, T b) {
  return a * b;
}
template <typename T>
RADIR_HOST_DEVICE inline T plus(T a, T b) {
  return a + b;
}
template <typename T>
RADIR_HOST_DEVICE inline T over(T a, T b) {
  return a / b;
}
template <typename T>
RADIR_HOST_DEVICE inline T root(T a) {
  return std::sqrt(a);
}
#endif

template <typename To, typename From>
RADIR_HOST_DEVICE inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// The polynomials of detail::Format, whose arrays device code cannot name:
/// Horner's rule over constants.
enum class Fit { Log, Sin, Cos };

template <Fit kFit, typename T, int kAt>
RADIR_HOST_DEVICE constexpr T coefficient() {
  using F = detail::Format<T>;
  if constexpr (kFit == Fit::Log) {
    return F::kLog[kAt];
  } else if constexpr (kFit == Fit::Sin) {
    return F::kSin[kAt];
  } else {
    return F::kCos[kAt];
  }
}

template <Fit kFit, typename T>
constexpr int kTerms = kFit == Fit::Log
                           ? int(sizeof(detail::Format<T>::kLog) / sizeof(T))
                           : int(sizeof(detail::Format<T>::kSin) / sizeof(T));

template <Fit kFit, int kAt = 0, typename T>
RADIR_HOST_DEVICE inline T polynomial(T x) {
  constexpr T c = coefficient<kFit, T, kAt>();
  if constexpr (kAt + 1 == kTerms<kFit, T>) {
    return c;
  } else {
    return plus(times(polynomial<kFit, kAt + 1>(x), x), c);
  }
}

/// log(x) of a positive, finite and normal x.
template <typename T>
RADIR_HOST_DEVICE inline T log_of_normal(T x) {
  using F = detail::Format<T>;
  using Bits = typename F::Bits;
  constexpr Bits kMantissaMask = (Bits{1} << F::kMantissaBits) - 1;
  constexpr T kTwoToMantissa = T(kMantissaMask + 1);
  constexpr T kBias = T(F::kOne >> F::kMantissaBits);
  constexpr T kHigh = F::kLn2High;
  constexpr T kLow = F::kLn2Low;
  const Bits shifted = bits_as<Bits>(x) + (F::kOne - F::kSqrtHalf);
  const Bits with_exponent =
      bits_as<Bits>(kTwoToMantissa) | shifted >> F::kMantissaBits;
  const T e = plus(bits_as<T>(with_exponent), -(kTwoToMantissa + kBias));
  const T f = plus(bits_as<T>((shifted & kMantissaMask) + F::kSqrtHalf), T(-1));
  const T s = over(f, plus(f, T(2)));
  const T z = times(s, s);
  const T r = times(z, polynomial<Fit::Log>(z));
  const T inner = plus(times(s, plus(f, -r)), -times(e, kLow));
  return plus(times(e, kHigh), plus(f, -inner));
}

template <typename T>
struct SinCos {
  T sin;
  T cos;
};

/// sin and cos of (pi / 2) f, for |f| <= 1/2.
template <typename T>
RADIR_HOST_DEVICE inline SinCos<T> sincos_of_quarter(T f) {
  const T z = times(f, f);
  return {times(f, polynomial<Fit::Sin>(z)),
          plus(times(z, polynomial<Fit::Cos>(z)), T(1))};
}

}  // namespace exact
}  // namespace RADIR_ISA
}  // namespace radir::kernels
