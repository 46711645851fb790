#pragma once

#include <cstdint>

#include "kernels/part_tree.h"
#include "radir/core/config.h"

// The two matrix products all dense and convolution layers are made of. Private
// to the kernels.

namespace radir::kernels {
inline namespace RADIR_ISA {}  // namespace RADIR_ISA

/// c(i, j) = bias[i] + sum_k a(i, k) b(k, j), negative results replaced by zero
/// with `relu`, those where the gate is not positive with `gate`. Sums run over
/// k in increasing order, whatever part of c a call computes.
template <typename T>
struct MatrixProduct {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  const T* a = nullptr;  ///< a(i, k) = a[i * a_row + k * a_depth]
  std::int64_t a_row = 0;
  std::int64_t a_depth = 1;
  const T* b = nullptr;  ///< rows readable up to an integer number of vectors
  std::int64_t b_row = 0;
  const std::int64_t* b_offsets = nullptr;  ///< row k at b + b_offsets[k]
                                            ///< instead of b + k * b_row
  T* c = nullptr;
  std::int64_t c_row = 0;
  const T* bias = nullptr;  ///< nullptr: zeros
  bool relu = false;
  const T* gate = nullptr;  ///< laid out as c
  /// With several parts, each sum is made of one for each part of the depth, of
  /// which part p ends at part_ends[p], added along a binary tree. Without
  /// bias, ReLU, gate and b_offsets.
  std::int64_t parts = 1;
  const std::int64_t* part_ends = nullptr;
};

/// c(i, k) = sum_r sum_{j < length} a_r(i, j) b_r(k, j), where run r of row i
/// of a begins at a + i * a_row + r * length, and run r of row k of b at b +
/// b_offsets[k] + run_offsets[r]. `length` is a whole number of vectors.
template <typename T>
struct RowDots {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t runs = 1;
  std::int64_t length = 0;
  const T* a = nullptr;
  std::int64_t a_row = 0;
  const T* b = nullptr;
  const std::int64_t* b_offsets = nullptr;
  const std::int64_t* run_offsets = nullptr;
  T* c = nullptr;
  std::int64_t c_row = 0;
  T* scratch = nullptr;  ///< row_dots_scratch(columns, parts) numbers
  /// With several parts, each sum is made of one for each part, which is what
  /// lies from part_ends[p - 1] to part_ends[p] (complete vectors) of each
  /// `period` numbers of a run, added along a binary tree.
  std::int64_t parts = 1;
  const std::int64_t* part_ends = nullptr;
  std::int64_t period = 0;
};

/// Rows a RowDots call handles together: cutting the rows at other places
/// costs speed (never bits).
constexpr std::int64_t kDotRows = 5;

/// Parts whose accumulators a RowDots call has at once.
constexpr std::int64_t kDotParts = 8;

/// Accumulators of a row, one widest vector each, and room to read a complete
/// block past the end.
[[gnu::always_inline]] constexpr std::int64_t dot_accumulators(
    std::int64_t columns) {
  return (columns + 16) * 16;
}

/// Accumulators of kDotRows rows, and the sums of subtrees of parts.
constexpr std::int64_t row_dots_scratch(std::int64_t columns,
                                        std::int64_t parts) {
  return kDotRows *
         ((parts < kDotParts ? parts : kDotParts) * dot_accumulators(columns) +
          part_levels(parts) * columns);
}

template <typename T>
struct GemmTable {
  void (*multiply)(const MatrixProduct<T>&);
  void (*row_dots)(const RowDots<T>&);
};

namespace isa_generic {
extern const GemmTable<float> gemm_float;
extern const GemmTable<double> gemm_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const GemmTable<float> gemm_float;
extern const GemmTable<double> gemm_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const GemmTable<float> gemm_float;
extern const GemmTable<double> gemm_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
