#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "radir/core/config.h"

// Counter-based random numbers: J. Salmon, M. Moraes, R. Dror, D. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A random block is a
// function of a counter and a key, so any element of any sequence is computed
// on its own, by any thread, host or device.

namespace radir::kernels {

/// Names a sequence of random numbers. Use one stream number per purpose (a
/// layer's radii, a layer's directions, ...) and one step per training step:
/// two sequences that differ in any member are independent.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::uint64_t step = 0;  ///< less than 2^48
};

/// Steps of a stream, and elements of a sequence, that counters can name.
constexpr std::uint64_t kMaxRandomSteps = std::uint64_t{1} << 48;
constexpr std::int64_t kMaxRandomElements = std::int64_t{1} << 32;

/// A counter, or the 128 random bits made from one.
struct PhiloxBlock {
  std::uint32_t word[4];
};

struct PhiloxKey {
  std::uint32_t word[2];
};

inline namespace RADIR_ISA {

constexpr int kPhiloxRounds = 10;
constexpr std::uint64_t kPhiloxMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kPhiloxMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85;

/// Philox4x32-10: 128 random bits from a counter and a key.
RADIR_HOST_DEVICE constexpr PhiloxBlock philox(PhiloxBlock counter,
                                               PhiloxKey key) {
  std::uint32_t c0 = counter.word[0], c1 = counter.word[1];
  std::uint32_t c2 = counter.word[2], c3 = counter.word[3];
  std::uint32_t k0 = key.word[0], k1 = key.word[1];
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t p0 = kPhiloxMultiplier0 * c0;
    const std::uint64_t p1 = kPhiloxMultiplier1 * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
  return {{c0, c1, c2, c3}};
}

RADIR_HOST_DEVICE constexpr PhiloxKey key_of(const RandomStream& stream) {
  return {{static_cast<std::uint32_t>(stream.seed),
           static_cast<std::uint32_t>(stream.seed >> 32)}};
}

/// The counter of block `index` of a stream. Whole sequences use draw 0; draws
/// 1, 2, ... of an index are the sequence of that element alone (PhiloxEngine),
/// so the two never share a block.
RADIR_HOST_DEVICE constexpr PhiloxBlock counter_of(const RandomStream& stream,
                                                   std::uint32_t index,
                                                   std::uint32_t draw = 0) {
  return {{index, stream.stream, static_cast<std::uint32_t>(stream.step),
           static_cast<std::uint32_t>(stream.step >> 32) | draw << 16}};
}

/// Maps 64 random bits to the midpoints (2k + 1) 2^-53 of (0, 1): never 0 or 1.
RADIR_HOST_DEVICE constexpr double open_unit(std::uint32_t low,
                                             std::uint32_t high) {
  const std::uint64_t k = (std::uint64_t{high} << 32 | low) >> 12;
  return static_cast<double>(2 * k + 1) * 0x1p-53;
}

/// The random numbers of one element, one after the other, in double: for
/// rejection loops, whose number of draws differs between elements. Element i
/// depends on (seed, stream, step, i) alone. Holds 131,070 uniforms; after that
/// it repeats.
class PhiloxEngine {
 public:
  RADIR_HOST_DEVICE PhiloxEngine(const RandomStream& stream,
                                 std::uint32_t element)
      : stream_(stream), element_(element) {}

  /// Uniform on (0, 1), never 0 or 1.
  RADIR_HOST_DEVICE double uniform() {
    if (used_ == 2) next_block();
    const std::uint32_t* pair = block_.word + std::ptrdiff_t{2} * used_++;
    return open_unit(pair[0], pair[1]);
  }

  /// Standard normal (Box-Muller; two uniforms).
  RADIR_HOST_DEVICE double normal() {
    using std::cos;
    using std::log;
    using std::sqrt;
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = sqrt(-2 * log(uniform()));
    return radius * cos(kTwoPi * uniform());
  }

  /// Exponential of rate 1 (one uniform).
  RADIR_HOST_DEVICE double exponential() {
    using std::log;
    return -log(uniform());
  }

  /// Gamma of the given shape > 0 and scale 1; at least the smallest normal
  /// number, so that its logarithm is finite. Not checked: NaN or shape <= 0
  /// gives nonsense. G. Marsaglia, W. Tsang, "A simple method for generating
  /// gamma variables", ACM TOMS 26 (2000).
  RADIR_HOST_DEVICE double gamma(double shape) {
    using std::exp;
    // shape < 1: Gamma(shape) = Gamma(shape + 1) U^(1 / shape).
    const double boost = shape < 1 ? exp(-exponential() / shape) : 1;
    const double draw = boost * gamma_above_one(shape < 1 ? shape + 1 : shape);
    constexpr double kSmallest = 0x1p-1022;
    return draw > kSmallest ? draw : kSmallest;
  }

 private:
  RADIR_HOST_DEVICE void next_block() {
    block_ = philox(counter_of(stream_, element_, ++draw_), key_of(stream_));
    used_ = 0;
  }

  // d (1 + y)^3 with y = x / sqrt(9 d) and x normal, accepted with probability
  // exp(x^2 / 2 + d - d (1 + y)^3 + 3 d log(1 + y)), or at once below a bound
  // of it; no term is of the size of d, which may be large.
  RADIR_HOST_DEVICE double gamma_above_one(double shape) {
    using std::log;
    using std::log1p;
    using std::sqrt;
    const double d = shape - 1.0 / 3;
    for (;;) {
      const double x = normal();
      const double u = uniform();
      const double y = x / (3 * sqrt(d));
      if (y <= -1) continue;
      const double x2 = x * x;
      if (u < 1 - 0.0331 * x2 * x2 ||
          log(u) < 0.5 * x2 + 3 * d * (log1p(y) - y * (1 + y + y * y / 3))) {
        return d * (1 + y) * (1 + y) * (1 + y);
      }
    }
  }

  RandomStream stream_;
  std::uint32_t element_;
  std::uint32_t draw_ = 0;
  int used_ = 2;
  PhiloxBlock block_{};
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
