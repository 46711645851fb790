#pragma once

#include "radir/core/config.h"

namespace radir::kernels {

/// The threads that work on one network, as the training program sees them.
/// This is a team of one, for the CPU; block_team.h has that of a CUDA block.
/// What the members do between two calls of sync() must not depend on each
/// other.
struct SerialTeam {
  /// f(0), ..., f(count - 1), shared among the members. Loops between two calls
  /// of sync() that name different `turn`s begin with different members, so
  /// that short ones run side by side.
  template <typename F>
  RADIR_HOST_DEVICE void for_each(int count, const F& f,
                                  int /*turn*/ = 0) const {
    for (int i = 0; i < count; ++i) f(i);
  }

  /// The turn after a loop of `count` items, or of sums, that had this one.
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
  template <int kSums, typename V, typename Term, typename Done>
  RADIR_HOST_DEVICE void sum_each(int items, int terms, const Term& term,
                                  const Done& done, int /*turn*/ = 0) const {
    for (int item = 0; item < items; ++item) {
      V sums[kSums] = {};
      for (int k = 0; k < terms; ++k) term(item, k, sums);
      done(item, sums);
    }
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
