#include "kernels/lanes_isa.h"

#include "kernels/part_tree.h"
#include "kernels/simd.h"
#include "kernels/vector_block.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

// The block of `from` that begins at row i, column j. Its loops are unrolled,
// which keeps the block in registers.
template <typename T>
void transpose_block(const Transposition<T>& p, std::int64_t i,
                     std::int64_t j) {
  constexpr int lanes = kLanes<T>;
  const std::int64_t rows = p.rows - i;
  const std::int64_t columns = p.columns - j;
  const std::int64_t to_columns = p.to_columns - i;
  Vec<T> block[lanes];
#pragma GCC unroll 16
  for (int r = 0; r < lanes; ++r) {
    block[r] = Vec<T>{};
    if (r >= rows) continue;
    const std::int64_t row = p.indices ? p.indices[i + r] : i + r;
    const T* const from = p.from + row * p.from_row + j;
    block[r] = columns >= lanes ? load(from) : load_part(from, columns);
  }
  transpose<T>(block);
#pragma GCC unroll 16
  for (int c = 0; c < lanes; ++c) {
    if (c >= columns) continue;
    T* const to = p.to + (j + c) * p.to_row + i;
    if (to_columns >= lanes) {
      store(to, block[c]);
    } else {
      store_part(to, block[c], to_columns);
    }
  }
}

template <typename T>
void transpose_matrix(const Transposition<T>& p) {
  for (std::int64_t i = 0; i < p.to_columns; i += kLanes<T>) {
    for (std::int64_t j = 0; j < p.columns; j += kLanes<T>) {
      transpose_block(p, i, j);
    }
  }
}

// The part [begin, end) of a window of `kernel` positions from `origin` on that
// lies inside `size` pixels.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};
inline Range inside(std::int64_t origin, std::int64_t kernel,
                    std::int64_t size) {
  return {origin < 0 ? -origin : 0,
          origin + kernel > size ? size - origin : kernel};
}

// Calls body(first pixel of the window, output pixel, rows, columns) for every
// window.
template <typename T, typename Body>
inline void for_each_window(const PoolPlane<T>& p, const Body& body) {
  for (std::int64_t oy = 0; oy < p.out_height; ++oy) {
    const std::int64_t y = oy * p.stride_h - p.padding_h;
    const Range rows = inside(y, p.kernel_h, p.height);
    for (std::int64_t ox = 0; ox < p.out_width; ++ox) {
      const std::int64_t x = ox * p.stride_w - p.padding_w;
      body((y * p.width + x) * p.stride, (oy * p.out_width + ox) * p.stride,
           rows, inside(x, p.kernel_w, p.width));
    }
  }
}

template <typename T>
void pool_forward(const PoolPlane<T>& p) {
  for_each_window(
      p, [&](std::int64_t first, std::int64_t out, Range rows, Range columns) {
        for (std::int64_t n = 0; n < p.stride; n += kLanes<T>) {
          Vec<T> best = broadcast(-T(INFINITY));
          Vec<T> winner = broadcast(T(rows.begin * p.kernel_w + columns.begin));
          for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            for (std::int64_t c = columns.begin; c < columns.end; ++c) {
              const Vec<T> x =
                  load(p.input + first + (r * p.width + c) * p.stride + n);
              const Mask<T> better = (x > best) | (x != x);
              best = select(better, x, best);
              winner = select(better, broadcast(T(r * p.kernel_w + c)), winner);
            }
          }
          store(p.output + out + n, best);
          store(p.winner + out + n, winner);
        }
      });
}

template <typename T>
void pool_backward(const PoolPlane<T>& p) {
  std::memset(
      p.input, 0,
      static_cast<std::size_t>(p.height * p.width * p.stride) * sizeof(T));
  for_each_window(
      p, [&](std::int64_t first, std::int64_t out, Range rows, Range columns) {
        for (std::int64_t n = 0; n < p.stride; n += kLanes<T>) {
          const Vec<T> gradient = load(p.output + out + n);
          const Vec<T> winner = load(p.winner + out + n);
          for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            for (std::int64_t c = columns.begin; c < columns.end; ++c) {
              T* const x = p.input + first + (r * p.width + c) * p.stride + n;
              const Mask<T> won = winner == T(r * p.kernel_w + c);
              store(x, load(x) + select(won, gradient, Vec<T>{}));
            }
          }
        }
      });
}

