#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/aligned_buffer.h"
#include "kernels/rdp_isa.h"
#include "radir/core/error.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"

// The memory of RdpKernel and how its work is cut. Private to rdp*.cpp.

namespace radir::kernels {

/// Elements of a weight that one task handles: enough to outweigh the cost of a
/// task, few enough to stay in the second-level cache.
constexpr std::int64_t kBlockElements = 1 << 15;

/// Groups (rows or columns) that one task handles.
constexpr std::int64_t kChunkGroups = 512;

/// Below this length the noise orthogonal to a direction is summed directly.
/// From it on, |noise|^2 less the square of its part along the direction loses
/// three digits with a probability of 1e-10.
constexpr std::int64_t kResidualLength = 8;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Consecutive rows of one channel group, as one call of a kernel handles them.
struct RowSpan {
  std::int64_t row;       // the first one
  std::int64_t rows;      // how many
  std::int64_t element;   // the first one's, in the weight
  std::int64_t position;  // the first one of the group's columns
  std::int64_t slot;      // which part of its group this is
};

/// How a weight is cut into blocks of rows: complete channel groups, or parts
/// of one. Depends on the shape alone.
class BlockPlan {
 public:
  /// `group_rows` rows share their columns, which have `positions` positions.
  BlockPlan(std::int64_t rows, std::int64_t group_rows, std::int64_t row_length,
            std::int64_t positions)
      : rows_(rows),
        group_rows_(group_rows),
        row_length_(row_length),
        positions_(positions) {
    const std::int64_t fitting = kBlockElements / row_length;
    step_ = std::clamp<std::int64_t>(fitting, 1, rows);
    slots_ = ceil_div(group_rows, step_);
    if (slots_ == 1) step_ -= step_ % group_rows;
  }

  std::int64_t size() const {
    return slots_ > 1 ? rows_ / group_rows_ * slots_ : ceil_div(rows_, step_);
  }

  /// Blocks per channel group; 1 when blocks hold complete groups.
  std::int64_t slots() const { return slots_; }

  /// Calls body(span) for each channel group of block i.
  template <typename Body>
  void for_each_span(std::int64_t i, const Body& body) const {
    const std::int64_t slot = i % slots_;
    const std::int64_t start =
        slots_ > 1 ? i / slots_ * group_rows_ + slot * step_ : i * step_;
    const std::int64_t limit = std::min(rows_, start + step_);
    for (std::int64_t row = start; row < limit;) {
      const std::int64_t group = row / group_rows_;
      const std::int64_t end = std::min(limit, (group + 1) * group_rows_);
      body(
          RowSpan{row, end - row, row * row_length_, group * positions_, slot});
      if (slots_ > 1) return;
      row = end;
    }
  }

 private:
  std::int64_t rows_;
  std::int64_t group_rows_;
  std::int64_t row_length_;
  std::int64_t positions_;
  std::int64_t step_;
  std::int64_t slots_;
};

/// Arrays of one size, aligned to cache lines, carved from one allocation.
template <typename T>
class ArrayPool {
 public:
  ArrayPool(std::int64_t arrays, std::int64_t size)
      : stride_(round_up(size, kWidestLanes<T>)), memory_(arrays * stride_) {}

  T* next() { return memory_.data() + stride_ * used_++; }

 private:
  std::int64_t stride_;
  std::int64_t used_ = 0;
  AlignedBuffer<T> memory_;
};

/// One side's memory and constants.
template <typename T>
struct SideState {
  SideState(const char* side_name, const RdpSideLayout& side_layout,
            std::int64_t group_count, std::int64_t group_length)
      : name(side_name),
        layout(side_layout),
        count(group_count),
        pending(static_cast<std::size_t>(group_count)),
        arrays(kArrays, group_count) {
    groups.length = static_cast<double>(group_length);
    groups.residual_known = group_length < kResidualLength;
    groups.pending = pending.data();
    for (T** array : {&concentration,
                      &sums.aa,
                      &sums.ab,
                      &sums.bb,
                      &axial,
                      &x0_excess,
                      &ratio,
                      &prior_sums.aa,
                      &prior_sums.ab,
                      &prior_sums.bb,
                      &groups.residual2,
                      &groups.t,
                      &groups.t_complement,
                      &groups.w,
                      &groups.w_offset,
                      &groups.sine,
                      &groups.radius,
                      &groups.slope_a,
                      &groups.slope_b,
                      &groups.noise_scale,
                      &groups.direction_scale,
                      &groups.radial,
                      &groups.log_concentration_gradient,
                      &groups.loss_scale,
                      &groups.part_scale}) {
      *array = arrays.next();
    }
    groups.concentration = concentration;
    groups.norm2 = sums.aa;
    groups.dot = sums.ab;
    groups.noise2 = sums.bb;
    groups.axial = axial;
    groups.x0_excess = x0_excess;
  }

