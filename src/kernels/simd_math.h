#pragma once

#include "kernels/float_format.h"
#include "kernels/simd.h"

// Elementary functions of full registers, Vec<float> or Vec<double>. Errors
// are the largest relative ones that tests/kernels/simd_math_test.cpp finds, in
// eps of the type. All are forced inline, so that each file gets them under its
// own floating-point options (random.isa.cpp forbids fused operations, others
// gain by them).

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace detail {

template <typename V>
using Scalar = std::remove_reference_t<decltype(std::declval<V&>()[0])>;

template <typename V>
using Bits = Vec<typename Format<Scalar<V>>::Bits>;

/// c[0] + c[1] x + ... + c[N-1] x^(N-1).
template <typename V, typename T, int N>
[[gnu::always_inline]] inline V polynomial(const T (&c)[N], V x) {
  V sum = broadcast(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

/// x + kRounder has the nearest integer to x in its low bits, for
/// |x| < 2^(mantissa bits - 2).
template <typename T>
constexpr T kRounder = T(3) *
                       T(std::uint64_t{1} << (Format<T>::kMantissaBits - 1));

/// exp(x) - 1 = 2 half_scale minus_one + (2 half_scale - 1).
template <typename V>
struct ReducedExp {
  V minus_one;   // exp(r) - 1, x = n ln 2 + r, |r| <= ln(2) / 2
  V half_scale;  // 2^(n - 1): 2^n itself may overflow
};

template <typename V>
[[gnu::always_inline]] inline ReducedExp<V> reduce_exp(V x) {
  using T = Scalar<V>;
  using F = Format<T>;
  const V rounded = x * F::kLog2E + kRounder<T>;
  const V n = rounded - kRounder<T>;
  const V r = (x - n * F::kLn2High) - n * F::kLn2Low;
  const Bits<V> exponent = bit_cast<Bits<V>>(rounded) << F::kMantissaBits;
  const Bits<V> half =
      broadcast(F::kOne - (typename F::Bits{1} << F::kMantissaBits));
  return {r + r * r * polynomial(F::kExp, r), bit_cast<V>(exponent + half)};
}

/// `value` between the bounds of exp, `below` and infinity outside of them, and
/// NaN where x is.
template <typename V>
[[gnu::always_inline]] inline V bound_exp(V x, V value, Scalar<V> below) {
  using F = Format<Scalar<V>>;
  const V infinity = broadcast(Scalar<V>(INFINITY));
  const V bounded = select(x < F::kExpMin, broadcast(below), value);
  return select(x > F::kExpMax, infinity, bounded);
}

}  // namespace detail

/// exp(x); 0 where that is below 2^-125 (float) or 2^-1021 (double). Error 0.8
/// eps.
template <typename V>
[[gnu::always_inline]] inline V exp(V x) {
  const auto [minus_one, half_scale] = detail::reduce_exp(x);
  return detail::bound_exp(x, (minus_one + 1) * half_scale * 2, 0);
}

/// exp(x) - 1, without cancellation around 0. Error 1.4 eps.
template <typename V>
[[gnu::always_inline]] inline V expm1(V x) {
  using T = detail::Scalar<V>;
  const auto [minus_one, half_scale] = detail::reduce_exp(x);
  const V half = minus_one * half_scale + (half_scale - T(0.5));
  return detail::bound_exp(x, half * 2, -1);
}

/// log(x) for positive, finite and normal x; anything else gives nonsense.
/// Error 0.7 eps.
template <typename V>
[[gnu::always_inline]] inline V log_of_normal(V x) {
  using T = detail::Scalar<V>;
  using F = detail::Format<T>;
  using Bits = detail::Bits<V>;
  constexpr typename F::Bits kMantissaMask =
      (typename F::Bits{1} << F::kMantissaBits) - 1;
  constexpr T kTwoToMantissa = T(kMantissaMask + 1);
  constexpr T kBias = T(F::kOne >> F::kMantissaBits);
  // x = 2^e (1 + f) with 1/sqrt 2 <= 1 + f < sqrt 2.
  const Bits shifted = bit_cast<Bits>(x) + (F::kOne - F::kSqrtHalf);
  const Bits two_to_mantissa =
      bit_cast<Bits>(broadcast(kTwoToMantissa)) | shifted >> F::kMantissaBits;
  const V e = bit_cast<V>(two_to_mantissa) - (kTwoToMantissa + kBias);
  const V f = bit_cast<V>((shifted & kMantissaMask) + F::kSqrtHalf) - 1;
  // log(1 + f) = 2 artanh(s) = 2 s + s R(s^2) with s = f / (2 + f), where
  // 2 s = f - s f.
  const V s = f / (f + 2);
  const V z = s * s;
  const V r = z * detail::polynomial(F::kLog, z);
  return e * F::kLn2High + (f - (s * (f - r) - e * F::kLn2Low));
}

/// log(x); -infinity at 0, NaN below. Error 0.7 eps.
template <typename V>
[[gnu::always_inline]] inline V log(V x) {
  using T = detail::Scalar<V>;
  using F = detail::Format<T>;
  constexpr T kScale = T(std::uint64_t{1} << F::kMantissaBits);
  constexpr T kLogScale = F::kMantissaBits * T(0.693147180559945309);
  const auto small = x < F::kMinNormal;
  const V normal = log_of_normal(select(small, x * kScale, x));
  const V value = select(small, normal - kLogScale, normal);
  const V at_most_zero =
      select(x == 0, broadcast(-T(INFINITY)), broadcast(T(NAN)));
  return select(x > 0, select(x < T(INFINITY), value, x), at_most_zero);
}

/// log(1 + x), without cancellation around 0. Error 1.1 eps.
template <typename V>
[[gnu::always_inline]] inline V log1p(V x) {
  using T = detail::Scalar<V>;
  // What rounding 1 + x lost (Knuth's exact sum), put back to first order.
  const V sum = x + 1;
  const V part = sum - 1;
  const V lost = (1 - (sum - part)) + (x - part);
  const V value = log(sum);
  const auto regular = (x > -1) & (x < T(INFINITY));
  return select(regular, value + lost / sum, value);
}

template <typename V>
struct SinCos {
  V sin;
  V cos;
};

/// sin and cos of (pi / 2) f, for |f| <= 1/2. Error 1.1 eps.
template <typename V>
[[gnu::always_inline]] inline SinCos<V> sincos_of_quarter(V f) {
  using F = detail::Format<detail::Scalar<V>>;
  const V z = f * f;
  return {f * detail::polynomial(F::kSin, z),
          z * detail::polynomial(F::kCos, z) + 1};
}

/// sin and cos of 2 pi u, for |u| < 2^20. Error 1.1 eps.
template <typename V>
[[gnu::always_inline]] inline SinCos<V> sincos_2pi(V u) {
  using T = detail::Scalar<V>;
  using Bits = detail::Bits<V>;
  constexpr int kToSign = 8 * sizeof(T) - 2;
  constexpr auto kSign = static_cast<detail::Scalar<Bits>>(2) << kToSign;
  // 4 u = q + f: f is the angle within quarter q of the circle.
  const V rounded = u * 4 + detail::kRounder<T>;
  const V f = u * 4 - (rounded - detail::kRounder<T>);
  const Bits q = bit_cast<Bits>(rounded);
  const auto [sin, cos] = sincos_of_quarter(f);
  const auto odd = (q & 1) != 0;
  const Bits sin_sign = (q << kToSign) & kSign;
  const Bits cos_sign = ((q + 1) << kToSign) & kSign;
  return {bit_cast<V>(bit_cast<Bits>(select(odd, cos, sin)) ^ sin_sign),
          bit_cast<V>(bit_cast<Bits>(select(odd, sin, cos)) ^ cos_sign)};
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