template <typename T>
void relu(const T* input, std::int64_t count, T* output) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    const Vec<T> x = load(input + i);
    store(output + i, select(x < T(0), Vec<T>{}, x));
  }
}

template <typename T>
void relu_backward(const T* output, std::int64_t count, T* gradient) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    const Vec<T> g = load(gradient + i);
    store(gradient + i, select(load(output + i) > T(0), g, Vec<T>{}));
  }
}

template <typename T>
void add(const T* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; i += kLanes<T>) {
    store(to + i, load(to + i) + load(from + i));
  }
}

// Two sums in turn hide the latency of an addition.
template <typename T>
inline Vec<T> sum_vectors(const T* values, std::int64_t count) {
  constexpr std::int64_t lanes = kLanes<T>;
  Vec<T> even = {};
  Vec<T> odd = {};
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even += load(values + i);
    odd += load(values + i + lanes);
  }
  return i < count ? even + odd + load(values + i) : even + odd;
}

template <typename T>
void row_sums(const T* values, std::int64_t rows, std::int64_t count, T* sums) {
  constexpr std::int64_t lanes = kLanes<T>;
  for (std::int64_t i = 0; i < rows; i += lanes) {
    const std::int64_t left = rows - i < lanes ? rows - i : lanes;
    Vec<T> block[lanes] = {};
    for (std::int64_t k = 0; k < left; ++k) {
      block[k] = sum_vectors(values + (i + k) * count, count);
    }
    store_part(sums + i, sum_rows<T>(block), left);
  }
}

// Numbers that are added along a binary tree, one after the other.
template <typename T>
struct TreeSum {
  T left[kMostPartLevels + 1];
  std::int64_t count = 0;

  void add(T number) {
    const std::int64_t levels = ended_subtrees(count++);
    for (std::int64_t i = 0; i < levels; ++i) number += left[i];
    left[levels] = number;
  }
  T sum() const { return left[part_levels(count)]; }
};

// The vectors from `begin` to `end` of each period of a row. Four sums at once:
// an addition must wait for the one before it.
template <typename T>
inline Vec<T> sum_part(const PartSums<T>& p, const T* row, std::int64_t begin,
                       std::int64_t end) {
  constexpr std::int64_t lanes = kLanes<T>;
  Vec<T> sums[4] = {};
  std::int64_t at = 0;
  for (; at + 3 * p.period < p.count; at += 4 * p.period) {
    for (std::int64_t j = at + begin; j < at + end; j += lanes) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[i] += load(row + j + i * p.period);
    }
  }
  for (; at < p.count; at += p.period) {
    for (std::int64_t j = at + begin; j < at + end; j += lanes) {
      sums[0] += load(row + j);
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename T>
void row_sums_in_parts(const PartSums<T>& p) {
  constexpr std::int64_t lanes = kLanes<T>;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const T* const row = p.values + i * p.count;
    TreeSum<T> tree;
    for (std::int64_t first = 0; first < p.parts; first += lanes) {
      const std::int64_t left =
          p.parts - first < lanes ? p.parts - first : lanes;
      Vec<T> block[lanes] = {};
      for (std::int64_t k = 0; k < left; ++k) {
        const std::int64_t part = first + k;
        block[k] = sum_part(p, row, part == 0 ? 0 : p.part_ends[part - 1],
                            p.part_ends[part]);
      }
      T sums[lanes];
      store(sums, sum_rows<T>(block));
      for (std::int64_t k = 0; k < left; ++k) tree.add(sums[k]);
    }
    p.sums[i] = tree.sum();
  }
}

template <typename T>
constexpr LanesTable<T> kTable = {transpose_matrix<T>, pool_forward<T>,
                                  pool_backward<T>,    relu<T>,
                                  relu_backward<T>,    add<T>,
                                  row_sums<T>,         row_sums_in_parts<T>};

}  // namespace

extern const LanesTable<float> lanes_float = kTable<float>;
extern const LanesTable<double> lanes_double = kTable<double>;

}  // namespace RADIR_ISA
}  // namespace radir::kernels
