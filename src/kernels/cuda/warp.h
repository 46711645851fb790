#pragma once

#include <cuda_runtime.h>

// The threads of a warp.

namespace radir::kernels {

constexpr int kWarp = 32;

/// Adds up the sums of `lanes` neighbours, a power of two; all of them get the
/// result. All threads of the warp must call it.
template <int kSums, typename V>
__device__ inline void add_lanes(int lanes, V (&sums)[kSums]) {
  constexpr unsigned kAll = 0xffffffffu;
#pragma unroll 1
  for (int offset = lanes >> 1; offset > 0; offset >>= 1) {
#pragma unroll
    for (int n = 0; n < kSums; ++n) {
      sums[n] += __shfl_xor_sync(kAll, sums[n], offset);
    }
  }
}

}  // namespace radir::kernels
