#include "kernels/gemm_isa.h"

#include "kernels/simd.h"
#include "kernels/vector_block.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

// Vectors of accumulators a tile keeps in registers: rows x vectors, leaving
// room for the operands (32 registers with AVX-512, else 16).
constexpr int kTileRows = 6;
constexpr int kTileVectors = kVectorBytes == 64 ? 4 : 2;
constexpr int kDotColumns = kVectorBytes == 64 ? 5 : 2;

// Depth of a block of b that stays in the first-level cache (32 KiB and more)
// while all rows of a pass over it.
constexpr std::int64_t kDepthBlock = 24 * 1024 / (kTileVectors * kVectorBytes);

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t largest) {
  return (count + largest - 1) / largest;
}

// The size of blocks that cover `count` with as few as blocks of size `largest`
// would, but evenly.
constexpr std::int64_t even_block(std::int64_t count, std::int64_t largest) {
  return blocks_of(count, blocks_of(count, largest));
}

constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

struct Strided {
  std::int64_t row;
  std::int64_t operator()(std::int64_t k) const { return k * row; }
};

struct Listed {
  const std::int64_t* offsets;
  std::int64_t operator()(std::int64_t k) const { return offsets[k]; }
};

// The part of a product one tile computes: `last` lanes of its last vector
// exist, and its sums cover depths [begin, end).
struct Tile {
  std::int64_t row;
  std::int64_t column;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t last;
};

template <typename T, int Vectors>
inline void store_row(T* c, const Vec<T>* v, std::int64_t last) {
  constexpr int lanes = kLanes<T>;
#pragma GCC unroll 4
  for (int j = 0; j + 1 < Vectors; ++j) store(c + j * lanes, v[j]);
  T* const end = c + (Vectors - 1) * lanes;
  if (last == lanes) {
    store(end, v[Vectors - 1]);
  } else {
    store_part(end, v[Vectors - 1], last);
  }
}

template <typename T, int Vectors>
inline void load_row(const T* c, Vec<T>* v, std::int64_t last) {
  constexpr int lanes = kLanes<T>;
#pragma GCC unroll 4
  for (int j = 0; j + 1 < Vectors; ++j) v[j] = load(c + j * lanes);
  const T* const end = c + (Vectors - 1) * lanes;
  v[Vectors - 1] = last == lanes ? load(end) : load_part(end, last);
}

template <typename T, int Rows, int Vectors, typename Offset>
void multiply_tile(const MatrixProduct<T>& p, const Offset& offset,
                   const Tile& tile) {
  constexpr int lanes = kLanes<T>;
  T* const c = p.c + tile.row * p.c_row + tile.column;
  Vec<T> sum[Rows][Vectors];
#pragma GCC unroll 6
  for (int i = 0; i < Rows; ++i) {
    if (tile.begin == 0) {
      const Vec<T> start = broadcast(p.bias ? p.bias[tile.row + i] : T(0));
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) sum[i][j] = start;
    } else {
      load_row<T, Vectors>(c + i * p.c_row, sum[i], tile.last);
    }
  }
  const T* a = p.a + tile.row * p.a_row + tile.begin * p.a_depth;
  const T* const b = p.b + tile.column;
  for (std::int64_t k = tile.begin; k < tile.end; ++k, a += p.a_depth) {
    const T* const row = b + offset(k);
    Vec<T> x[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) x[j] = load(row + j * lanes);
#pragma GCC unroll 6
    for (int i = 0; i < Rows; ++i) {
      const Vec<T> factor = broadcast(a[i * p.a_row]);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        sum[i][j] = multiply_add(factor, x[j], sum[i][j]);
      }
    }
  }
  const bool clip = p.relu && tile.end == p.depth;
  const T* const gate = tile.end == p.depth ? p.gate : nullptr;
