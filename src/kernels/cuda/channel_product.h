#pragma once

#include <cstdint>

#include "kernels/cuda/quad.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"

namespace radir::kernels {
inline namespace RADIR_ISA {

/// A product of a convolution's weight with activations. Row r, a channel of
/// the result, of column c, a pixel and a quad of examples, is
///   sum_{s < slices, t < taps} a[s a_step + t a_tap + r]
///                              b[s b_step + place(t, c) + ...]
/// where place() is given beside it; a negative one stands for zeros. A slice
/// is a channel that is summed over.
template <typename T>
struct ChannelProduct {
  int rows;
  int columns;
  int slices;
  int taps;
  const T* a;
  int a_step;
  int a_tap;
  const T* b;
  int b_step;

  RADIR_HOST_DEVICE int tiles() const { return quads_of(rows); }
};

/// By a team of one. Calls store(tile, column, sums) for each quad of rows.
template <typename T, typename Place, typename Store>
RADIR_HOST_DEVICE inline void multiply_channels(const ChannelProduct<T>& p,
                                                const Place& place,
                                                const Store& store) {
  for (int tile = 0; tile < p.tiles(); ++tile) {
    for (int column = 0; column < p.columns; ++column) {
      T sums[kQuad * kQuad] = {};
      for (int slice = 0; slice < p.slices; ++slice) {
        for (int tap = 0; tap < p.taps; ++tap) {
          const int at = place(tap, column);
          if (at < 0) continue;
          add_products(
              load_quad(p.a + slice * p.a_step + tap * p.a_tap + tile * kQuad),
              load_quad(p.b + slice * p.b_step + at), sums);
        }
      }
      store(tile, column, sums);
    }
  }
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