  static constexpr std::int64_t kArrays = 25;

  const char* name;  // "row" or "column", for messages
  RdpSideLayout layout;
  std::int64_t count;  // of groups
  SideGroups<T> groups = {};
  SlopeRule slope_rule = SlopeRule::Approximate;
  const T* global_noise = nullptr;
  double global_slope_a = 0;  // d log(global radius) / d log_var_a
  double global_slope_b = 0;

  // Arrays that the kernels read through `groups`.
  T* concentration;
  PairSums<T> sums;  // direction and noise
  T* axial;
  T* x0_excess;

  T* ratio;                // direction . noise / |direction|^2
  PairSums<T> prior_sums;  // direction and the prior's
  std::vector<std::int32_t> pending;
  ArrayPool<T> arrays;
};

/// What columns need besides: numbers per position, and sums per block. The
/// positions of a channel group fill full registers.
template <typename T>
class ColumnState {
 public:
  static constexpr int kQuantities = 3;

  /// Positions per channel group.
  static std::int64_t group_positions(const network::WeightShape& shape) {
    return round_up(shape.row_length(), kWidestLanes<T>);
  }

  ColumnState(const network::WeightShape& shape, std::int64_t slots)
      : shape_(shape),
        positions_(group_positions(shape)),
        slots_(slots),
        arrays_(kQuantities * (slots + 1), positions_ * shape.groups) {
    for (T*& array : expanded_) array = arrays_.next();
    for (std::int64_t i = 0; i < kQuantities * slots; ++i) {
      sums_.push_back(arrays_.next());
    }
  }

  /// Sums over the rows of a span, to be added to; zero at first.
  T* new_sum(int quantity, const RowSpan& span) const {
    T* out = sum(quantity, span.slot) + span.position;
    std::fill_n(out, positions_, T(0));
    return out;
  }

  /// out[column] = sum over blocks and kernel positions.
  void fold(int quantity, T* out) const {
    T* total = sum(quantity, 0);
    for (std::int64_t slot = 1; slot < slots_; ++slot) {
      const T* more = sum(quantity, slot);
      for (std::int64_t i = 0; i < positions_ * shape_.groups; ++i) {
        total[i] += more[i];
      }
    }
    for_each_column([&](std::int64_t column, std::int64_t position) {
      T folded = 0;
      for (std::int64_t k = 0; k < shape_.kernel; ++k) {
        folded += total[position + k];
      }
      out[column] = folded;
    });
  }

  void fold(const PairSums<T>& out) const {
    fold(0, out.aa);
    fold(1, out.ab);
    fold(2, out.bb);
  }

  /// Repeats a number per column at each kernel position; the result stays
  /// until `array` is expanded again.
  const T* expand(int array, const T* of_column) const {
    T* out = expanded_[array];
    for_each_column([&](std::int64_t column, std::int64_t position) {
      std::fill_n(out + position, shape_.kernel, of_column[column]);
    });
    return out;
  }

 private:
  T* sum(int quantity, std::int64_t slot) const {
    return sums_[static_cast<std::size_t>(quantity * slots_ + slot)];
  }

  /// body(column, its first position).
  template <typename Body>
  void for_each_column(const Body& body) const {
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
      for (std::int64_t i = 0; i < shape_.in; ++i) {
        body(group * shape_.in + i, group * positions_ + i * shape_.kernel);
      }
    }
  }

  network::WeightShape shape_;
  std::int64_t positions_;
  std::int64_t slots_;
  ArrayPool<T> arrays_;
  T* expanded_[kQuantities];
  std::vector<T*> sums_;
};

/// The kernels of one instruction set.
template <typename T>
struct RdpTables {
  const RdpMatrixTable<T>& matrix;
  const RdpGroupTable<T>& groups;
};

/// All the memory of an RdpKernel.
template <typename T>
struct RdpState {
  RdpState(const RdpLayout& rdp_layout, const RdpTables<T>& rdp_tables)
      : layout(rdp_layout),
        tables(rdp_tables),
        row_length(layout.shape.row_length()),
        blocks(layout.shape.rows(),
               layout.column ? layout.shape.out : layout.shape.rows(),
               row_length, ColumnState<T>::group_positions(layout.shape)) {
    const network::WeightShape& shape = layout.shape;
    const std::int64_t rows = layout.row ? shape.rows() : 0;
    const std::int64_t columns = layout.column ? shape.columns() : 0;
    radius_noise.resize(static_cast<std::size_t>(rows + columns + 2));
    exponential.resize(static_cast<std::size_t>(rows + columns));
    if (layout.row) {
      row.emplace("row", *layout.row, rows, shape.row_length());
      give_noise(*row, 0, rows + columns);
    }
    if (layout.column) {
      column.emplace("column", *layout.column, columns, shape.column_length());
      give_noise(*column, rows, rows + columns + 1);
      at_columns.emplace(shape, blocks.slots());
    }
    if (row && column) {
      row_part = AlignedBuffer<T>(shape.size());
      column_part = AlignedBuffer<T>(shape.size());
    }
  }

