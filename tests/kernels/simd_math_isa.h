#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The functions of src/kernels/simd_math.h applied to arrays whose size is a
// multiple of 16, for each instruction set.

namespace radir::kernels {

template <typename T>
struct SimdMathFunctions {
  using Function = void (*)(const T* x, T* y, std::size_t count);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  Function exp;
  Function expm1;
  Function log;
  Function log1p;
  Function sqrt;
  Function sin_2pi;
  Function cos_2pi;
  void (*open_unit)(const Bits* bits, T* y, std::size_t count);
};

struct SimdMathTable {
  SimdMathFunctions<float> single_precision;
  SimdMathFunctions<double> double_precision;
};

namespace isa_generic {
extern const SimdMathTable simd_math_table;
}
namespace isa_avx2 {
extern const SimdMathTable simd_math_table;
}
namespace isa_avx512 {
extern const SimdMathTable simd_math_table;
}

}  // namespace radir::kernels