#pragma GCC unroll 6
  for (int i = 0; i < Rows; ++i) {
    if (clip) {
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        sum[i][j] = select(sum[i][j] < T(0), Vec<T>{}, sum[i][j]);
      }
    }
    if (gate != nullptr) {
      Vec<T> open[Vectors];
      load_row<T, Vectors>(gate + (c - p.c) + i * p.c_row, open, tile.last);
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) {
        sum[i][j] = select(open[j] > T(0), sum[i][j], Vec<T>{});
      }
    }
    store_row<T, Vectors>(c + i * p.c_row, sum[i], tile.last);
  }
}

template <typename T, typename Offset>
using TileFunction = void (*)(const MatrixProduct<T>&, const Offset&,
                              const Tile&);

template <typename T, int Vectors, typename Offset>
TileFunction<T, Offset> tile_with_rows(std::int64_t rows) {
  constexpr TileFunction<T, Offset> functions[kTileRows] = {
      multiply_tile<T, 1, Vectors, Offset>,
      multiply_tile<T, 2, Vectors, Offset>,
      multiply_tile<T, 3, Vectors, Offset>,
      multiply_tile<T, 4, Vectors, Offset>,
      multiply_tile<T, 5, Vectors, Offset>,
      multiply_tile<T, 6, Vectors, Offset>};
  return functions[rows - 1];
}

template <typename T, typename Offset>
TileFunction<T, Offset> tile_of(std::int64_t rows, std::int64_t vectors) {
  if constexpr (kTileVectors == 4) {
    if (vectors == 4) return tile_with_rows<T, 4, Offset>(rows);
    if (vectors == 3) return tile_with_rows<T, 3, Offset>(rows);
  }
  if (vectors == 2) return tile_with_rows<T, 2, Offset>(rows);
  return tile_with_rows<T, 1, Offset>(rows);
}

template <typename T, typename Offset>
void multiply_with(const MatrixProduct<T>& p, const Offset& offset) {
  constexpr std::int64_t lanes = kLanes<T>;
  const std::int64_t vectors = blocks_of(p.columns, lanes);
  const std::int64_t column_block = even_block(vectors, kTileVectors);
  const std::int64_t row_block = even_block(p.rows, kTileRows);
  const std::int64_t depth_block = even_block(p.depth, kDepthBlock);
  Tile tile;
  for (tile.begin = 0; tile.begin < p.depth; tile.begin = tile.end) {
    tile.end = smaller(tile.begin + depth_block, p.depth);
    for (std::int64_t j = 0; j < vectors; j += column_block) {
      const std::int64_t width = smaller(column_block, vectors - j);
      tile.column = j * lanes;
      tile.last = smaller(lanes, p.columns - (j + width - 1) * lanes);
      for (tile.row = 0; tile.row < p.rows; tile.row += row_block) {
        const std::int64_t rows = smaller(row_block, p.rows - tile.row);
        tile_of<T, Offset>(rows, width)(p, offset, tile);
      }
    }
  }
}

template <typename T>
void multiply(const MatrixProduct<T>& p) {
  if (p.b_offsets != nullptr) {
    multiply_with(p, Listed{p.b_offsets});
  } else {
    multiply_with(p, Strided{p.b_row});
  }
}

// Adds the products of one run to the vectors of a Rows x Columns tile of
// accumulators.
template <typename T, int Rows, int Columns>
void dot_tile(const T* a, std::int64_t a_row, const T* b,
              const std::int64_t* b_offsets, std::int64_t length,
              T* accumulators, std::int64_t accumulator_row) {
  constexpr int lanes = kLanes<T>;
  Vec<T> sum[Rows][Columns];
  const T* x[Columns];
#pragma GCC unroll 5
  for (int k = 0; k < Columns; ++k) x[k] = b + b_offsets[k];
#pragma GCC unroll 5
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 5
    for (int k = 0; k < Columns; ++k) {
      sum[i][k] = load(accumulators + i * accumulator_row + k * lanes);
    }
  }
  for (std::int64_t j = 0; j < length; j += lanes) {
    Vec<T> y[Rows];
#pragma GCC unroll 5
    for (int i = 0; i < Rows; ++i) y[i] = load(a + i * a_row + j);
#pragma GCC unroll 5
    for (int k = 0; k < Columns; ++k) {
      const Vec<T> factor = load(x[k] + j);
#pragma GCC unroll 5
      for (int i = 0; i < Rows; ++i) {
        sum[i][k] = multiply_add(y[i], factor, sum[i][k]);
      }
    }
  }
