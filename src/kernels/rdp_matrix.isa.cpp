#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/rdp_isa.h"
#include "kernels/vector_block.h"
#include "kernels/vector_loop.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

/// Takes the rows in batches of kLanes: accumulate(row, i) for row i of a
/// batch, then finish(first row, rows) for the batch.
template <typename T, typename Accumulate, typename Finish>
[[gnu::always_inline]] inline void for_each_row_batch(
    std::int64_t rows, const Accumulate& accumulate, const Finish& finish) {
  for (std::int64_t first = 0; first < rows; first += kLanes<T>) {
    const std::int64_t count = lanes_used<T>(rows - first);
    for (std::int64_t i = 0; i < count; ++i) accumulate(first + i, i);
    finish(first, count);
  }
}

/// Sums of up to kLanes rows, each spread over the lanes of its own register.
template <typename T>
struct RowBatch {
  Vec<T> sum[kLanes<T>] = {};

  void store_totals(T* out, std::int64_t count) {
    store_part<T>(out, sum_rows<T>(sum), count);
  }
};

template <typename T>
void row_sums(std::int64_t rows, std::int64_t length, const T* a, const T* b,
              const PairSums<T>& sums) {
  RowBatch<T> aa, ab, bb;
  for_each_row_batch<T>(
      rows,
      [&](std::int64_t row, std::int64_t slot) {
        const T* row_a = a + row * length;
        const T* row_b = b + row * length;
        Vec<T> sum_aa = {}, sum_ab = {}, sum_bb = {};
        for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
          const Vec<T> va = lanes.load(row_a + j);
          const Vec<T> vb = lanes.load(row_b + j);
          sum_aa += va * va;
          sum_ab += va * vb;
          sum_bb += vb * vb;
        });
        aa.sum[slot] = sum_aa;
        ab.sum[slot] = sum_ab;
        bb.sum[slot] = sum_bb;
      },
      [&](std::int64_t first, std::int64_t count) {
        aa.store_totals(sums.aa + first, count);
        ab.store_totals(sums.ab + first, count);
        bb.store_totals(sums.bb + first, count);
      });
}

template <typename T>
void column_sums(std::int64_t rows, std::int64_t length, const T* a, const T* b,
                 const PairSums<T>& sums) {
  for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
    Vec<T> aa = load(sums.aa + j), ab = load(sums.ab + j),
           bb = load(sums.bb + j);
    for (std::int64_t row = 0; row < rows; ++row) {
      const Vec<T> va = lanes.load(a + row * length + j);
      const Vec<T> vb = lanes.load(b + row * length + j);
      aa += va * va;
      ab += va * vb;
      bb += vb * vb;
    }
    store(sums.aa + j, aa);
    store(sums.ab + j, ab);
    store(sums.bb + j, bb);
  });
}

template <typename T>
void row_residuals(std::int64_t rows, std::int64_t length, const T* a,
                   const T* b, const T* ratio, T* out) {
  RowBatch<T> batch;
  for_each_row_batch<T>(
      rows,
      [&](std::int64_t row, std::int64_t slot) {
        const T* row_a = a + row * length;
        const T* row_b = b + row * length;
        Vec<T> sum = {};
        for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
          const Vec<T> rest =
              lanes.load(row_b + j) - ratio[row] * lanes.load(row_a + j);
          sum += rest * rest;
        });
        batch.sum[slot] = sum;
      },
      [&](std::int64_t first, std::int64_t count) {
        batch.store_totals(out + first, count);
      });
}

template <typename T>
void column_residuals(std::int64_t rows, std::int64_t length, const T* a,
                      const T* b, const T* ratio, T* out) {
  for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
    const Vec<T> factor = load(ratio + j);
    Vec<T> sum = load(out + j);
    for (std::int64_t row = 0; row < rows; ++row) {
      const Vec<T> rest = lanes.load(b + row * length + j) -
                          factor * lanes.load(a + row * length + j);
      sum += rest * rest;
    }
    store(out + j, sum);
  });
}

/// Calls body(has_row, has_column), both known when compiling, by which of the
/// two sides there are.
template <typename T, typename Body>
void for_sides(const T* row, const T* column, const Body& body) {
  if (row == nullptr) {
    body(std::false_type(), std::true_type());
  } else if (column == nullptr) {
    body(std::true_type(), std::false_type());
  } else {
    body(std::true_type(), std::true_type());
  }
}

