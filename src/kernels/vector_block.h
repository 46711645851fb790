#pragma once

#include "kernels/simd.h"

// Square blocks of lanes x lanes numbers held in registers: their transposition
// and their row sums, both built from one shuffle. Private to the *.isa.cpp
// files.

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace detail {

template <int... I>
struct Indices {};

template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
  using type = Indices<I...>;
};

// Element i of the result is element i / 2 of `a` (i even) or of `b` (i odd),
// counted from lane `From`.
template <int From, typename V, int... I>
inline V interleave(V a, V b, Indices<I...>) {
  constexpr int lanes = sizeof...(I);
  return __builtin_shufflevector(a, b, (From + I / 2 + (I % 2) * lanes)...);
}

}  // namespace detail

/// a0 b0 a1 b1 ... from the lower halves.
template <typename T>
inline Vec<T> interleave_low(Vec<T> a, Vec<T> b) {
  return detail::interleave<0>(a, b,
                               typename detail::MakeIndices<kLanes<T>>::type());
}

/// The same from the upper halves.
template <typename T>
inline Vec<T> interleave_high(Vec<T> a, Vec<T> b) {
  return detail::interleave<kLanes<T> / 2>(
      a, b, typename detail::MakeIndices<kLanes<T>>::type());
}

/// Transposes kLanes vectors in place. One round deals row i and row
/// i + lanes/2 into rows 2i and 2i + 1, which rotates the bits of
/// (row, lane) by one; log2(lanes) rounds exchange row and lane.
template <typename T>
inline void transpose(Vec<T>* rows) {
  constexpr int lanes = kLanes<T>;
  Vec<T> dealt[lanes];
  for (int round = 1; round < lanes; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      dealt[2 * i] = interleave_low<T>(rows[i], rows[i + lanes / 2]);
      dealt[2 * i + 1] = interleave_high<T>(rows[i], rows[i + lanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) rows[i] = dealt[i];
  }
}

/// Lane i of the result is the sum of the lanes of rows[i], always in the same
/// order. Overwrites `rows`.
template <typename T>
inline Vec<T> sum_rows(Vec<T>* rows) {
#pragma GCC unroll 8
  for (int half = kLanes<T> / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < half; ++i) {
      rows[i] = interleave_low<T>(rows[i], rows[i + half]) +
                interleave_high<T>(rows[i], rows[i + half]);
    }
  }
  return rows[0];
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
