#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/exact_math.h"
#include "radir/core/config.h"
#include "radir/kernels/philox.h"

// The random numbers of radir/kernels/random.h from one Philox block at a time,
// bit by bit the same. Where the elements of a block stand in their sequence is
// told at the head of kernels/random.isa.cpp.

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace exact {

/// The word of bits that one number of the type is made from.
template <typename T>
struct Bits;
template <>
struct Bits<float> {
  using Word = std::uint32_t;
  static constexpr int kPerBlock = 4;
};
template <>
struct Bits<double> {
  using Word = std::uint64_t;
  static constexpr int kPerBlock = 2;
};

RADIR_HOST_DEVICE inline std::uint64_t join(std::uint32_t lower,
                                            std::uint32_t upper) {
  return std::uint64_t{upper} << 32 | lower;
}

/// Word k of a block, for the type.
RADIR_HOST_DEVICE inline std::uint32_t word_of(const PhiloxBlock& block, int k,
                                               float) {
  return block.word[k];
}
RADIR_HOST_DEVICE inline std::uint64_t word_of(const PhiloxBlock& block, int k,
                                               double) {
  return join(block.word[2 * k], block.word[2 * k + 1]);
}

/// Uniform on (0, 1).
RADIR_HOST_DEVICE inline float unit(std::uint32_t bits) {
  const auto k = static_cast<float>(static_cast<std::int32_t>(bits >> 1));
  const float value = plus(times(k, 0x1p-31F), 0x1p-32F);
  return value < 0x1.fffffep-1F ? value : 0x1.fffffep-1F;
}
RADIR_HOST_DEVICE inline double unit(std::uint64_t bits) {
  constexpr std::uint64_t kOne = detail::Format<double>::kOne;
  return plus(bits_as<double>(bits >> 12 | kOne), -(1 - 0x1p-53));
}

/// Uniform on [-1/2, 1/2] from all bits but the upper two.
RADIR_HOST_DEVICE inline float centered(std::uint32_t bits) {
  return times(static_cast<float>(static_cast<std::int32_t>(bits << 2)),
               0x1p-32F);
}
RADIR_HOST_DEVICE inline double centered(std::uint64_t bits) {
  return plus(unit(bits << 2), -0.5);
}

/// A uniform point of the unit circle.
template <typename Word>
RADIR_HOST_DEVICE inline auto circle_point(Word bits) {
  constexpr Word kTop = Word{1} << (8 * sizeof(Word) - 1);
  auto point = sincos_of_quarter(centered(bits));
  if ((bits & kTop) != 0) point.cos = -point.cos;
  const bool swap = (bits & kTop >> 1) != 0;
  return SinCos<decltype(point.sin)>{swap ? point.cos : point.sin,
                                     swap ? point.sin : point.cos};
}

/// Exponential of rate 1.
template <typename Word>
RADIR_HOST_DEVICE inline auto exponential(Word bits) {
  return -log_of_normal(unit(bits));
}

/// Blocks that the first `count` elements of a sequence are made from.
template <typename T>
RADIR_HOST_DEVICE inline int block_count(int count) {
  constexpr int kTile = 16 * Bits<T>::kPerBlock;
  return (count + kTile - 1) / kTile * 16;
}

/// Where number k of a block stands in its sequence.
RADIR_HOST_DEVICE inline int element_of(int block, int k, float) {
  const int in_tile = block % 16;
  return block / 16 * 64 + 16 * k + 2 * (in_tile % 8) + in_tile / 8;
}
RADIR_HOST_DEVICE inline int element_of(int block, int k, double) {
  return block / 16 * 32 + 16 * k + block % 16;
}

RADIR_HOST_DEVICE inline PhiloxBlock block_of(const RandomStream& stream,
                                              std::uint32_t index,
                                              std::uint32_t draw = 0) {
  return philox(counter_of(stream, index, draw), key_of(stream));
}

/// Writes those of a block's standard normals that are among the first `count`.
template <typename T>
RADIR_HOST_DEVICE inline void write_normals(const RandomStream& stream,
                                            int block, int count, T* out) {
  const PhiloxBlock bits = block_of(stream, static_cast<std::uint32_t>(block));
  for (int k = 0; k < Bits<T>::kPerBlock; k += 2) {
    const T radius =
        root(times(log_of_normal(unit(word_of(bits, k, T()))), T(-2)));
    const auto point = circle_point(word_of(bits, k + 1, T()));
    const int first = element_of(block, k, T());
    const int second = element_of(block, k + 1, T());
    if (first < count) out[first] = times(radius, point.cos);
    if (second < count) out[second] = times(radius, point.sin);
  }
}

/// The same of exponential numbers.
template <typename T>
RADIR_HOST_DEVICE inline void write_exponentials(const RandomStream& stream,
                                                 int block, int count, T* out) {
  const PhiloxBlock bits = block_of(stream, static_cast<std::uint32_t>(block));
  for (int k = 0; k < Bits<T>::kPerBlock; ++k) {
    const int at = element_of(block, k, T());
    if (at < count) out[at] = exponential(word_of(bits, k, T()));
  }
}

/// Element `i` of a sequence of uniform doubles.
RADIR_HOST_DEVICE inline double uniform_element(const RandomStream& stream,
                                                std::uint32_t i) {
  const PhiloxBlock bits = block_of(stream, i / 32 * 16 + i % 16);
  return unit(word_of(bits, static_cast<int>(i % 32 / 16), 0.0));
}

}  // namespace exact
}  // namespace RADIR_ISA
}  // namespace radir::kernels
