#include "kernels/gemm_isa.h"

#include <type_traits>

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

// Adds the products of the depths [begin, end) to the sums of a tile.
template <typename T, int Rows, int Vectors, typename Offset>
[[gnu::always_inline]] inline void add_depths(
    const MatrixProduct<T>& p, const Offset& offset, const Tile& tile,
    std::int64_t begin, std::int64_t end, Vec<T> (&sum)[Rows][Vectors]) {
  constexpr int lanes = kLanes<T>;
  const T* a = p.a + tile.row * p.a_row + begin * p.a_depth;
  const T* const b = p.b + tile.column;
  for (std::int64_t k = begin; k < end; ++k, a += p.a_depth) {
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
}

template <typename T, int Rows, int Vectors, typename Offset>
void multiply_tile(const MatrixProduct<T>& p, const Offset& offset,
                   const Tile& tile) {
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
  add_depths<T>(p, offset, tile, tile.begin, tile.end, sum);
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

// The offsets of a product whose depth has several parts.
struct InParts : Strided {};

template <typename T, int Rows, int Vectors>
void multiply_tile_in_parts(const MatrixProduct<T>& p, const InParts& offset,
                            const Tile& tile) {
  Vec<T> left[kMostPartLevels][Rows][Vectors];
  std::int64_t begin = 0;
  for (std::int64_t part = 0; part < p.parts; ++part) {
    Vec<T> sum[Rows][Vectors] = {};
    add_depths<T>(p, offset, tile, begin, p.part_ends[part], sum);
    begin = p.part_ends[part];
    const std::int64_t levels = ended_subtrees(part);
    for (std::int64_t level = 0; level < levels; ++level) {
#pragma GCC unroll 6
      for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < Vectors; ++j) sum[i][j] += left[level][i][j];
      }
    }
    const bool last = part + 1 == p.parts;
#pragma GCC unroll 6
    for (int i = 0; i < Rows; ++i) {
      if (last) {
        store_row<T, Vectors>(p.c + (tile.row + i) * p.c_row + tile.column,
                              sum[i], tile.last);
        continue;
      }
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; ++j) left[levels][i][j] = sum[i][j];
    }
  }
}

template <typename T, int Rows, int Vectors, typename Offset>
constexpr auto tile_function() {
  if constexpr (std::is_same_v<Offset, InParts>) {
    return multiply_tile_in_parts<T, Rows, Vectors>;
  } else {
    return multiply_tile<T, Rows, Vectors, Offset>;
  }
}

template <typename T, typename Offset>
using TileFunction = void (*)(const MatrixProduct<T>&, const Offset&,
                              const Tile&);

template <typename T, int Vectors, typename Offset>
TileFunction<T, Offset> tile_with_rows(std::int64_t rows) {
  constexpr TileFunction<T, Offset> functions[kTileRows] = {
      tile_function<T, 1, Vectors, Offset>(),
      tile_function<T, 2, Vectors, Offset>(),
      tile_function<T, 3, Vectors, Offset>(),
      tile_function<T, 4, Vectors, Offset>(),
      tile_function<T, 5, Vectors, Offset>(),
      tile_function<T, 6, Vectors, Offset>()};
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
  const std::int64_t depth_block =
      p.parts > 1 ? p.depth : even_block(p.depth, kDepthBlock);
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
  if (p.parts > 1) {
    multiply_with(p, InParts{{p.b_row}});
  } else if (p.b_offsets != nullptr) {
    multiply_with(p, Listed{p.b_offsets});
  } else {
    multiply_with(p, Strided{p.b_row});
  }
}

// The numbers of a run from `begin` to `end` of each `period`.
struct Stretch {
  std::int64_t length;
  std::int64_t period;
  std::int64_t begin;
  std::int64_t end;
  bool is_first;  // of the stretches that are added up
};

