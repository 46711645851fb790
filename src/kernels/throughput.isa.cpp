#include "kernels/throughput_isa.h"

#include "kernels/simd.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

// Two units with a latency of up to five cycles are busy with ten chains that
// do not wait for each other; twelve leave registers for the operands.
double multiply_adds(std::int64_t rounds, float* result) {
  constexpr int kChains = 12;
  Vec<float> chain[kChains];
  for (int i = 0; i < kChains; ++i) {
    chain[i] = broadcast(static_cast<float>(i));
  }
  const Vec<float> factor = broadcast(0.5f);
  const Vec<float> term = broadcast(1.0f);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chain[i] = multiply_add(chain[i], factor, term);
    }
  }
  Vec<float> sum{};
  for (int i = 0; i < kChains; ++i) sum += chain[i];
  *result = sum[0];
  return 2.0 * kChains * kLanes<float>;
}

}  // namespace

extern const ThroughputTable throughput_table = {multiply_adds, &gemm_float};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
