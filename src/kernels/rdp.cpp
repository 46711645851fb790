#include "radir/kernels/rdp.h"

#include <cmath>
#include <iterator>
#include <type_traits>

#include "kernels/cosine_excess.h"
#include "kernels/rdp_state.h"
#include "radir/core/cpu.h"
#include "radir/kernels/random.h"
#include "radir/math/vmf_sampling.h"

namespace radir::kernels {
namespace {

#if defined(__x86_64__)
#define RADIR_SELECT(table) \
  select_isa(isa_generic::table, isa_avx2::table, isa_avx512::table)
#else
#define RADIR_SELECT(table) isa_generic::table
#endif

/// The kernels that this processor runs.
template <typename T>
RdpTables<T> rdp_tables();

template <>
RdpTables<float> rdp_tables() {
  return {RADIR_SELECT(rdp_matrix_float), RADIR_SELECT(rdp_group_float)};
}

template <>
RdpTables<double> rdp_tables() {
  return {RADIR_SELECT(rdp_matrix_double), RADIR_SELECT(rdp_group_double)};
}

#undef RADIR_SELECT

void check_layout(const RdpLayout& layout) {
  const network::WeightShape& shape = layout.shape;
  const std::int64_t extents[] = {shape.groups, shape.out, shape.in,
                                  shape.kernel};
  double size = 1;
  for (std::int64_t extent : extents) {
    RADIR_CHECK(extent > 0, ArgumentError,
                "RdpKernel: extents must be positive, but the weight is [",
                shape.groups, "][", shape.out, "][", shape.in, "][",
                shape.kernel, "]");
    size *= static_cast<double>(extent);
  }
  RADIR_CHECK(size < static_cast<double>(kMaxRandomElements), ArgumentError,
              "RdpKernel: a weight has less than 2^32 elements, but this one "
              "has ",
              size);
  RADIR_CHECK(layout.row || layout.column, ArgumentError,
              "RdpKernel: a weight needs a row side, a column side or both, ",
              "but has none");
  const auto check_length = [](const char* side, std::int64_t length) {
    RADIR_CHECK(length > 1, ArgumentError, "RdpKernel: each ", side,
                " has a single element, whose direction is a mere sign; leave ",
                "out the ", side, " side, or use a Gaussian weight");
  };
  if (layout.row) check_length("row", shape.row_length());
  if (layout.column) check_length("column", shape.column_length());
}

template <typename T>
void set_concentration(SideState<T>& side, const T* log_concentration) {
  if (side.layout.shared_concentration) {
    const double kappa = std::exp(static_cast<double>(*log_concentration));
    std::fill_n(side.concentration, side.count, static_cast<T>(kappa));
    return;
  }
  for (std::int64_t i = 0; i < side.count; ++i) {
    side.concentration[i] = std::exp(log_concentration[i]);
  }
}

template <typename T>
void set_x0_excess(SideState<T>& side) {
  const auto excess = [&](std::int64_t i) {
    return static_cast<T>(
        x0_excess<double>(side.groups.length, side.concentration[i]));
  };
  if (side.layout.shared_concentration) {
    std::fill_n(side.x0_excess, side.count, excess(0));
    return;
  }
  for (std::int64_t i = 0; i < side.count; ++i) side.x0_excess[i] = excess(i);
}

/// The implicit slope of the side's shared distribution.
template <typename T>
void set_series(SideState<T>& side) {
  const auto law =
      math::VmfCosine<double>::make(side.groups.length, side.concentration[0]);
  ImplicitSeries<T>& to = side.groups.series;
  static_assert(std::extent_v<decltype(to.coefficient)> ==
                decltype(law.series)::kDegree + 1);
  to.center = static_cast<T>(law.series.center - law.peak);
  to.inverse_radius = static_cast<T>(law.series.inverse_radius);
  std::copy(std::begin(law.series.coefficient),
            std::end(law.series.coefficient), to.coefficient);
}

/// How the estimator's u(w) is found. The series has the accuracy of float.
template <typename T>
SlopeRule slope_rule(const SideState<T>& side, math::VmfEstimator estimator) {
  switch (estimator) {
    case math::VmfEstimator::Rejection:
      return SlopeRule::Rejection;
    case math::VmfEstimator::ClosedForm0:
      return SlopeRule::ClosedForm0;
    case math::VmfEstimator::ClosedForm1:
      return SlopeRule::ClosedForm1;
    case math::VmfEstimator::Implicit:
      break;
  }
  if (side.groups.length >= math::VmfCosine<T>::kClosedFormFrom) {
    return SlopeRule::Approximate;
  }
  const bool is_float = sizeof(T) == sizeof(float);
  return is_float && side.layout.shared_concentration ? SlopeRule::Series
                                                      : SlopeRule::Quadrature;
}

template <typename T>
void prepare_slope(SideState<T>& side, math::VmfEstimator estimator) {
  side.slope_rule = slope_rule(side, estimator);
  if (side.slope_rule == SlopeRule::Approximate) return;
  if (side.slope_rule == SlopeRule::Series) {
    set_series(side);
  } else {
    set_x0_excess(side);
  }
}

/// The streams of one draw, counted from the caller's; the row noise is the
/// first.
enum class Substream : std::uint32_t { ColumnNoise = 1, Radii, Acceptance };
static_assert(static_cast<std::uint32_t>(Substream::Acceptance) + 1 ==
              kRdpStreams);

RandomStream substream(RandomStream stream, Substream which) {
  stream.stream += static_cast<std::uint32_t>(which);
  return stream;
}

/// The layer-wide factor of the radii, and how it depends on its variances.
template <typename T>
void draw_global_radius(SideState<T>& side,
                        const RadiusFactors<const T>& factors) {
  const double noise = static_cast<double>(*side.global_noise);
  const double variance_a = std::exp(static_cast<double>(*factors.log_var_a));
  const double variance_b = std::exp(static_cast<double>(*factors.log_var_b));
  const double root = std::sqrt(variance_a + variance_b);
  const double loc =
      static_cast<double>(*factors.loc_a) + static_cast<double>(*factors.loc_b);
  const double slope = root > 0 ? noise / (4 * root) : 0;
  side.groups.log_global = 0.5 * (loc + root * noise);
  side.global_slope_a = slope * variance_a;
  side.global_slope_b = slope * variance_b;
}

/// Everything random that has one number per group or per layer.
template <typename T>
void draw_scalars(RdpState<T>& state, const RdpSides<const T>& parameters,
                  const RandomStream& stream) {
  const RandomStream acceptance = substream(stream, Substream::Acceptance);
  const auto groups = static_cast<std::int64_t>(state.exponential.size());
  fill_normal(substream(stream, Substream::Radii), 0, groups + 2,
              state.radius_noise.data());
  fill_exponential(acceptance, 0, groups, state.exponential.data());
  state.for_each_side(parameters, [&](SideState<T>& side, const auto& from) {
    side.groups.acceptance = acceptance;
    side.groups.local = from.local;
    set_concentration(side, from.log_concentration);
    if (side.layout.global_radius) draw_global_radius(side, from.global);
  });
}

template <typename T>
void set_ratios(SideState<T>& side, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    side.ratio[i] = side.sums.ab[i] / side.sums.aa[i];
  }
}

/// Where a draw keeps the factors of the weight: a single one is the weight.
template <typename T>
struct Parts {
  T* row;
  T* column;
};

template <typename T, typename P>
Parts<P> parts_of(RdpState<T>& state, P* weight) {
  if (!state.column) return {weight, nullptr};
  if (!state.row) return {nullptr, weight};
  return {state.row_part.data(), state.column_part.data()};
}

/// The noise of a span of rows, and what it has in common with the directions.
template <typename T>
void draw_noise(RdpState<T>& state, const RdpSides<const T>& parameters,
                const RandomStream& stream, const Parts<T>& noise,
                const RowSpan& span) {
  const std::int64_t first = span.element;
  const std::int64_t size = span.rows * state.row_length;
  if (state.row) {
    SideState<T>& side = *state.row;
    const T* direction = parameters.row.direction;
    fill_normal(stream, first, size, noise.row + first);
    state.sum_row_pairs(span, direction, noise.row, side.sums);
    if (side.groups.residual_known) {
      set_ratios(side, span.row, span.row + span.rows);
      state.tables.matrix.row_residuals(
          span.rows, state.row_length, direction + first, noise.row + first,
          side.ratio + span.row, side.groups.residual2 + span.row);
    }
  }
  if (state.column) {
    fill_normal(substream(stream, Substream::ColumnNoise), first, size,
                noise.column + first);
    state.sum_column_pairs(span, parameters.column.direction, noise.column);
  }
}

/// Completes the sums over columns.
template <typename T>
void finish_column_sums(RdpState<T>& state, const T* direction, const T* noise,
                        ThreadPool* pool) {
  SideState<T>& side = *state.column;
  const ColumnState<T>& at = *state.at_columns;
  at.fold(side.sums);
  if (!side.groups.residual_known) return;
  set_ratios(side, 0, side.count);
  const T* ratio = at.expand(0, side.ratio);
  state.for_each_span(pool, [&](const RowSpan& span) {
    state.tables.matrix.column_residuals(
        span.rows, state.row_length, direction + span.element,
        noise + span.element, ratio + span.position, at.new_sum(0, span));
  });
  at.fold(0, side.groups.residual2);
}

template <typename T>
void draw_groups(RdpState<T>& state, const RdpSides<const T>& parameters,
                 ThreadPool* pool) {
  const auto draw = [&](SideState<T>& side, const RdpSide<const T>& from,
                        std::int64_t begin, std::int64_t end) {
    const std::int64_t bad = state.tables.groups.draw(side.groups, begin, end);
    if (bad == end) return;
    detail::throw_error<NumericalError>(
        "RdpKernel::sample: ", side.name, " ", bad,
        " cannot be drawn: |direction|^2 is ", side.sums.aa[bad],
        ", concentration ", side.concentration[bad], ", loc_a ",
        from.local.loc_a[bad], ", log_var_a ", from.local.log_var_a[bad],
        ", loc_b ", from.local.loc_b[bad], ", log_var_b ",
        from.local.log_var_b[bad],
        "; all must be finite, and the first positive");
  };
  state.for_each_chunk(pool, parameters, draw);
}

/// Turns noise into parts, and parts into the weight.
template <typename T>
void combine(RdpState<T>& state, const RdpSides<const T>& parameters,
             const Parts<T>& parts, T* weight, ThreadPool* pool) {
  const T* noise_scale = nullptr;
  const T* direction_scale = nullptr;
  if (state.column) {
    const SideGroups<T>& groups = state.column->groups;
    noise_scale = state.at_columns->expand(0, groups.noise_scale);
    direction_scale = state.at_columns->expand(1, groups.direction_scale);
  }
  state.for_each_span(pool, [&](const RowSpan& span) {
    SidePart<T> row = {}, column = {};
    if (state.row) {
      const SideGroups<T>& groups = state.row->groups;
      row = {parameters.row.direction + span.element, parts.row + span.element,
             groups.noise_scale + span.row, groups.direction_scale + span.row};
    }
    if (state.column) {
      column = {parameters.column.direction + span.element,
                parts.column + span.element, noise_scale + span.position,
                direction_scale + span.position};
    }
    state.tables.matrix.combine(span.rows, state.row_length, row, column,
                                weight + span.element);
  });
}

template <typename T>
double sum_of(const T* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(values[i]);
  }
  return sum;
}

