#pragma once

#include <cstdint>

#include "kernels/cuda/block_random.h"
#include "radir/core/config.h"
#include "radir/kernels/philox.h"

// The order of the examples in each epoch: train::shuffled, made a batch's
// share at a time while the epoch before it is trained.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// An array of row numbers; narrow ones take half the memory.
struct RowNumbers {
  void* data;
  bool wide;

  RADIR_HOST_DEVICE int get(int i) const {
    return wide ? static_cast<int>(static_cast<std::uint32_t*>(data)[i])
                : static_cast<std::uint16_t*>(data)[i];
  }
  RADIR_HOST_DEVICE void set(int i, int row) const {
    if (wide) {
      static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(row);
    } else {
      static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(row);
    }
  }
};

struct ExampleOrder {
  RowNumbers current;   ///< rows of the table, of the running epoch
  RowNumbers next;      ///< places in row_order, of the one after it
  std::int32_t* picks;  ///< [batch]
  int rows;
  int batch;
  std::uint64_t seed;
  std::uint32_t stream;
  const std::int32_t* row_order;  ///< [rows], of the table

  /// The elements that piece `piece` of a shuffle places: those of index
  /// first(piece) and below, down to that of the next piece.
  RADIR_HOST_DEVICE int first(int piece) const {
    const int left = rows - piece * batch;
    return left > 1 ? left : 1;
  }

  /// First half of a piece of the shuffle of an epoch: which elements are
  /// exchanged.
  template <typename Team>
  RADIR_HOST_DEVICE void pick(const Team& team, std::int64_t epoch, int piece,
                              int turn = 0) const {
    if (piece == 0) {
      team.for_each(rows, [&](int i) { next.set(i, i); });
    }
    const RandomStream uniforms = {seed, stream,
                                   static_cast<std::uint64_t>(epoch)};
    const int top = first(piece);
    const auto pick_one = [&](int k) {
      const double uniform = exact::uniform_element(
          uniforms, static_cast<std::uint32_t>(top - k - 1));
      picks[k] =
          static_cast<std::int32_t>(exact::times(uniform, double(top - k)));
    };
    team.for_each(top - first(piece + 1), pick_one, turn);
  }

  /// Second half: exchanges them, one after the other. Its parts, which have to
  /// follow each other, are done in different phases of a step and hide behind
  /// the work of the others.
  template <typename Team>
  RADIR_HOST_DEVICE void exchange(const Team& team, int piece, int part,
                                  int parts, int task) const {
    team.task(task, [&] {
      const int top = first(piece);
      const int count = top - first(piece + 1);
      const int end = count * (part + 1) / parts;
      const int begin = count * part / parts;
      if (next.wide) {
        exchange_in(static_cast<std::uint32_t*>(next.data), top, begin, end);
      } else {
        exchange_in(static_cast<std::uint16_t*>(next.data), top, begin, end);
      }
    });
  }

  template <typename Row>
  RADIR_HOST_DEVICE void exchange_in(Row* order, int top, int begin,
                                     int end) const {
    RADIR_NOT_UNROLLED
    for (int k = begin; k < end; ++k) {
      Row& a = order[top - k - 1];
      Row& b = order[picks[k]];
      const Row row = a;
      a = b;
      b = row;
    }
  }

  /// The pieces [0, pieces) of an epoch at once.
  template <typename Team>
  RADIR_HOST_DEVICE RADIR_OUT_OF_LINE void shuffle(const Team& team,
                                                   std::int64_t epoch,
                                                   int pieces) const {
    for (int piece = 0; piece < pieces; ++piece) {
      pick(team, epoch, piece);
      team.sync();
      exchange(team, piece, /*part=*/0, /*parts=*/1, /*task=*/0);
      team.sync();
    }
  }

  /// Begins the epoch whose order is complete.
  template <typename Team>
  RADIR_HOST_DEVICE void turn(const Team& team) const {
    team.for_each(rows, [&](int i) { current.set(i, row_order[next.get(i)]); });
    team.sync();
  }
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
