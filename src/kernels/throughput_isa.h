#pragma once

#include <cstdint>

#include "kernels/gemm_isa.h"
#include "radir/core/config.h"

namespace radir::kernels {

struct ThroughputTable {
  /// Runs multiply-adds in registers, `rounds` times through all of them, and
  /// returns the floating-point operations of one round; `result` gets what is
  /// left of them, so that the compiler drops none.
  double (*multiply_adds)(std::int64_t rounds, float* result);
  const GemmTable<float>* gemm;
};

namespace isa_generic {
extern const ThroughputTable throughput_table;
}
namespace isa_avx2 {
extern const ThroughputTable throughput_table;
}
namespace isa_avx512 {
extern const ThroughputTable throughput_table;
}

}  // namespace radir::kernels