#pragma GCC unroll 5
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 5
    for (int k = 0; k < Columns; ++k) {
      store(accumulators + i * accumulator_row + k * lanes, sum[i][k]);
    }
  }
}

template <typename T>
using DotFunction = void (*)(const T*, std::int64_t, const T*,
                             const std::int64_t*, std::int64_t, T*,
                             std::int64_t);

template <typename T, int Columns>
DotFunction<T> dot_with_rows(std::int64_t rows) {
  constexpr DotFunction<T> functions[kDotRows] = {
      dot_tile<T, 1, Columns>, dot_tile<T, 2, Columns>, dot_tile<T, 3, Columns>,
      dot_tile<T, 4, Columns>, dot_tile<T, 5, Columns>};
  return functions[rows - 1];
}

template <typename T>
DotFunction<T> dot_of(std::int64_t rows, std::int64_t columns) {
  if constexpr (kDotColumns == 5) {
    if (columns == 5) return dot_with_rows<T, 5>(rows);
    if (columns == 4) return dot_with_rows<T, 4>(rows);
    if (columns == 3) return dot_with_rows<T, 3>(rows);
  }
  if (columns == 2) return dot_with_rows<T, 2>(rows);
  return dot_with_rows<T, 1>(rows);
}

// Sums of the lanes of `count` accumulators that lie one after the other.
template <typename T>
void reduce_accumulators(const T* accumulators, std::int64_t count, T* sums) {
  constexpr std::int64_t lanes = kLanes<T>;
  for (std::int64_t k = 0; k < count; k += lanes) {
    Vec<T> block[lanes];
    for (std::int64_t i = 0; i < lanes; ++i) {
      block[i] = load(accumulators + (k + i) * lanes);
    }
    const Vec<T> sum = sum_rows<T>(block);
    if (count - k >= lanes) {
      store(sums + k, sum);
    } else {
      store_part(sums + k, sum, count - k);
    }
  }
}

template <typename T>
void row_dots(const RowDots<T>& p) {
  constexpr std::int64_t lanes = kLanes<T>;
  const std::int64_t row_block = even_block(p.rows, kDotRows);
  const std::int64_t column_block = even_block(p.columns, kDotColumns);
  const std::int64_t accumulator_row =
      blocks_of(p.columns, lanes) * lanes * lanes;
  for (std::int64_t row = 0; row < p.rows; row += row_block) {
    const std::int64_t rows = smaller(row_block, p.rows - row);
    std::memset(p.scratch, 0,
                static_cast<std::size_t>(rows * accumulator_row) * sizeof(T));
    for (std::int64_t r = 0; r < p.runs; ++r) {
      const T* const a = p.a + row * p.a_row + r * p.length;
      const T* const b = p.b + (p.run_offsets ? p.run_offsets[r] : 0);
      for (std::int64_t k = 0; k < p.columns; k += column_block) {
        dot_of<T>(rows, smaller(column_block, p.columns - k))(
            a, p.a_row, b, p.b_offsets + k, p.length, p.scratch + k * lanes,
            accumulator_row);
      }
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      reduce_accumulators(p.scratch + i * accumulator_row, p.columns,
                          p.c + (row + i) * p.c_row);
    }
  }
}

}  // namespace

extern const GemmTable<float> gemm_float = {multiply<float>, row_dots<float>};
extern const GemmTable<double> gemm_double = {multiply<double>,
                                              row_dots<double>};
}  // namespace RADIR_ISA
}  // namespace radir::kernels
