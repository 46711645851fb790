#pragma once

#include <cuda_runtime.h>

namespace radir::kernels {

/// The threads of a CUDA block: see SerialTeam. The size is a multiple of a
/// warp's. Sums are added up in an order that the numbers of items, terms and
/// threads alone decide. Loops are not unrolled: a step runs through all of its
/// code once, and what does not fit into the instruction cache is fetched anew
/// each time.
struct BlockTeam {
  static constexpr int kWarp = 32;
  static constexpr unsigned kAll = 0xffffffffu;

  template <typename F>
  __device__ void for_each(int count, const F& f) const {
#pragma unroll 1
    for (int i = rank(); i < count; i += size()) f(i);
  }

  template <typename F>
  __device__ void task(int number, const F& f) const {
    if (rank() == number * kWarp % size()) f();
  }

  template <int kSums, typename V, typename Term, typename Done>
  __device__ void sum_each(int items, int terms, const Term& term,
                           const Done& done) const {
    int lanes = 1;  // that share an item
#pragma unroll 1
    while (lanes < kWarp && lanes < terms && 2 * lanes * items <= size()) {
      lanes *= 2;
    }
    const int lane = rank() % lanes;
    // The same number of rounds in every thread of a warp, for the shuffles.
#pragma unroll 1
    for (int first = 0; first < items; first += size() / lanes) {
      const int item = first + rank() / lanes;
      V sums[kSums] = {};
      if (item < items) {
#pragma unroll 4
        for (int k = lane; k < terms; k += lanes) term(item, k, sums);
      }
      for (int n = 0; n < kSums; ++n) add_lanes(lanes, sums[n]);
      if (item < items && lane == 0) done(item, sums);
    }
  }

  template <typename F>
  __device__ double sum(int count, const F& f) const {
    double* const of_warp = warp_sums();
    double total = 0;
#pragma unroll 1
    for (int i = rank(); i < count; i += size()) total += f(i);
    add_lanes(kWarp, total);
    if (rank() % kWarp == 0) of_warp[rank() / kWarp] = total;
    sync();
    total = 0;
#pragma unroll 1
    for (int warp = 0; warp < size() / kWarp; ++warp) total += of_warp[warp];
    sync();  // before the next sum writes
    return total;
  }

  __device__ void sync() const { __syncthreads(); }

 private:
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static int size() { return static_cast<int>(blockDim.x); }

  /// One for all sums.
  __device__ static double* warp_sums() {
    __shared__ double sums[kWarp];
    return sums;
  }

  template <typename V>
  __device__ static void add_lanes(int lanes, V& value) {
#pragma unroll 1
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      value += __shfl_xor_sync(kAll, value, offset);
    }
  }
};

}  // namespace radir::kernels