/// Adds d loss / d log(concentration).
template <typename T>
void add_concentration_gradient(const SideState<T>& side, T* gradient) {
  const T* of_group = side.groups.log_concentration_gradient;
  if (side.layout.shared_concentration) {
    add_to(gradient, sum_of(of_group, side.count));
    return;
  }
  for (std::int64_t i = 0; i < side.count; ++i) gradient[i] += of_group[i];
}

template <typename T>
void add_global_gradient(const SideState<T>& side,
                         const RadiusFactors<T>& gradient) {
  const double radial = sum_of(side.groups.radial, side.count);
  add_to(gradient.loc_a, radial / 2);
  add_to(gradient.loc_b, radial / 2);
  add_to(gradient.log_var_a, radial * side.global_slope_a);
  add_to(gradient.log_var_b, radial * side.global_slope_b);
}

/// The inner products of the gradient with the parts and the directions.
template <typename T>
void sum_gradients(RdpState<T>& state, const RdpSides<const T>& parameters,
                   const Parts<const T>& parts, const T* weight_gradient,
                   ThreadPool* pool) {
  state.for_each_span(pool, [&](const RowSpan& span) {
    SideSums<T> row = {}, column = {};
    if (state.row) {
      row = {parameters.row.direction + span.element, parts.row + span.element,
             state.row->groups.radial + span.row, state.row->axial + span.row};
    }
    if (state.column) {
      column = {parameters.column.direction + span.element,
                parts.column + span.element, state.at_columns->new_sum(0, span),
                state.at_columns->new_sum(1, span)};
    }
    state.tables.matrix.backward_sums(span.rows, state.row_length,
                                      weight_gradient + span.element, row,
                                      column);
  });
  if (state.column) {
    state.at_columns->fold(0, state.column->groups.radial);
    state.at_columns->fold(1, state.column->axial);
  }
}