// Adds the products of one run to the vectors of a Rows x Columns tile of
// accumulators, which begin as zeros.
template <typename T, int Rows, int Columns>
void dot_tile(const T* a, std::int64_t a_row, const T* b,
              const std::int64_t* b_offsets, const Stretch& run,
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
      sum[i][k] = run.is_first
                      ? Vec<T>{}
                      : load(accumulators + i * accumulator_row + k * lanes);
    }
  }
  for (std::int64_t at = 0; at < run.length; at += run.period) {
    for (std::int64_t j = at + run.begin; j < at + run.end; j += lanes) {
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
                             const std::int64_t*, const Stretch&, T*,
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
Stretch stretch_of(const RowDots<T>& p, std::int64_t part, bool is_first) {
  if (p.parts == 1) return {p.length, p.length, 0, p.length, is_first};
  return {p.length, p.period, part == 0 ? 0 : p.part_ends[part - 1],
          p.part_ends[part], is_first};
}

// The accumulators of parts [first, first + count) of `rows` rows from `row`
// on; run by run, so that the parts find in the cache what the first read.
template <typename T>
void accumulate(const RowDots<T>& p, std::int64_t row, std::int64_t rows,
                std::int64_t first, std::int64_t count) {
  constexpr std::int64_t lanes = kLanes<T>;
  const std::int64_t column_block = even_block(p.columns, kDotColumns);
  for (std::int64_t r = 0; r < p.runs; ++r) {
    const T* const a = p.a + row * p.a_row + r * p.length;
    const T* const b = p.b + (p.run_offsets ? p.run_offsets[r] : 0);
    for (std::int64_t k = 0; k < p.columns; k += column_block) {
      const DotFunction<T> dot =
          dot_of<T>(rows, smaller(column_block, p.columns - k));
      for (std::int64_t i = 0; i < count; ++i) {
        dot(a, p.a_row, b, p.b_offsets + k, stretch_of(p, first + i, r == 0),
            p.scratch + i * kDotRows * dot_accumulators(p.columns) + k * lanes,
            dot_accumulators(p.columns));
      }
    }
  }
}

// Sums the lanes of each part into the place of the subtree that it ends, to
// which those to its left are added.
template <typename T>
void reduce_part(const RowDots<T>& p, std::int64_t row, std::int64_t rows,
                 std::int64_t part, const T* accumulators) {
  T* const left = p.scratch + smaller(p.parts, kDotParts) * kDotRows *
                                  dot_accumulators(p.columns);
  const std::int64_t levels = ended_subtrees(part);
  const bool last = part + 1 == p.parts;
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto sums_of = [&](std::int64_t level) {
      return left + (level * kDotRows + i) * p.columns;
    };
    T* const c = last ? p.c + (row + i) * p.c_row : sums_of(levels);
    reduce_accumulators(accumulators + i * dot_accumulators(p.columns),
                        p.columns, c);
    for (std::int64_t level = 0; level < levels; ++level) {
      const T* const from = sums_of(level);
      for (std::int64_t k = 0; k < p.columns; ++k) c[k] += from[k];
    }
  }
}

template <typename T>
void row_dots(const RowDots<T>& p) {
  const std::int64_t row_block = even_block(p.rows, kDotRows);
  for (std::int64_t row = 0; row < p.rows; row += row_block) {
    const std::int64_t rows = smaller(row_block, p.rows - row);
    for (std::int64_t first = 0; first < p.parts; first += kDotParts) {
      const std::int64_t count = smaller(kDotParts, p.parts - first);
      accumulate(p, row, rows, first, count);
      for (std::int64_t i = 0; i < count; ++i) {
        reduce_part(p, row, rows, first + i,
                    p.scratch + i * kDotRows * dot_accumulators(p.columns));
      }
    }
  }
}

}  // namespace

extern const GemmTable<float> gemm_float = {multiply<float>, row_dots<float>};
extern const GemmTable<double> gemm_double = {multiply<double>,
                                              row_dots<double>};
}  // namespace RADIR_ISA
}  // namespace radir::kernels
