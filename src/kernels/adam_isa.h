#pragma once

#include "radir/core/config.h"
#include "radir/core/cpu.h"
#include "radir/kernels/adam.h"

namespace radir::kernels {
inline namespace RADIR_ISA {}  // namespace RADIR_ISA

/// The numbers of one step, the same for every element.
template <typename T>
struct AdamStep {
  T beta1, one_minus_beta1;
  T beta2, one_minus_beta2;
  T rate;           // learning rate / (1 - beta1^t)
  T moment_factor;  // 1 / sqrt(1 - beta2^t)
  T epsilon;
  T weight_decay;
  T gradient_scale;
};

template <typename T>
struct AdamFunctions {
  void (*step)(const AdamStep<T>& step, std::int64_t count,
               const AdamBuffers<T>& buffers);
  double (*squared_norm)(std::int64_t count, const T* x);
};

/// The unchecked functions of one instruction set.
struct AdamTable {
  AdamFunctions<float> single_precision;
  AdamFunctions<double> double_precision;

  template <typename T>
  const AdamFunctions<T>& functions() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return single_precision;
    } else {
      return double_precision;
    }
  }
};

namespace isa_generic {
extern const AdamTable adam_table;
}
namespace isa_avx2 {
extern const AdamTable adam_table;
}
namespace isa_avx512 {
extern const AdamTable adam_table;
}

/// The table of an instruction set, which the processor must have.
const AdamTable& adam_table_of(Isa isa);

}  // namespace radir::kernels
