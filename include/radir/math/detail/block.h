#pragma once

#include <cstdint>
#include <type_traits>

#include "radir/math/debye.h"

// What the loops over arrays are made of: blocks of elements, and the expansion
// for one order. Host code.

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// Elements worked on together: enough to hide latencies, few enough for the
/// first-level cache.
constexpr int kBlock = 64;

template <typename T>
struct alignas(64) Block {
  T value[kBlock];
  T& operator[](int i) { return value[i]; }
  const T& operator[](int i) const { return value[i]; }
};

/// Elements begin, begin + 1, ... of an array of `count`; ones past its end.
template <typename To, typename From>
inline Block<To> load_block(const From* array, std::int64_t begin,
                            std::int64_t count) {
  Block<To> block;
  const From* source = array + begin;
  const std::int64_t rest = count - begin;
  if (rest >= kBlock) {
    for (int i = 0; i < kBlock; ++i) block[i] = static_cast<To>(source[i]);
  } else {
    for (int i = 0; i < kBlock; ++i) {
      block[i] = i < rest ? static_cast<To>(source[i]) : To(1);
    }
  }
  return block;
}

template <typename To, typename From>
inline void store_block(const Block<From>& block, std::int64_t begin,
                        std::int64_t count, To* array) {
  To* target = array + begin;
  const std::int64_t rest = count - begin;
  const int size = rest < kBlock ? static_cast<int>(rest) : kBlock;
  for (int i = 0; i < size; ++i) target[i] = static_cast<To>(block[i]);
}

/// output[i] = function(input[i]), block by block.
template <typename Function, typename T>
inline void apply(const Function& function, const T* input, std::int64_t count,
                  T* output) {
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    Block<T> result;
    function(load_block<T>(input, begin, count), result);
    store_block(result, begin, count, output);
  }
}

/// Calls body(integral_constant<int, k>()) with the number k of terms that the
/// expansion needs at order n; 0 where n is below the radius, so that it does
/// not hold for every argument.
template <typename T, typename Body>
inline void with_terms(T n, Body body) {
  using std::integral_constant;
  if (n < Expansion<T>::kRadius) return body(integral_constant<int, 0>());
  if constexpr (sizeof(T) == sizeof(double)) {
    if (n >= 2600) return body(integral_constant<int, 5>());
    if (n >= 190) return body(integral_constant<int, 8>());
    if (n >= 48) return body(integral_constant<int, 12>());
  } else {
    if (n >= 110) return body(integral_constant<int, 4>());
  }
  body(integral_constant<int, Expansion<T>::kTerms>());
}

/// The expansion for one order n >= radius: a polynomial of n/p alone, whose
/// coefficients are computed once.
template <typename Series, int kTerms, typename T>
class FixedOrderTerms {
 public:
  explicit FixedOrderTerms(T n) {
    double sums[kDegree + 1] = {};
    double scale = 1;
    for (int k = 1; k <= kTerms; ++k) {
      scale /= static_cast<double>(n);
      for (int j = 0; j <= Series::degree(k); ++j) {
        sums[k + 2 * j] += Series::sigma_coefficient(k, j) * scale;
      }
    }
    for (int i = 0; i <= kDegree; ++i) {
      coefficients_[i] = static_cast<T>(sums[i]);
    }
  }

  template <typename Summed>
  [[gnu::always_inline]] inline T sum(const DebyePoint<T>& at) const {
    static_assert(std::is_same_v<Summed, Series>);
    const T x = at.n * at.inverse_p;
    return x * horner<1>(x);
  }

 private:
  static constexpr int kDegree = kTerms + 2 * Series::degree(kTerms);

  template <int k>
  [[gnu::always_inline]] inline T horner(T x) const {
    if constexpr (k == kDegree) {
      return coefficients_[k];
    } else {
      return coefficients_[k] + x * horner<k + 1>(x);
    }
  }

  T coefficients_[kDegree + 1];
};

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math
