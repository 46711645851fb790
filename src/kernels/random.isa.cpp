#include <cstdint>
#include <cstring>

#include "kernels/philox_simd.h"
#include "kernels/random_isa.h"

// A sequence is laid out in tiles of 16 blocks, which every instruction set
// fills with full registers and no shuffles, and is the same for all of them:
//   float: 64 elements. Element 16 w + 2 b + h of a tile is made from word w of
//     block b + 8 h (b < 8, h < 2); normals come in pairs from words 0 and 1,
//     and from words 2 and 3;
//   double: 32 elements. Element 16 h + b is made from words 2 h and 2 h + 1 of
//     block b (b < 16, h < 2); normals come in pairs from h = 0 and 1.
// This file is compiled without fused multiply-add, whose rounding the generic
// set could not repeat: all sets give the same bits.

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

constexpr int kTileBlocks = 16;
constexpr int kHalf = kTileBlocks / 2;
constexpr int kBlockLanes = kLanes<std::uint64_t>;

/// Blocks b, b + 1, ... of a tile, one per lane, and those half a tile further.
struct TileBlocks {
  PhiloxLanes first, second;

  [[gnu::always_inline]] TileBlocks(const RandomStream& stream,
                                    std::int64_t tile, int b) {
    const auto begin = static_cast<std::uint64_t>(kTileBlocks * tile + b);
    const Vec<std::uint64_t> index = lane_numbers<std::uint64_t>() + begin;
    PhiloxLanes blocks[2];
    philox_lanes(stream, {index, index + kHalf}, 0, blocks);
    first = blocks[0];
    second = blocks[1];
  }
};

/// The distributions: two numbers from the bits for two.
struct Uniform {
  template <typename U>
  static auto pair(U first, U second) {
    return Pair<decltype(open_unit(first))>{open_unit(first),
                                            open_unit(second)};
  }
};

struct Normal {
  template <typename U>
  static auto pair(U first, U second) {
    return normal_pair(first, second);
  }
};

struct Exponential {
  template <typename U>
  static auto pair(U first, U second) {
    const auto uniform = Uniform::pair(first, second);
    return Pair<decltype(open_unit(first))>{-log_of_normal(uniform.first),
                                            -log_of_normal(uniform.second)};
  }
};

template <typename Distribution>
[[gnu::always_inline]] inline void fill_tile(const RandomStream& stream,
                                             std::int64_t tile, float* out) {
  for (int b = 0; b < kHalf; b += kBlockLanes) {
    const auto [even, odd] = TileBlocks(stream, tile, b);
    for (int w = 0; w < 4; w += 2) {
      const auto numbers =
          Distribution::pair(interleave(even.word[w], odd.word[w]),
                             interleave(even.word[w + 1], odd.word[w + 1]));
      store(out + kTileBlocks * w + 2 * b, numbers.first);
      store(out + kTileBlocks * (w + 1) + 2 * b, numbers.second);
    }
  }
}

template <typename Distribution>
[[gnu::always_inline]] inline void fill_tile(const RandomStream& stream,
                                             std::int64_t tile, double* out) {
  const auto fill_lanes = [out](const PhiloxLanes& block, int b) {
    const auto numbers = Distribution::pair(join(block.word[0], block.word[1]),
                                            join(block.word[2], block.word[3]));
    store(out + b, numbers.first);
    store(out + kTileBlocks + b, numbers.second);
  };
  for (int b = 0; b < kHalf; b += kBlockLanes) {
    const auto [first, second] = TileBlocks(stream, tile, b);
    fill_lanes(first, b);
    fill_lanes(second, b + kHalf);
  }
}

template <typename Distribution, typename T>
void fill(const RandomStream& given, std::int64_t offset, std::int64_t count,
          T* out) {
  // A copy, which no store to `out` can change, has its keys found once.
  const RandomStream stream = given;
  constexpr std::int64_t kTileSize =
      kTileBlocks * sizeof(PhiloxBlock) / sizeof(T);
  while (count > 0) {
    const std::int64_t tile = offset / kTileSize;
    const std::int64_t skipped = offset % kTileSize;
    const std::int64_t rest = kTileSize - skipped;
    const std::int64_t n = rest < count ? rest : count;
    if (n == kTileSize) {
      fill_tile<Distribution>(stream, tile, out);
    } else {
      T numbers[kTileSize];
      fill_tile<Distribution>(stream, tile, numbers);
      std::memcpy(out, numbers + skipped,
                  static_cast<std::size_t>(n) * sizeof(T));
    }
    offset += n;
    count -= n;
    out += n;
  }
}

}  // namespace

extern const RandomTable random_table = {
    {fill<Uniform, float>, fill<Normal, float>, fill<Exponential, float>},
    {fill<Uniform, double>, fill<Normal, double>, fill<Exponential, double>},
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
