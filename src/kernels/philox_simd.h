#pragma once

#include "kernels/simd_math.h"
#include "radir/kernels/philox.h"

// Philox for a register of blocks at a time, and the random numbers made from
// its bits. The results are those of philox() in radir/kernels/philox.h.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// One block per lane; each word is in the lower half of its lane, and the
/// upper halves hold rubbish.
struct PhiloxLanes {
  Vec<std::uint64_t> word[4];
};

/// philox(counter_of(stream, index, draw), key_of(stream)) for each lane of N
/// registers. The rounds of one register wait for each other: two registers
/// take little longer than one.
template <int N>
[[gnu::always_inline]] inline void philox_lanes(
    const RandomStream& stream, const Vec<std::uint64_t> (&index)[N],
    std::uint32_t draw, PhiloxLanes (&blocks)[N]) {
  using Lanes = Vec<std::uint64_t>;
  const PhiloxBlock counter = counter_of(stream, 0, draw);
  PhiloxKey key = key_of(stream);
  for (int n = 0; n < N; ++n) {
    blocks[n] = {{index[n], broadcast<std::uint64_t>(counter.word[1]),
                  broadcast<std::uint64_t>(counter.word[2]),
                  broadcast<std::uint64_t>(counter.word[3])}};
  }
#pragma GCC unroll 10
  for (int round = 0; round < kPhiloxRounds; ++round) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      Lanes(&c)[4] = blocks[n].word;
      const Lanes p0 =
          multiply_lower_halves(c[0], broadcast(kPhiloxMultiplier0));
      const Lanes p1 =
          multiply_lower_halves(c[2], broadcast(kPhiloxMultiplier1));
      c[0] = (p1 >> 32) ^ c[1] ^ std::uint64_t{key.word[0]};
      c[2] = (p0 >> 32) ^ c[3] ^ std::uint64_t{key.word[1]};
      c[1] = p1;
      c[3] = p0;
    }
    key.word[0] += kPhiloxWeyl0;
    key.word[1] += kPhiloxWeyl1;
  }
}

/// The same for a single register.
[[gnu::always_inline]] inline PhiloxLanes philox_lanes(
    const RandomStream& stream, Vec<std::uint64_t> index,
    std::uint32_t draw = 0) {
  PhiloxLanes block[1];
  philox_lanes(stream, {index}, draw, block);
  return block[0];
}

/// Words as the lower and upper halves of 64-bit numbers.
[[gnu::always_inline]] inline Vec<std::uint64_t> join(
    Vec<std::uint64_t> lower, Vec<std::uint64_t> upper) {
  return (lower & 0xFFFFFFFF) | upper << 32;
}

/// The words of two registers in one, lanes alternating.
[[gnu::always_inline]] inline Vec<std::uint32_t> interleave(
    Vec<std::uint64_t> even, Vec<std::uint64_t> odd) {
  return bit_cast<Vec<std::uint32_t>>(join(even, odd));
}

/// Uniform on (0, 1) from 31 of the bits: (k + 1/2) 2^-31, rounded to float,
/// but never to 1. Numbers near 0 keep the resolution that tails need.
[[gnu::always_inline]] inline Vec<float> open_unit(Vec<std::uint32_t> bits) {
  const auto k = convert<Vec<float>>(bit_cast<Vec<std::int32_t>>(bits >> 1));
  return minimum(k * 0x1p-31F + 0x1p-32F, broadcast(0x1.fffffep-1F));
}

/// Uniform on (0, 1): the midpoints (2 k + 1) 2^-53, exactly.
[[gnu::always_inline]] inline Vec<double> open_unit(Vec<std::uint64_t> bits) {
  constexpr std::uint64_t kOne = detail::Format<double>::kOne;
  return bit_cast<Vec<double>>(bits >> 12 | kOne) - (1 - 0x1p-53);
}

/// Uniform on [-1/2, 1/2] from all bits but the upper two.
[[gnu::always_inline]] inline Vec<float> centered(Vec<std::uint32_t> bits) {
  return convert<Vec<float>>(bit_cast<Vec<std::int32_t>>(bits << 2)) * 0x1p-32F;
}

[[gnu::always_inline]] inline Vec<double> centered(Vec<std::uint64_t> bits) {
  return open_unit(bits << 2) - 0.5;
}

/// A uniform point of the unit circle: the lower bits give an angle of at most
/// an eighth of a turn, the upper bit mirrors the point, and the next one swaps
/// its coordinates.
template <typename U>
[[gnu::always_inline]] inline auto circle_point(U bits) {
  using Word = detail::Scalar<U>;
  constexpr Word kTop = Word{1} << (8 * sizeof(Word) - 1);
  auto [sin, cos] = sincos_of_quarter(centered(bits));
  using V = decltype(sin);
  cos = bit_cast<V>(bit_cast<U>(cos) ^ (bits & kTop));
  const auto swap = (bits & kTop >> 1) != 0;
  return SinCos<V>{select(swap, cos, sin), select(swap, sin, cos)};
}

template <typename V>
struct Pair {
  V first;
  V second;
};

/// Two independent standard normals from two words of bits (G. Box, M. Muller,
/// Ann. Math. Stat. 29 (1958) 610). The largest are 6.66 (float) and 8.57
/// (double) in size.
template <typename U>
[[gnu::always_inline]] inline auto normal_pair(U radius_bits, U angle_bits) {
  const auto [sin, cos] = circle_point(angle_bits);
  const auto radius = sqrt(log_of_normal(open_unit(radius_bits)) * -2);
  return Pair<decltype(radius * cos)>{radius * cos, radius * sin};
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
