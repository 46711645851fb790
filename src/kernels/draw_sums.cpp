#include "radir/kernels/draw_sums.h"

#include "kernels/draw_sums_isa.h"

namespace radir::kernels {
namespace {

const DrawSumsTable& active_table() {
  static const DrawSumsTable& table = draw_sums_table_of(active_isa());
  return table;
}

}  // namespace

const DrawSumsTable& draw_sums_table_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return isa_avx512::draw_sums_table;
  if (isa == Isa::Avx2) return isa_avx2::draw_sums_table;
#endif
  static_cast<void>(isa);
  return isa_generic::draw_sums_table;
}

DrawRange range_of_draws(const double* draws, std::int64_t count) {
  return active_table().range(draws, count);
}

void chebyshev_sums(const ChebyshevPlace& x, const ChebyshevPlace& y,
                    std::int64_t count, double* sums) {
  active_table().chebyshev(x, y, count, sums);
}

NormalSums normal_sums(const NormalColumns& of, std::int64_t count, double at) {
  return active_table().normals(of, count, at);
}

StudentSums student_sums(const NormalColumns& of, double degrees_of_freedom,
                         std::int64_t count, double at) {
  return active_table().students(of, degrees_of_freedom, count, at);
}

NormalPairSums normal_pair_sums(const NormalColumns& a, const NormalColumns& b,
                                std::int64_t count) {
  return active_table().normal_pairs(a, b, count);
}

}  // namespace radir::kernels