template <bool kRow, bool kColumn, typename T>
void combine_sides(std::int64_t rows, std::int64_t length,
                   const SidePart<T>& row, const SidePart<T>& column,
                   T* weight) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t start = i * length;
    for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
      const std::int64_t at = start + j;
      Vec<T> product;
      if constexpr (kRow) {
        product = row.noise_scale[i] * lanes.load(row.noise + at) +
                  row.direction_scale[i] * lanes.load(row.direction + at);
        lanes.store(row.noise + at, product);
      }
      if constexpr (kColumn) {
        const Vec<T> part =
            load(column.noise_scale + j) * lanes.load(column.noise + at) +
            load(column.direction_scale + j) *
                lanes.load(column.direction + at);
        lanes.store(column.noise + at, part);
        if constexpr (kRow) {
          lanes.store(weight + at, product * part);
        }
      }
    });
  }
}

template <typename T>
void combine(std::int64_t rows, std::int64_t length, const SidePart<T>& row,
             const SidePart<T>& column, T* weight) {
  for_sides(row.noise, column.noise, [&](auto has_row, auto has_column) {
    combine_sides<has_row, has_column>(rows, length, row, column, weight);
  });
}

template <bool kRow, bool kColumn, typename T>
void backward_sums_sides(std::int64_t rows, std::int64_t length,
                         const T* weight_gradient, const SideSums<T>& row,
                         const SideSums<T>& column) {
  RowBatch<T> radial, axial;
  for_each_row_batch<T>(
      rows,
      [&](std::int64_t i, std::int64_t slot) {
        const std::int64_t start = i * length;
        Vec<T> sum_radial = {}, sum_axial = {};
        for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
          const std::int64_t at = start + j;
          Vec<T> to_row = lanes.load(weight_gradient + at);
          Vec<T> to_column = to_row;
          Vec<T> power;
          if constexpr (kColumn) {
            const Vec<T> part = lanes.load(column.part + at);
            to_row *= part;
            power = to_column * part;
          }
          if constexpr (kRow) {
            const Vec<T> part = lanes.load(row.part + at);
            to_column *= part;
            power = to_row * part;
            sum_radial += power;
            sum_axial += lanes.load(row.direction + at) * to_row;
          }
          if constexpr (kColumn) {
            store(column.radial + j, load(column.radial + j) + power);
            store(column.axial + j,
                  load(column.axial + j) +
                      lanes.load(column.direction + at) * to_column);
          }
        });
        radial.sum[slot] = sum_radial;
        axial.sum[slot] = sum_axial;
      },
      [&](std::int64_t first, std::int64_t count) {
        if constexpr (kRow) {
          radial.store_totals(row.radial + first, count);
          axial.store_totals(row.axial + first, count);
        }
      });
}

template <typename T>
void backward_sums(std::int64_t rows, std::int64_t length,
                   const T* weight_gradient, const SideSums<T>& row,
                   const SideSums<T>& column) {
  for_sides(row.part, column.part, [&](auto has_row, auto has_column) {
    backward_sums_sides<has_row, has_column>(rows, length, weight_gradient, row,
                                             column);
  });
}

template <bool kRow, bool kColumn, typename T>
void backward_directions_sides(std::int64_t rows, std::int64_t length,
                               const T* weight_gradient, const SideStep<T>& row,
                               const SideStep<T>& column) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t start = i * length;
    for_each_vector<T>(0, length, [&](std::int64_t j, auto lanes) {
      const std::int64_t at = start + j;
      Vec<T> to_row = lanes.load(weight_gradient + at);
      Vec<T> to_column = to_row;
      Vec<T> row_part, column_part;
      if constexpr (kRow) {
        row_part = lanes.load(row.part + at);
        to_column *= row_part;
      }
      if constexpr (kColumn) {
        column_part = lanes.load(column.part + at);
        to_row *= column_part;
        T* gradient = column.gradient + at;
        lanes.store(gradient, lanes.load(gradient) +
                                  load(column.loss_scale + j) * to_column +
                                  load(column.part_scale + j) * column_part);
      }
      if constexpr (kRow) {
        T* gradient = row.gradient + at;
        lanes.store(gradient, lanes.load(gradient) +
                                  row.loss_scale[i] * to_row +
                                  row.part_scale[i] * row_part);
      }
    });
  }
}

template <typename T>
void backward_directions(std::int64_t rows, std::int64_t length,
                         const T* weight_gradient, const SideStep<T>& row,
                         const SideStep<T>& column) {
  for_sides(row.part, column.part, [&](auto has_row, auto has_column) {
    backward_directions_sides<has_row, has_column>(
        rows, length, weight_gradient, row, column);
  });
}

template <typename T>
constexpr RdpMatrixTable<T> kTable = {
    row_sums<T>, column_sums<T>,   row_residuals<T>,      column_residuals<T>,
    combine<T>,  backward_sums<T>, backward_directions<T>};

}  // namespace

extern const RdpMatrixTable<float> rdp_matrix_float = kTable<float>;
extern const RdpMatrixTable<double> rdp_matrix_double = kTable<double>;

}  // namespace RADIR_ISA
}  // namespace radir::kernels
