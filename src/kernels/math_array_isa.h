#pragma once

#include <cstdint>

#include "radir/core/cpu.h"

namespace radir::kernels {

/// The unchecked loops of one instruction set; n = nu - 1 = m/2 - 1 is the
/// order of the lower Bessel function of a ratio.
template <typename T>
struct MathArrayFunctions {
  using Function = void (*)(T order, const T* input, std::int64_t count,
                            T* output);
  bool (*any_outside)(const T* array, std::int64_t count, T low, T high);
  Function ratio;                   // of order n
  Function cosine_variance;         // n
  Function log_bessel;              // nu
  Function log_normalizer;          // n
  Function ratio_average_theorem5;  // nu
  void (*vmf_kl)(double n, const T* kappa_q, const T* kappa_p, const T* cosine,
                 std::int64_t count, T* kl);
};

struct MathArrayTable {
  MathArrayFunctions<float> single_precision;
  MathArrayFunctions<double> double_precision;

  template <typename T>
  const MathArrayFunctions<T>& functions() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return single_precision;
    } else {
      return double_precision;
    }
  }
};

namespace isa_generic {
extern const MathArrayTable math_array_table;
}
namespace isa_avx2 {
extern const MathArrayTable math_array_table;
}
namespace isa_avx512 {
extern const MathArrayTable math_array_table;
}

/// The table of an instruction set, which the processor must have.
const MathArrayTable& math_array_table_of(Isa isa);

}  // namespace radir::kernels
