#pragma once

#include <cstdint>

#include "radir/core/config.h"

// Everything between the matrix products: layouts, pooling, activation. Private
// to the kernels.

namespace radir::kernels {
inline namespace RADIR_ISA {}

/// to(j, i) = from(i, j) for i < rows, j < columns. Row i of `from` begins at
/// from + (indices ? indices[i] : i) * from_row; rows of `to` are filled with
/// zeros from `rows` to `to_columns`.
template <typename T>
struct Transposition {
  const T* from = nullptr;
  std::int64_t from_row = 0;
  const std::int64_t* indices = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  T* to = nullptr;
  std::int64_t to_row = 0;
  std::int64_t to_columns = 0;
};

/// Max-pooling of one channel, pixels of `stride` numbers (a whole number of
/// vectors). The winner of a window is the first of its largest values, or its
/// last NaN, and its position within the window is kept as a number.
template <typename T>
struct PoolPlane {
  T* input = nullptr;  ///< values going forward, gradient going backward
  T* output = nullptr;
  T* winner = nullptr;
  std::int64_t stride = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t kernel_h = 0;
  std::int64_t kernel_w = 0;
  std::int64_t stride_h = 0;
  std::int64_t stride_w = 0;
  std::int64_t padding_h = 0;
  std::int64_t padding_w = 0;
};

/// sums[i] = sum of values[i * count .. (i + 1) * count), where part p is what
/// lies from part_ends[p - 1] to part_ends[p] of each `period` numbers; parts
/// are added along a binary tree.
template <typename T>
struct PartSums {
  const T* values = nullptr;
  std::int64_t rows = 0;
  std::int64_t count = 0;
  std::int64_t period = 0;
  const std::int64_t* part_ends = nullptr;
  std::int64_t parts = 1;
  T* sums = nullptr;
};

/// Counts are integer multiples of the widest vector.
template <typename T>
struct LanesTable {
  void (*transpose)(const Transposition<T>&);
  void (*pool_forward)(const PoolPlane<T>&);
  void (*pool_backward)(const PoolPlane<T>&);
  void (*relu)(const T* input, std::int64_t count, T* output);
  /// gradient = 0 where output is not positive.
  void (*relu_backward)(const T* output, std::int64_t count, T* gradient);
  void (*add)(const T* from, std::int64_t count, T* to);
  /// sums[i] = sum of values[i * count .. (i + 1) * count).
  void (*row_sums)(const T* values, std::int64_t rows, std::int64_t count,
                   T* sums);
  void (*row_sums_in_parts)(const PartSums<T>&);
};

namespace isa_generic {
extern const LanesTable<float> lanes_float;
extern const LanesTable<double> lanes_double;
}  // namespace isa_generic
namespace isa_avx2 {
extern const LanesTable<float> lanes_float;
extern const LanesTable<double> lanes_double;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const LanesTable<float> lanes_float;
extern const LanesTable<double> lanes_double;
}  // namespace isa_avx512

}  // namespace radir::kernels