/// The gradients of everything that has one number per group or per layer.
template <typename T>
void finish_groups(RdpState<T>& state, const RdpSides<T>& gradients,
                   const RdpBackwardOptions& options, ThreadPool* pool) {
  state.for_each_side(gradients, [&](SideState<T>& side, const auto&) {
    prepare_slope(side, options.estimator);
  });
  state.for_each_chunk(pool, gradients,
                       [&](SideState<T>& side, const RdpSide<T>& to,
                           std::int64_t begin, std::int64_t end) {
                         state.tables.groups.finish(
                             side.groups, side.slope_rule, options.loss, begin,
                             end, to.local);
                       });
  state.for_each_side(gradients, [&](SideState<T>& side, const auto& to) {
    add_concentration_gradient(side, to.log_concentration);
    if (side.layout.global_radius) add_global_gradient(side, to.global);
  });
}

template <typename T>
void add_direction_gradients(RdpState<T>& state, const RdpSides<T>& gradients,
                             const Parts<const T>& parts,
                             const T* weight_gradient, ThreadPool* pool) {
  const T* loss_scale = nullptr;
  const T* part_scale = nullptr;
  if (state.column) {
    const SideGroups<T>& groups = state.column->groups;
    loss_scale = state.at_columns->expand(0, groups.loss_scale);
    part_scale = state.at_columns->expand(1, groups.part_scale);
  }
  state.for_each_span(pool, [&](const RowSpan& span) {
    SideStep<T> row = {}, column = {};
    if (state.row) {
      const SideGroups<T>& groups = state.row->groups;
      row = {parts.row + span.element, groups.loss_scale + span.row,
             groups.part_scale + span.row,
             gradients.row.direction + span.element};
    }
    if (state.column) {
      column = {parts.column + span.element, loss_scale + span.position,
                part_scale + span.position,
                gradients.column.direction + span.element};
    }
    state.tables.matrix.backward_directions(span.rows, state.row_length,
                                            weight_gradient + span.element, row,
                                            column);
  });
}

}  // namespace

