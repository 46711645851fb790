#pragma once

#include "radir/core/cpu.h"
#include "radir/kernels/philox.h"

namespace radir::kernels {

template <typename T>
struct RandomFills {
  using Fill = void (*)(const RandomStream& stream, std::int64_t offset,
                        std::int64_t count, T* out);
  Fill uniform;
  Fill normal;
  Fill exponential;
};

/// The unchecked fills of one instruction set.
struct RandomTable {
  RandomFills<float> single_precision;
  RandomFills<double> double_precision;

  template <typename T>
  const RandomFills<T>& fills() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return single_precision;
    } else {
      return double_precision;
    }
  }
};

namespace isa_generic {
extern const RandomTable random_table;
}
namespace isa_avx2 {
extern const RandomTable random_table;
}
namespace isa_avx512 {
extern const RandomTable random_table;
}

/// The table of an instruction set, which the processor must have.
const RandomTable& random_table_of(Isa isa);

}  // namespace radir::kernels
