#pragma once

#include "kernels/cuda/channel_product.h"
#include "radir/core/config.h"

namespace radir::kernels {

/// The threads that work on one network, as the training program sees them.
/// This is a team of one, for the CPU; block_team.h has that of a CUDA block,
/// grid_team.h that of several blocks.
/// What the members do between two calls of sync() must not depend on each
/// other.
struct SerialTeam {
  /// Which plans it trains: TrainingPlan::is_large.
  static constexpr bool kTrainsSmall = true;
  static constexpr bool kTrainsLarge = true;

  /// f(0), ..., f(count - 1), shared among the members. Loops between two calls
  /// of sync() that name different `turn`s begin with different members, so
  /// that short ones run side by side.
  template <typename F>
  RADIR_HOST_DEVICE void for_each(int count, const F& f,
                                  int /*turn*/ = 0) const {
    for (int i = 0; i < count; ++i) f(i);
  }

  /// store(i, load(i)) for i = 0, ..., count - 1. Loads may be done before the
  /// stores of other items.
  template <typename Load, typename Store>
  RADIR_HOST_DEVICE void transform(int count, const Load& load,
                                   const Store& store, int /*turn*/ = 0) const {
    for (int i = 0; i < count; ++i) store(i, load(i));
  }

  /// The turn after a loop of `count` items that had this one.
  RADIR_HOST_DEVICE int turn_after(int turn, int /*count*/) const {
    return turn;
  }

  /// Long work that cannot be shared: one member does it, another one for
  /// another number.
  template <typename F>
  RADIR_HOST_DEVICE void task(int /*number*/, const F& f) const {
    f();
  }

  /// For each of `items`, done(item, sums) with the kSums sums that
  /// term(item, k, sums) adds to for k = 0, ..., terms - 1.
  /// Where there are enough terms, kLeast members or more share an item:
  /// neighbouring terms, if they are neighbours in memory.
  template <int kSums, typename V, int kLeast = 1, typename Term, typename Done>
  RADIR_HOST_DEVICE void sum_each(int items, int terms, const Term& term,
                                  const Done& done, int /*turn*/ = 0) const {
    for (int item = 0; item < items; ++item) {
      V sums[kSums] = {};
      for (int k = 0; k < terms; ++k) term(item, k, sums);
      done(item, sums);
    }
  }

  /// The same for terms that are long themselves.
  template <int kSums, typename V, int kLeast = 1, typename Term, typename Done>
  RADIR_HOST_DEVICE void sum_each_long(int items, int terms, const Term& term,
                                       const Done& done, int turn = 0) const {
    sum_each<kSums, V>(items, terms, term, done, turn);
  }

  /// Calls store(tile, column, sums) for each quad of rows of a product.
  template <typename T, typename Place, typename Store>
  RADIR_HOST_DEVICE void multiply(const ChannelProduct<T>& product,
                                  const Place& place,
                                  const Store& store) const {
    multiply_channels(product, place, store);
  }

  /// The turn after sum_each.
  RADIR_HOST_DEVICE int turn_after_sums(int turn, int /*items*/,
                                        int /*terms*/) const {
    return turn;
  }

  /// The sum of f(0), ..., f(count - 1), for all members; all must call it.
  template <typename F>
  RADIR_HOST_DEVICE double sum(int count, const F& f) const {
    double total = 0;
    for (int i = 0; i < count; ++i) total += f(i);
    return total;
  }

  /// Waits for all members.
  RADIR_HOST_DEVICE void sync() const {}
};

}  // namespace radir::kernels
