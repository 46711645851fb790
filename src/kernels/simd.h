#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "radir/core/config.h"

// Vectors of the widest register of the instruction set a file is compiled for,
// in the compiler's own vector types (GCC and Clang): arithmetic, comparisons
// and shifts are the built-in operators; what those lack is below. Private to
// the *.isa.cpp files.

namespace radir::kernels {
inline namespace RADIR_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

namespace detail {
template <typename T>
struct VectorType {
  using type __attribute__((vector_size(kVectorBytes))) = T;
};
}  // namespace detail

/// A register of T: Vec<float> has 16 lanes with AVX-512.
template <typename T>
using Vec = typename detail::VectorType<T>::type;

/// The type of a comparison of Vec<T>: all bits set where true.
template <typename T>
using Mask =
    Vec<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;

/// Reinterprets the bits.
template <typename To, typename From>
inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <typename T>
inline Vec<T> broadcast(T x) {
  return x - Vec<T>{};  // GCC turns this into one broadcast
}

/// 0, 1, 2, ...
template <typename T>
inline Vec<T> lane_numbers() {
  Vec<T> v;
  for (int i = 0; i < kLanes<T>; ++i) v[i] = static_cast<T>(i);
  return v;
}

template <typename T>
inline Vec<T> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
inline void store(T* p, Vec<T> v) {
  std::memcpy(p, &v, sizeof v);
}

/// The first `count` lanes from memory, zeros in the others, whose memory is
/// not touched.
template <typename T>
inline Vec<T> load_part(const T* p, std::int64_t count) {
#if defined(__AVX512F__)
  const unsigned lanes = (1U << count) - 1;
  if constexpr (sizeof(T) == 4) {
    return bit_cast<Vec<T>>(_mm512_maskz_loadu_epi32(__mmask16(lanes), p));
  } else {
    return bit_cast<Vec<T>>(_mm512_maskz_loadu_epi64(__mmask8(lanes), p));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const auto mask = lane_numbers<std::int32_t>() < static_cast<int>(count);
    return bit_cast<Vec<T>>(_mm256_maskload_epi32(
        reinterpret_cast<const int*>(p), bit_cast<__m256i>(mask)));
  } else {
    const auto mask = lane_numbers<std::int64_t>() < count;
    return bit_cast<Vec<T>>(_mm256_maskload_epi64(
        reinterpret_cast<const long long*>(p), bit_cast<__m256i>(mask)));
  }
#else
  Vec<T> v = {};
  for (int i = 0; i < kLanes<T>; ++i) {
    if (i < count) v[i] = p[i];
  }
  return v;
#endif
}

namespace detail {

/// Lanes of v from kFrom on.
template <int kFrom, typename V, int... kLane>
[[gnu::always_inline]] inline auto lanes_from(
    V v, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(v, v, (kFrom + kLane)...);
}

/// Writes the first `count` <= kCount lanes of v, halving it.
template <int kCount, typename T, typename V>
[[gnu::always_inline]] inline void store_halves(T* p, V v, std::int64_t count) {
  if (count == kCount) {
    std::memcpy(p, &v, sizeof v);
  } else if constexpr (kCount == 2) {
    if (count == 1) *p = v[0];
  } else {
    constexpr int kHalf = kCount / 2;
    using Lanes = std::make_integer_sequence<int, kHalf>;
    const auto low = lanes_from<0>(v, Lanes());
    if (count < kHalf) {
      store_halves<kHalf>(p, low, count);
    } else {
      std::memcpy(p, &low, sizeof low);
      const auto high = lanes_from<kHalf>(v, Lanes());
      store_halves<kHalf>(p + kHalf, high, count - kHalf);
    }
  }
}

}  // namespace detail

/// Writes the first `count` lanes, by whole stores: when the memory behind is
/// loaded next, as the following row of a matrix is, a processor waits for a
/// masked store to leave its buffer.
template <typename T>
inline void store_part(T* p, Vec<T> v, std::int64_t count) {
  detail::store_halves<kLanes<T>>(p, v, count);
}

/// a * b + c; one instruction where the set has it, which every set but the
/// generic one does (-ffp-contract=fast is GCC's default for such expressions).
template <typename V>
inline V multiply_add(V a, V b, V c) {
  return a * b + c;
}

/// yes where the mask is set, no elsewhere.
template <typename M, typename V>
inline V select(M mask, V yes, V no) {
  return mask ? yes : no;
}

/// The numbers themselves in another type of the same size: Vec<std::int32_t>
/// to Vec<float>.
template <typename To, typename From>
inline To convert(From from) {
  return __builtin_convertvector(from, To);
}

/// Square root, correctly rounded. GCC makes one instruction of the loop.
template <typename V>
inline V sqrt(V v) {
  for (unsigned i = 0; i < sizeof(V) / sizeof v[0]; ++i) v[i] = std::sqrt(v[i]);
  return v;
}

template <typename V>
inline V minimum(V a, V b) {
  return a < b ? a : b;
}

template <typename V>
inline V maximum(V a, V b) {
  return a > b ? a : b;
}

/// The products of the lower 32 bits of each lane, in full. One instruction on
/// x86, which GCC does not find by itself: it takes three and some shifts.
inline Vec<std::uint64_t> multiply_lower_halves(Vec<std::uint64_t> a,
                                                Vec<std::uint64_t> b) {
#if defined(__AVX512F__)
  // The masked form: GCC 12 warns of the plain one (its bug 105593).
  return bit_cast<Vec<std::uint64_t>>(
      _mm512_maskz_mul_epu32(0xFF, bit_cast<__m512i>(a), bit_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return bit_cast<Vec<std::uint64_t>>(
      _mm256_mul_epu32(bit_cast<__m256i>(a), bit_cast<__m256i>(b)));
#elif defined(__x86_64__)
  return bit_cast<Vec<std::uint64_t>>(
      _mm_mul_epu32(bit_cast<__m128i>(a), bit_cast<__m128i>(b)));
#else
  return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#endif
}

namespace detail {

/// Sum of N lanes: the lower half plus the upper half, and so on.
template <int N, typename T, typename V>
inline T sum_halves(V v) {
  if constexpr (N == 1) {
    return v[0];
  } else {
    constexpr int kBytes = N / 2 * static_cast<int>(sizeof(T));
    using Half __attribute__((vector_size(kBytes))) = T;
    Half halves[2];
    std::memcpy(halves, &v, sizeof halves);
    return sum_halves<N / 2, T>(halves[0] + halves[1]);
  }
}

}  // namespace detail

/// Sum of the lanes, always in the same order.
template <typename T>
inline T reduce_add(Vec<T> v) {
  return detail::sum_halves<kLanes<T>, T>(v);
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