template <typename T>
RdpKernel<T>::RdpKernel(const RdpLayout& layout) {
  check_layout(layout);
  state_ = std::make_unique<RdpState<T>>(layout, rdp_tables<T>());
}

template <typename T>
RdpKernel<T>::~RdpKernel() = default;
template <typename T>
RdpKernel<T>::RdpKernel(RdpKernel&&) noexcept = default;
template <typename T>
RdpKernel<T>& RdpKernel<T>::operator=(RdpKernel&&) noexcept = default;

template <typename T>
const RdpLayout& RdpKernel<T>::layout() const {
  return state_->layout;
}

template <typename T>
void RdpKernel<T>::sample(const RdpSides<const T>& parameters,
                          const RandomStream& stream, T* weight,
                          ThreadPool* pool) {
  RdpState<T>& state = *state_;
  check_arrays("RdpKernel::sample", "parameters", state, parameters);
  RADIR_CHECK(weight != nullptr, ArgumentError,
              "RdpKernel::sample: the weight is null");
  pool = state.pool_if_large(pool);
  state.drawn = false;
  const Parts<T> parts = parts_of(state, weight);
  draw_scalars(state, parameters, stream);
  state.for_each_span(pool, [&](const RowSpan& span) {
    draw_noise(state, parameters, stream, parts, span);
  });
  if (state.column) {
    finish_column_sums<T>(state, parameters.column.direction, parts.column,
                          pool);
  }
  draw_groups(state, parameters, pool);
  combine(state, parameters, parts, weight, pool);
  state.drawn = true;
}

template <typename T>
void RdpKernel<T>::backward(const RdpSides<const T>& parameters,
                            const T* weight, const T* weight_gradient,
                            const RdpSides<T>& gradients,
                            const RdpBackwardOptions& options,
                            ThreadPool* pool) {
  RdpState<T>& state = *state_;
  check_arrays("RdpKernel::backward", "parameters", state, parameters);
  check_arrays("RdpKernel::backward", "gradients", state, gradients);
  RADIR_CHECK(weight != nullptr && weight_gradient != nullptr, ArgumentError,
              "RdpKernel::backward: the weight or its gradient is null");
  RADIR_CHECK(state.drawn, ArgumentError,
              "RdpKernel::backward: nothing was drawn; call sample() first");
  pool = state.pool_if_large(pool);
  const Parts<const T> parts = parts_of(state, weight);
  sum_gradients(state, parameters, parts, weight_gradient, pool);
  finish_groups(state, gradients, options, pool);
  add_direction_gradients(state, gradients, parts, weight_gradient, pool);
}

template class RdpKernel<float>;
template class RdpKernel<double>;

}  // namespace radir::kernels
