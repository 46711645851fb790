#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/channel_product.h"
#include "kernels/cuda/staged_product.h"
#include "kernels/cuda/warp.h"

namespace radir::kernels {

/// Threads of each block of such a team.
constexpr int kGridThreads = 512;
constexpr int kGridWarps = kGridThreads / kWarp;

/// Sums of an item that a block adds up.
constexpr int kMostSums = 16;

/// What the blocks of a team share; zeros before a launch.
struct GridTeamState {
  /// Parts that a sum over the team is added up from.
  static constexpr int kParts = 512;

  /// Blocks' parts of the sums of few items: see GridTeam::sum_each_long.
  static constexpr int kUnits = 256;

  unsigned arrived;  // at all barriers so far
  double sums[kParts];
  double unit_sums[kUnits * kMostSums];
};

/// The threads of several CUDA blocks that run at the same time: see
/// SerialTeam. The order in which sums are added up depends on the number of
/// blocks, but is the same each time. The warps of a loop are shared out
/// evenly; neighbours are in one block, which has their data in its cache.
class GridTeam {
 public:
  static constexpr bool kTrainsSmall = false;
  static constexpr bool kTrainsLarge = true;

  __device__ GridTeam(GridTeamState* state, int block, int blocks)
      : state_(state), block_(block), blocks_(blocks) {}

  template <typename F>
  __device__ void for_each(int count, const F& f, int turn = 0) const {
    const Share share = share_of((count + kWarp - 1) / kWarp, turn);
#pragma unroll 1
    for (int i = share.first * kWarp + lane(); i < count;
         i += share.step * kWarp) {
      f(i);
    }
  }

  /// Several numbers at a time: memory is far.
  template <typename Load, typename Store>
  __device__ void transform(int count, const Load& load, const Store& store,
                            int turn = 0) const {
    constexpr int kAtOnce = 4;
    const Share share = share_of((count + kWarp - 1) / kWarp, turn);
    const int step = share.step * kWarp;
#pragma unroll 1
    for (int first = share.first * kWarp + lane(); first < count;
         first += kAtOnce * step) {
      decltype(load(0)) found[kAtOnce];
      // Past the end the first one again: a condition would come between loads.
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int i = first + k * step;
        found[k] = load(i < count ? i : first);
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int i = first + k * step;
        if (i < count) store(i, found[k]);
      }
    }
  }

  /// Turns are counted in warps.
  __device__ int turn_after(int turn, int count) const {
    return turn + (count + kWarp - 1) / kWarp;
  }

  /// In the last blocks, which short loops leave idle.
  template <typename F>
  __device__ void task(int number, const F& f) const {
    if (threadIdx.x == 0 && block_ == blocks_ - 1 - number % blocks_) f();
  }

  template <int kSums, typename V, int kLeast = 1, typename Term, typename Done>
  __device__ void sum_each(int items, int terms, const Term& term,
                           const Done& done, int turn = 0) const {
    sums<kSums, V, kLeast, 4>(items, terms, term, done, turn);
  }

  template <int kSums, typename V, int kLeast = 1, typename Term, typename Done>
  __device__ void sum_each_long(int items, int terms, const Term& term,
                                const Done& done, int turn = 0) const {
    const int pieces = pieces_of(items, terms);
    if (pieces > 1) {
      sum_in_pieces<kSums, V>(items, terms, pieces, term, done);
      return;
    }
    sums<kSums, V, kLeast, 1>(items, terms, term, done, turn);
  }

  template <typename T, typename Place, typename Store>
  __device__ void multiply(const ChannelProduct<T>& product, const Place& place,
                           const Store& store) const {
    StagedProduct<T, kGridThreads>(product, blocks_)
        .run(block_, blocks_, place, store);
  }

  __device__ int turn_after_sums(int turn, int items, int terms) const {
    if (takes_blocks(items, terms)) return turn + items;
    return turn_after(turn, items * lanes_of(items, terms));
  }

  template <typename F>
  __device__ double sum(int count, const F& f) const {
    constexpr int kParts = GridTeamState::kParts;
    const Share share = share_of(kParts, 0);
#pragma unroll 1
    for (int part = share.first; part < kParts; part += share.step) {
      double total[1] = {};
#pragma unroll 4
      for (int i = part * kWarp + lane(); i < count; i += kParts * kWarp) {
        total[0] += f(i);
      }
      add_lanes(kWarp, total);
      if (lane() == 0) state_->sums[part] = total[0];
    }
    sync();
    double total[1] = {};
#pragma unroll 4
    for (int part = lane(); part < kParts; part += kWarp) {
      total[0] += state_->sums[part];
    }
    add_lanes(kWarp, total);
    sync();  // before the next sum writes
    return total[0];
  }

  /// A barrier of all blocks: each adds one to a counter and waits for the
  /// others.
  __device__ void sync() const {
    __syncthreads();
    if (blocks_ == 1) return;
    if (threadIdx.x == 0) {
      const auto blocks = static_cast<unsigned>(blocks_);
      __threadfence();
      const unsigned before = atomicAdd(&state_->arrived, 1u);
      const unsigned all = (before / blocks + 1) * blocks;
      const volatile unsigned* const arrived = &state_->arrived;
      while (*arrived < all) {
      }
      __threadfence();
    }
    __syncthreads();
  }

 private:
  /// Threads that sums are shared out to, by those that there are.
  static constexpr int kSumThreads = 1 << 16;
  /// Sums of this many terms are shared by a block where there are few.
  static constexpr int kBlockTerms = 96;
  /// Blocks' work that few items with long terms are cut into, about.
  static constexpr int kPieces = 128;

