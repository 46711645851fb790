#pragma once

#include <cstring>
#include <limits>

#include "radir/core/config.h"
#include "radir/core/error.h"

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

// Constants rather than calls, so that device code may name them.
template <typename T>
constexpr T kMax = std::numeric_limits<T>::max();
template <typename T>
constexpr T kEpsilon = std::numeric_limits<T>::epsilon();

/// x is a positive, finite number.
template <typename T>
RADIR_HOST_DEVICE inline bool is_positive(T x) {
  return x > 0 && x <= kMax<T>;
}

/// x is zero or a positive, finite number.
template <typename T>
RADIR_HOST_DEVICE inline bool is_non_negative(T x) {
  return x >= 0 && x <= kMax<T>;
}

/// x is neither infinite nor NaN.
template <typename T>
RADIR_HOST_DEVICE inline bool is_finite(T x) {
  return x >= -kMax<T> && x <= kMax<T>;
}

/// Every x is a positive, finite number.
template <typename... T>
RADIR_HOST_DEVICE inline bool all_positive(T... x) {
  return (is_positive(x) && ...);
}

/// Becomes NaN, or a struct of numbers that are all NaN.
struct NotANumber {
  template <typename Result>
  RADIR_HOST_DEVICE operator Result() const {
    Result result;
    std::memset(&result, 0xff, sizeof result);  // all bits set is a NaN
    return result;
  }
};

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math

/// First line of a public function: where `condition` does not hold, the host
/// throws DomainError with the parts joined, the device returns NaN.
#if defined(__CUDA_ARCH__)
#define RADIR_MATH_REQUIRE(condition, ...)        \
  do {                                            \
    if (!(condition)) {                           \
      return ::radir::math::detail::NotANumber(); \
    }                                             \
  } while (false)
#else
#define RADIR_MATH_REQUIRE(condition, ...) \
  RADIR_CHECK(condition, DomainError, __VA_ARGS__)
#endif
