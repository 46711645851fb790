#pragma once

#include "radir/core/config.h"

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLog2 = 0.69314718055994530942;
constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kHalfLog2Pi = 0.91893853320467274178;  // log(2 pi)/2

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