  /// body(side, its arrays) for the sides present.
  template <typename P, typename Body>
  void for_each_side(const RdpSides<P>& arrays, const Body& body) {
    if (row) body(*row, arrays.row);
    if (column) body(*column, arrays.column);
  }

  /// The pool, unless the weight is too small to share.
  ThreadPool* pool_if_large(ThreadPool* pool) const {
    return blocks.size() > 1 ? pool : nullptr;
  }

  /// Runs body(span) over all rows of the weight.
  template <typename Body>
  void for_each_span(ThreadPool* pool, const Body& body) const {
    run_tasks(pool, blocks.size(),
              [&](std::int64_t i) { blocks.for_each_span(i, body); });
  }

  /// Runs body(side, its arrays, begin, end) over the groups of both sides.
  template <typename P, typename Body>
  void for_each_chunk(ThreadPool* pool, const RdpSides<P>& arrays,
                      const Body& body) {
    const auto chunks = [](const std::optional<SideState<T>>& side) {
      return side ? ceil_div(side->count, kChunkGroups) : 0;
    };
    const std::int64_t row_chunks = chunks(row);
    run_tasks(pool, row_chunks + chunks(column), [&](std::int64_t i) {
      const bool is_row = i < row_chunks;
      SideState<T>& side = is_row ? *row : *column;
      const std::int64_t begin = (is_row ? i : i - row_chunks) * kChunkGroups;
      body(side, is_row ? arrays.row : arrays.column, begin,
           std::min(side.count, begin + kChunkGroups));
    });
  }

  /// Scalar products of two arrays of the weight's shape within the rows, or
  /// within the columns, of a span.
  void sum_row_pairs(const RowSpan& span, const T* a, const T* b,
                     const PairSums<T>& sums) const {
    tables.matrix.row_sums(
        span.rows, row_length, a + span.element, b + span.element,
        {sums.aa + span.row, sums.ab + span.row, sums.bb + span.row});
  }
  void sum_column_pairs(const RowSpan& span, const T* a, const T* b) const {
    tables.matrix.column_sums(
        span.rows, row_length, a + span.element, b + span.element,
        {at_columns->new_sum(0, span), at_columns->new_sum(1, span),
         at_columns->new_sum(2, span)});
  }

  RdpLayout layout;
  RdpTables<T> tables;
  std::int64_t row_length;
  BlockPlan blocks;
  std::optional<SideState<T>> row;
  std::optional<SideState<T>> column;
  std::optional<ColumnState<T>> at_columns;  // beside `column`
  // Of the rows, then the columns; the two global radii's follow.
  std::vector<T> radius_noise;
  std::vector<T> exponential;
  // The factors of the weight that was drawn, when there are two.
  AlignedBuffer<T> row_part;
  AlignedBuffer<T> column_part;
  bool drawn = false;

 private:
  void give_noise(SideState<T>& side, std::int64_t first, std::int64_t global) {
    side.groups.first_element = first;
    side.groups.elements = static_cast<std::int64_t>(exponential.size());
    side.groups.radius_noise = radius_noise.data() + first;
    side.groups.exponential = exponential.data() + first;
    side.global_noise = radius_noise.data() + global;
  }
};

/// Throws ArgumentError naming an array that a side needs and lacks.
template <typename P, typename T>
void check_arrays(const char* where, const char* what, RdpState<T>& state,
                  const RdpSides<P>& sides) {
  const auto incomplete = [](const RadiusFactors<P>& factors) {
    return factors.loc_a == nullptr || factors.log_var_a == nullptr ||
           factors.loc_b == nullptr || factors.log_var_b == nullptr;
  };
  state.for_each_side(sides, [&](const SideState<T>& side, const auto& arrays) {
    const char* missing = nullptr;
    if (side.layout.global_radius && incomplete(arrays.global)) {
      missing = "global";
    }
    if (incomplete(arrays.local)) missing = "local";
    if (arrays.log_concentration == nullptr) missing = "log_concentration";
    if (arrays.direction == nullptr) missing = "direction";
    if (missing == nullptr) return;
    detail::throw_error<ArgumentError>(where, ": the ", side.name, " side's ",
                                       what, " must all be given, but \"",
                                       missing, "\" is null");
  });
}

/// Adds to a number of either precision, in double.
template <typename T>
void add_to(T* target, double value) {
  *target = static_cast<T>(static_cast<double>(*target) + value);
}

}  // namespace radir::kernels
