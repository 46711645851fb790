#pragma once

#include "radir/core/config.h"
#include "radir/core/cpu.h"
#include "radir/kernels/draw_sums.h"

namespace radir::kernels {
inline namespace RADIR_ISA {}

/// The loops of one instruction set.
struct DrawSumsTable {
  DrawRange (*range)(const double* draws, std::int64_t count);
  void (*chebyshev)(const ChebyshevPlace& x, const ChebyshevPlace& y,
                    std::int64_t count, double* sums);
  NormalSums (*normals)(const NormalColumns& of, std::int64_t count, double at);
  StudentSums (*students)(const NormalColumns& of, double degrees_of_freedom,
                          std::int64_t count, double at);
  NormalPairSums (*normal_pairs)(const NormalColumns& a, const NormalColumns& b,
                                 std::int64_t count);
};

namespace isa_generic {
extern const DrawSumsTable draw_sums_table;
}
namespace isa_avx2 {
extern const DrawSumsTable draw_sums_table;
}
namespace isa_avx512 {
extern const DrawSumsTable draw_sums_table;
}

/// The table of an instruction set, which the processor must have.
const DrawSumsTable& draw_sums_table_of(Isa isa);

}  // namespace radir::kernels
