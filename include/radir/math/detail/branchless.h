#pragma once

#include <cstdint>
#include <cstring>

#include "radir/core/config.h"

// Logarithms without calls or branches, for loops that the compiler is to
// vectorise. Host code.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// sum over i = k, ..., kTerms-1 of x^{i-k}/(2i+3); unrolled.
template <int kTerms, int k = 0, typename T>
[[gnu::always_inline]] inline T odd_reciprocal_sum(T x) {
  constexpr T term = T(1) / T(2 * k + 3);
  if constexpr (k == kTerms - 1) {
    return term;
  } else {
    return term + x * odd_reciprocal_sum<kTerms, k + 1>(x);
  }
}

/// t - log1p(t) for -0.4 < t < 0.7: v (t - 2 v^2 (1/3 + v^2/5 + ...)) with
/// v = t/(2+t), where nothing cancels. Measured error: 2 eps.
template <typename T>
[[gnu::always_inline]] inline T branchless_phi(T t) {
  constexpr int kTerms = sizeof(T) == sizeof(double) ? 14 : 6;
  const T v = t / (2 + t);
  return v * (t - 2 * (v * v) * odd_reciprocal_sum<kTerms>(v * v));
}

/// The bits of a floating-point type and their layout.
template <typename T>
struct FloatBits;
template <>
struct FloatBits<double> {
  using Int = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Int kHalfRoot = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  static constexpr Int kShifted = 0x4330000000000000;   // 2^52
  static constexpr double kOffset = 4503599627370496.0 + 1024;
};
template <>
struct FloatBits<float> {
  using Int = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr Int kHalfRoot = 0x3f3504f3;  // sqrt(1/2)
  static constexpr Int kShifted = 0x4b000000;   // 2^23
  static constexpr float kOffset = 8388608.0f + 128;
};

/// log(x) for positive, normal x. Measured error: 1 eps.
template <typename T>
[[gnu::always_inline]] inline T branchless_log(T x) {
  using Bits = FloatBits<T>;
  using Int = typename Bits::Int;
  // x = 2^exponent (1 + t) with sqrt(1/2) <= 1 + t < sqrt(2): subtracting the
  // bits of sqrt(1/2) leaves the exponent, and what is left of the fraction.
  // The exponent becomes a number as the last bits of 2^kMantissa.
  Int bits;
  std::memcpy(&bits, &x, sizeof bits);
  constexpr Int kBias = Int(1) << (sizeof(T) * 8 - 2);  // keeps it positive
  const Int offset = bits - Bits::kHalfRoot + kBias;
  const Int shifted = (offset >> Bits::kMantissa) | Bits::kShifted;
  constexpr Int kFraction = (Int(1) << Bits::kMantissa) - 1;
  const Int reduced = (offset & kFraction) + Bits::kHalfRoot;
  T exponent, fraction;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&fraction, &reduced, sizeof fraction);
  exponent -= Bits::kOffset;
  // log 2 in two parts, the first short enough for an exact product.
  constexpr double kLog2High = 0x1.62e42p-1;
  constexpr double kLog2Low = 0x1.fdf473de6af28p-22;
  constexpr double kHigh = sizeof(T) == sizeof(double) ? kLog2High : 0x1.62ep-1;
  constexpr double kLow = kLog2Low + (kLog2High - kHigh);
  const T t = fraction - 1;
  return exponent * T(kHigh) + (t + (exponent * T(kLow) - branchless_phi(t)));
}

/// log(1 + x) for x >= 0.
template <typename T>
[[gnu::always_inline]] inline T branchless_log1p(T x) {
  const T sum = 1 + x;
  return branchless_log(sum) + (x - (sum - 1)) / sum;
}

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
