#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/warp.h"

namespace radir::kernels {

/// The threads of a CUDA block: see SerialTeam. The size is a multiple of a
/// warp's. Sums are added up in an order that the numbers of items and terms
/// alone decide, whatever the number of threads. Loops are not unrolled: a step
/// runs through all of its code once, and what does not fit into the
/// instruction cache is fetched anew each time.
struct BlockTeam {
  static constexpr bool kTrainsSmall = true;
  static constexpr bool kTrainsLarge = false;
  /// Threads that sums are shared out to, by those that there are.
  static constexpr int kSumThreads = 256;

  template <typename F>
  __device__ void for_each(int count, const F& f, int turn = 0) const {
#pragma unroll 1
    for (int i = rank_in(turn); i < count; i += size()) f(i);
  }

  template <typename Load, typename Store>
  __device__ void transform(int count, const Load& load, const Store& store,
                            int turn = 0) const {
    for_each(
        count, [&](int i) { store(i, load(i)); }, turn);
  }

  /// Turns are counted in warps.
  __device__ int turn_after(int turn, int count) const {
    return turn + (count + kWarp - 1) / kWarp;
  }

  /// Sums take all threads.
  __device__ int turn_after_sums(int turn, int /*items*/, int /*terms*/) const {
    return turn;
  }

  template <typename F>
  __device__ void task(int number, const F& f) const {
    if (rank() == number * kWarp % size()) f();
  }

  template <int kSums, typename V, int kLeast = 1, typename Term, typename Done>
  __device__ void sum_each(int items, int terms, const Term& term,
                           const Done& done, int turn = 0) const {
    int lanes = 1;  // that share an item
    int shift = 0;  // its logarithm
#pragma unroll 1
    while (lanes < kWarp && lanes < terms && 2 * lanes * items <= kSumThreads) {
      lanes *= 2;
      ++shift;
    }
    const int rank = rank_in(turn);
    const int lane = rank & (lanes - 1);
    const int own = rank >> shift;
    const int at_once = size() >> shift;
    // The same number of rounds in every thread of a warp, for the shuffles.
#pragma unroll 1
    for (int first = 0; first < items; first += at_once) {
      const int item = first + own;
      V sums[kSums] = {};
      if (item < items) {
#pragma unroll 4
        for (int k = lane; k < terms; k += lanes) term(item, k, sums);
      }
      add_lanes(lanes, sums);
      if (item < items && lane == 0) done(item, sums);
    }
  }

  template <typename F>
  __device__ double sum(int count, const F& f) const {
    constexpr int kWarps = kSumThreads / kWarp;
    double* const of_warp = warp_sums();
#pragma unroll 1
    for (int warp = rank() / kWarp; warp < kWarps; warp += size() / kWarp) {
      double total[1] = {};
#pragma unroll 1
      for (int i = warp * kWarp + rank() % kWarp; i < count; i += kSumThreads) {
        total[0] += f(i);
      }
      add_lanes(kWarp, total);
      if (rank() % kWarp == 0) of_warp[warp] = total[0];
    }
    sync();
    double total = 0;
#pragma unroll 1
    for (int warp = 0; warp < kWarps; ++warp) total += of_warp[warp];
    sync();  // before the next sum writes
    return total;
  }

  __device__ void sync() const { __syncthreads(); }

 private:
  __device__ static int rank() { return static_cast<int>(threadIdx.x); }
  __device__ static int size() { return static_cast<int>(blockDim.x); }
  __device__ static int rank_in(int turn) {
    int turned = rank() - turn * kWarp;
#pragma unroll 1
    while (turned < 0) turned += size();
    return turned;
  }

  /// One for all sums.
  __device__ static double* warp_sums() {
    __shared__ double sums[kSumThreads / kWarp];
    return sums;
  }
};

}  // namespace radir::kernels
