#pragma once

#include <cstdint>

#include "radir/core/config.h"

// What elementary functions are made of, whether of full registers
// (simd_math.h) or of single numbers (cuda/exact_math.h).

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace detail {

/// Layout of IEEE 754 numbers, and polynomial fits: interpolants at Chebyshev
/// nodes, written by tools/simd_polynomials.py, with errors relative to the
/// function they serve below 2^-25 (float) and 2^-54 (double).
template <typename T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kOne = 0x3F800000;
  static constexpr Bits kSqrtHalf = 0x3F3504F3;
  static constexpr float kMinNormal = 0x1p-126F;
  // ln 2 in two parts, the first with 15 bits: times an exponent it is exact.
  static constexpr float kLn2High = 0x1.62e4p-1F;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  static constexpr float kLog2E = 0x1.715476p+0F;
  // Results of exp outside of 2^-125 to 2^128 are 0 or infinite.
  static constexpr float kExpMin = -0x1.5a92d6p+6F;
  static constexpr float kExpMax = 0x1.62e42ep+6F;
  // (2 artanh(s) / s - 2) / s^2 in s^2, for |s| <= (sqrt 2 - 1)^2.
  static constexpr float kLog[] = {0.66666685F, 0.399887806F, 0.295799494F};
  // (exp(r) - 1 - r) / r^2 in r, for |r| <= ln(2) / 2.
  static constexpr float kExp[] = {0.5F, 0.16666577F, 0.0416665547F,
                                   0.00836317307F, 0.00139261761F};
  // sin(pi/2 f) / f and (cos(pi/2 f) - 1) / f^2 in f^2, for |f| <= 1/2.
  static constexpr float kSin[] = {1.57079632F, -0.645963478F, 0.0796802176F,
                                   -0.00460214921F};
  static constexpr float kCos[] = {-1.23370055F, 0.25366941F, -0.0208615283F,
                                   0.000906739898F};
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kOne = 0x3FF0000000000000;
  static constexpr Bits kSqrtHalf = 0x3FE6A09E667F3BCD;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr double kLn2High = 0x1.62e42fefap-1;
  static constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kExpMin = -0x1.61da04cbafe44p+9;
  static constexpr double kExpMax = 0x1.62e42fefa39efp+9;
  static constexpr double kLog[] = {0.66666666666666697, 0.39999999999899504,
                                    0.28571428625975485, 0.2222221113479508,
                                    0.18182889125261722, 0.15331721600556041,
                                    0.14616449685043406};
  static constexpr double kExp[] = {
      0.5000000000000001,    0.16666666666666667,   0.041666666666624162,
      0.0083333333333300644, 0.0013888888917196719, 0.00019841269863040545,
      2.4801521322368693e-5, 2.7557268480310026e-6, 2.7620075879983367e-7,
      2.5100375832561234e-8};
  static constexpr double kSin[] = {
      1.5707963267948966,    -0.64596409750624432,   0.079692626246043003,
      -0.004681754132340976, 0.00016044115074219091, -3.5986433529823097e-6,
      5.633933781537854e-8};
  static constexpr double kCos[] = {
      -1.2337005501361698,    0.25366950790104782,    -0.020863480763340773,
      0.00091926027454684462, -2.5202039028029176e-5, 4.7106784055052271e-7,
      -6.3293963449674235e-9};
};

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::kernels