  /// The warps' worth of a loop that a warp does: first, first + step, ...
  struct Share {
    int first;
    int step;
  };

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }

  __device__ Share share_of(int warps, int turn) const {
    int block = block_;
    int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (turn != 0) {
      const int rounds = turn / blocks_;
      block -= turn - rounds * blocks_;
      if (block < 0) block += blocks_;
      warp = (warp + kGridWarps - rounds % kGridWarps) % kGridWarps;
    }
    int each = (warps + blocks_ - 1) / blocks_;
    if (each > kGridWarps) each = kGridWarps;
    // A warp too many begins past the end.
    return {warp < each ? block * each + warp : warps, blocks_ * each};
  }

  __device__ static bool takes_blocks(int items, int terms) {
    return terms >= kBlockTerms && items <= kSumThreads / kGridThreads;
  }

  /// Threads that share an item: a power of two.
  __device__ static int lanes_of(int items, int terms, int least = 1) {
    int lanes = 1;
#pragma unroll 1
    while (lanes < kWarp && lanes < terms &&
           (lanes < least || 2 * lanes * items <= kSumThreads)) {
      lanes *= 2;
    }
    return lanes;
  }

  template <int kSums, typename V, int kLeast, int kUnroll, typename Term,
            typename Done>
  __device__ void sums(int items, int terms, const Term& term, const Done& done,
                       int turn) const {
    if (takes_blocks(items, terms)) {
      sum_by_blocks<kSums, V>(items, terms, term, done, turn);
      return;
    }
    const int lanes = lanes_of(items, terms, kLeast);
    const int shift = 31 - __clz(lanes);
    const int warps = (items * lanes + kWarp - 1) / kWarp;
    const int first_term = lane() & (lanes - 1);
    const Share share = share_of(warps, turn);
    // The same number of rounds in every thread of a warp, for the shuffles.
#pragma unroll 1
    for (int warp = share.first; warp < warps; warp += share.step) {
      const int item = (warp * kWarp + lane()) >> shift;
      V sums[kSums] = {};
      if (item < items) {
#pragma unroll(kUnroll)
        for (int k = first_term; k < terms; k += lanes) term(item, k, sums);
      }
      add_lanes(lanes, sums);
      if (item < items && first_term == 0) done(item, sums);
    }
  }

  template <int kSums, typename V, typename Term, typename Done>
  __device__ void sum_by_blocks(int items, int terms, const Term& term,
                                const Done& done, int turn) const {
    const int shift = turn % blocks_;
    const int first =
        block_ >= shift ? block_ - shift : block_ - shift + blocks_;
#pragma unroll 1
    for (int item = first; item < items; item += blocks_) {
      sum_in_block<kSums, V>(item, 0, terms, term,
                             [&](const V* sums) { done(item, sums); });
    }
  }

  /// The pieces that sum_each_long cuts the terms of an item into.
  __device__ static int pieces_of(int items, int terms) {
    if (!takes_blocks(items, terms)) return 1;
    const int most = terms / kBlockTerms;
    const int pieces = kPieces / items;
    return pieces < most ? pieces : most;
  }

  template <int kSums, typename V, typename Term, typename Done>
  __device__ void sum_in_pieces(int items, int terms, int pieces,
                                const Term& term, const Done& done) const {
    static_assert(kPieces <= GridTeamState::kUnits);
    V* const of_units = reinterpret_cast<V*>(state_->unit_sums);
#pragma unroll 1
    for (int unit = block_; unit < items * pieces; unit += blocks_) {
      const int item = unit / pieces;
      const int piece = unit - item * pieces;
      sum_in_block<kSums, V>(item, terms * piece / pieces,
                             terms * (piece + 1) / pieces, term,
                             [&](const V* sums) {
                               for (int n = 0; n < kSums; ++n) {
                                 of_units[unit * kSums + n] = sums[n];
                               }
                             });
    }
    sync();
    for_each(items, [&](int item) {
      V sums[kSums] = {};
      for (int piece = 0; piece < pieces; ++piece) {
        for (int n = 0; n < kSums; ++n) {
          sums[n] += of_units[(item * pieces + piece) * kSums + n];
        }
      }
      done(item, sums);
    });
  }

  /// Gives the sums of the terms [begin, end) to one thread of the block.
  template <int kSums, typename V, typename Term, typename Take>
  __device__ void sum_in_block(int item, int begin, int end, const Term& term,
                               const Take& take) const {
    static_assert(kSums <= kMostSums);
    V* const of_warps = reinterpret_cast<V*>(warp_sums());
    const int rank = static_cast<int>(threadIdx.x);
    V sums[kSums] = {};
#pragma unroll 1
    for (int k = begin + rank; k < end; k += kGridThreads) term(item, k, sums);
    add_lanes(kWarp, sums);
    if (rank % kWarp == 0) {
      for (int n = 0; n < kSums; ++n) {
        of_warps[rank / kWarp * kSums + n] = sums[n];
      }
    }
    __syncthreads();
    if (rank == 0) {
      for (int warp = 1; warp < kGridWarps; ++warp) {
        for (int n = 0; n < kSums; ++n) {
          sums[n] += of_warps[warp * kSums + n];
        }
      }
      take(sums);
    }
    __syncthreads();  // before the next sums are written
  }

  /// One for all sums.
  __device__ static double* warp_sums() {
    __shared__ double sums[kGridWarps * kMostSums];
    return sums;
  }

  GridTeamState* state_;
  int block_;
  int blocks_;
};

}  // namespace radir::kernels
