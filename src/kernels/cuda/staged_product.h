#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "kernels/cuda/channel_product.h"
#include "kernels/cuda/quad.h"
#include "radir/kernels/training_plan.h"

// A ChannelProduct by the blocks of a team, through their shared memory: each
// block takes some columns, and all rows or many of them; the next slices are
// on their way while one is multiplied.

namespace radir::kernels {

/// Slices in shared memory at a time, and quads of each.
constexpr int kStages = 3;
constexpr int kStageQuads = 960;

/// Dynamic shared memory of a block.
template <typename T>
constexpr int kStagedBytes = kStages* kStageQuads* int(sizeof(Quad<T>));

/// kThreads are those of a block.
template <typename T, int kThreads>
class StagedProduct {
 public:
  __device__ StagedProduct(const ChannelProduct<T>& product, int blocks)
      : p_(product) {
    constexpr int kMostTiles = 16;
    constexpr int kFewTiles = 4;
    tiles_ = min(p_.tiles(), kMostTiles);
    if (kStageQuads / p_.taps < tiles_ + kFewTiles) {
      tiles_ = min(tiles_, kFewTiles);
    }
    groups_ = (p_.tiles() + tiles_ - 1) / tiles_;
    const int most = min(kThreads / tiles_, kStageQuads / p_.taps - tiles_);
    columns_ = min(most, (p_.columns * groups_ + blocks - 1) / blocks);
    splits_ = min(p_.taps, kThreads / (tiles_ * columns_));
  }

  template <typename Place, typename Store>
  __device__ void run(int block, int blocks, const Place& place,
                      const Store& store) const {
    const int chunks = (p_.columns + columns_ - 1) / columns_;
#pragma unroll 1
    for (int unit = block; unit < groups_ * chunks; unit += blocks) {
      const int group = unit / chunks;
      multiply(group * tiles_, (unit - group * chunks) * columns_, place,
               store);
    }
  }

 private:
  static constexpr int kLoads = (kStageQuads + kThreads - 1) / kThreads;

  /// Where a thread's part of a slice comes from; null: zeros.
  struct Source {
    const T* from;
    int step;
  };

  __device__ static Quad<T>* stage(int slice) {
    extern __shared__ __align__(16) unsigned char staged[];
    return reinterpret_cast<Quad<T>*>(staged) + slice % kStages * kStageQuads;
  }

  /// A stage is [taps][tiles] of a, then [taps][columns] of b.
  template <typename Place>
  __device__ Source source_of(int i, int first_tile, int first_column,
                              const Place& place) const {
    const int of_a = p_.taps * tiles_;
    if (i < of_a) {
      const int tap = i / tiles_;
      const int tile = first_tile + i - tap * tiles_;
      if (tile >= p_.tiles()) return {nullptr, 0};
      return {p_.a + tap * p_.a_tap + tile * kQuad, p_.a_step};
    }
    const int rest = i - of_a;
    const int tap = rest / columns_;
    const int column = first_column + rest - tap * columns_;
    if (tap >= p_.taps || column >= p_.columns) return {nullptr, 0};
    const int at = place(tap, column);
    if (at < 0) return {nullptr, 0};
    return {p_.b + at, p_.b_step};
  }

  __device__ void fetch(int slice, const Source (&sources)[kLoads]) const {
    Quad<T>* const to = stage(slice);
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      const int i = static_cast<int>(threadIdx.x) + n * kThreads;
      if (slice >= p_.slices || i >= kStageQuads) continue;
      if (sources[n].from == nullptr) {
        to[i] = {};
        continue;
      }
      const T* const from = sources[n].from + slice * sources[n].step;
      constexpr int kAtOnce = 16 / int(sizeof(T));
#pragma unroll
      for (int k = 0; k < kQuad; k += kAtOnce) {
        __pipeline_memcpy_async(to[i].at + k, from + k, 16);
      }
    }
    __pipeline_commit();
  }

  template <typename Place, typename Store>
  __device__ void multiply(int first_tile, int first_column, const Place& place,
                           const Store& store) const {
    Source sources[kLoads];
#pragma unroll
    for (int n = 0; n < kLoads; ++n) {
      sources[n] = source_of(static_cast<int>(threadIdx.x) + n * kThreads,
                             first_tile, first_column, place);
    }
    const int items = tiles_ * columns_;
    const int split = static_cast<int>(threadIdx.x) / items;
    const int item = static_cast<int>(threadIdx.x) - split * items;
    const int tile = item / columns_;
    const int column = item - tile * columns_;
    T sums[kQuad * kQuad] = {};
    for (int slice = 0; slice < kStages - 1; ++slice) fetch(slice, sources);
#pragma unroll 1
    for (int slice = 0; slice < p_.slices; ++slice) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();
      fetch(slice + kStages - 1, sources);
      if (split >= splits_) continue;
      const Quad<T>* const a = stage(slice) + tile;
      const Quad<T>* const b = stage(slice) + p_.taps * tiles_ + column;
#pragma unroll 4
      for (int tap = split; tap < p_.taps; tap += splits_) {
        add_products(load_quad(a[tap * tiles_].at),
                     load_quad(b[tap * columns_].at), sums);
      }
    }
    add_splits(items, split, item, sums);
    if (split == 0 && first_tile + tile < p_.tiles() &&
        first_column + column < p_.columns) {
      store(first_tile + tile, first_column + column, sums);
    }
  }

  /// Adds up what the threads of an item found, in the first of them.
  __device__ void add_splits(int items, int split, int item, T* sums) const {
    static_assert(kThreads * kQuad <= kStages * kStageQuads);
    Quad<T>* const shared = stage(0);
    __syncthreads();
    if (split > 0 && split < splits_) {
      for (int r = 0; r < kQuad; ++r) {
        shared[(split * kQuad + r) * items + item] = quad_of(sums + r * kQuad);
      }
    }
    __syncthreads();
    if (split == 0) {
      for (int other = 1; other < splits_; ++other) {
        for (int r = 0; r < kQuad; ++r) {
          const Quad<T> part = shared[(other * kQuad + r) * items + item];
          for (int e = 0; e < kQuad; ++e) sums[r * kQuad + e] += part.at[e];
        }
      }
    }
    __syncthreads();  // before the next slices come
  }

  const ChannelProduct<T>& p_;
  int tiles_;    // of a block at a time
  int groups_;   // of so many tiles
  int columns_;  // of a block at a time
  int splits_;   // threads that share an item's taps
};

}  // namespace radir::kernels
