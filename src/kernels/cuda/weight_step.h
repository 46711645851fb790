#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_random.h"
#include "kernels/cuda/cosine.h"
#include "radir/core/config.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/training_plan.h"
#include "radir/math/vmf_sampling.h"

// How a training step draws one weight: the operations of radir/kernels/rdp.h
// and gaussian.h, shared among the members of a team. Each function is one part
// of a step; between two of them the team has to meet. weight_gradient.h has
// the way back.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// The memory of one network, laid out by its plan.
template <typename T>
struct NetworkMemory {
  T* parameters;
  T* gradient;
  T* scratch;
  double* doubles;
};

/// Numbers per group, by what they are in the forward and the backward pass.
enum class OfGroup {
  Norm2,           // |direction|^2
  Dot,             // direction . noise
  Radial = Dot,    // part . gradient
  Noise2,          // |noise|^2
  Axial = Noise2,  // direction . gradient
  Residual2,       // of the noise orthogonal to the direction
  ConcentrationGradient = Residual2,
  Cosine,        // w
  CosineOffset,  // w - x0
  Sine,
  Radius,
  SlopeA,  // d log(radius) / d log_var_a
  SlopeB,
  Excess,  // x0 - A
  Width,   // of the quadrature
  NoiseScale,
  LossScale = NoiseScale,
  DirectionScale,
  PartScale = DirectionScale,
  Count,
};
static_assert(static_cast<int>(OfGroup::Count) == kGroupArrays);

/// Below this length the noise orthogonal to a direction is summed directly.
constexpr int kShortDirection = 8;
/// From this length on the slope of a cosine is its closed form.
constexpr int kLongDirection = math::VmfCosine<double>::kClosedFormFrom;

/// One side of a weight in the memory of a network. The numbers that loops need
/// are copied from the plan.
template <typename T>
struct SideMemory {
  const WeightPlan& weight;
  const SidePlan& side;
  const NetworkMemory<T>& memory;
  int groups;
  int length;
  int columns;
  int width;         // neighbours in the weight that a group has
  int group_step;    // from a group to the next, in the weight
  int element_step;  // from an element of a group to the next, or its `width`
  bool is_row;
  bool shared_concentration;
  T* of_groups;
  T* part;
  const T* other_part;  // null: the weight has no other side
  const T* direction;
  const T* log_concentration;

  RADIR_HOST_DEVICE SideMemory(const WeightPlan& weight_plan,
                               const SidePlan& plan,
                               const NetworkMemory<T>& network)
      : weight(weight_plan),
        side(plan),
        memory(network),
        groups(plan.groups),
        length(plan.length),
        columns(weight_plan.columns),
        width(plan.is_row ? 1 : weight_plan.column_width),
        group_step(plan.is_row ? weight_plan.columns : width),
        element_step(plan.is_row ? 1 : weight_plan.columns),
        is_row(plan.is_row),
        shared_concentration(plan.shared_concentration),
        of_groups(network.scratch + plan.of_groups),
        part(network.scratch + plan.part),
        direction(network.parameters + plan.direction),
        log_concentration(network.parameters + plan.log_concentration) {
    const SidePlan& other = is_row ? weight_plan.column : weight_plan.row;
    other_part = other.groups > 0 ? network.scratch + other.part : nullptr;
  }

  RADIR_HOST_DEVICE const T* parameter(int offset) const {
    return memory.parameters + offset;
  }
  RADIR_HOST_DEVICE T* gradient(int offset) const {
    return memory.gradient + offset;
  }
  RADIR_HOST_DEVICE T& at(OfGroup what, int group) const {
    return of_groups[static_cast<int>(what) * groups + group];
  }
  RADIR_HOST_DEVICE double* numbers() const {
    return memory.doubles + side.numbers;
  }
  /// Element k of a group, in the weight.
  RADIR_HOST_DEVICE int element(int group, int k) const {
    const int begin = group * group_step;
    if (width == 1) return begin + k * element_step;
    const int row = k / width;
    return begin + row * element_step + (k - row * width);
  }
  /// The group of an element of the weight.
  RADIR_HOST_DEVICE int group_of(int element) const {
    const int row = element / columns;
    if (is_row) return row;
    const int in_row = element - row * columns;
    return width == 1 ? in_row : in_row / width;
  }
  RADIR_HOST_DEVICE T concentration(int group) const {
    return std::exp(log_concentration[shared_concentration ? 0 : group]);
  }
  RADIR_HOST_DEVICE int concentrations() const {
    return shared_concentration ? 1 : groups;
  }
  /// Long directions have a closed form instead.
  RADIR_HOST_DEVICE bool has_quadrature() const {
    return length < kLongDirection;
  }
};

/// Calls body(SideMemory) for the sides that the weight has.
template <typename T, typename Body>
RADIR_HOST_DEVICE inline void for_each_side(const WeightPlan& weight,
                                            const NetworkMemory<T>& memory,
                                            const Body& body) {
  // A loop, so that the body is compiled once.
  RADIR_NOT_UNROLLED
  for (int i = 0; i < 2; ++i) {
    const SidePlan& side = i == 0 ? weight.row : weight.column;
    if (side.groups > 0) body(SideMemory<T>(weight, side, memory));
  }
}

/// The streams of a weight: noise of the rows, of the columns, radii,
/// acceptance.
RADIR_HOST_DEVICE inline RandomStream substream(const WeightPlan& weight,
                                                RandomStream stream,
                                                std::uint32_t which) {
  stream.stream = weight.stream + which;
  return stream;
}

/// All noise of a weight in this turn, a random block an item: normals of the
/// rows, of the columns (or of a normal weight), of the radii, and
/// exponentials.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void draw_noise(const Team& team,
                                         const WeightPlan& weight,
                                         const NetworkMemory<T>& memory,
                                         const RandomStream& stream,
                                         int& turn) {
  const int size = weight.size();
  const int groups = weight.groups();
  const int blocks = exact::block_count<T>(size);
  const bool is_normal = groups == 0;
  const int of_rows = weight.row.groups > 0 || is_normal ? blocks : 0;
  const int of_columns = weight.column.groups > 0 ? blocks : 0;
  const int of_radii = is_normal ? 0 : exact::block_count<T>(groups + 2);
  const int of_acceptance = exact::block_count<T>(groups);
  const int total = of_rows + of_columns + of_radii + of_acceptance;
  const auto draw = [&](int item) {
    std::uint32_t which = 0;
    int count = size;
    int to = is_normal ? weight.deviation : weight.row.part;
    if (item >= of_rows) {
      which = 1;
      to = weight.column.part;
      item -= of_rows;
      if (item >= of_columns) {
        which = 2;
        to = weight.radius_noise;
        count = groups + 2;
        item -= of_columns;
        if (item >= of_radii) {
          which = 3;
          to = weight.exponential;
          count = groups;
          item -= of_radii;
        }
      }
    }
    const RandomStream own = substream(weight, stream, which);
    if (which == 3) {
      exact::write_exponentials(own, item, count, memory.scratch + to);
    } else {
      exact::write_normals(own, item, count, memory.scratch + to);
    }
  };
  team.for_each(total, draw, turn);
  turn = team.turn_after(turn, total);
}

/// The layer-wide factor of the radii: its log, and how that depends on its two
/// log variances.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void draw_global_radius(const Team& team,
                                                 const SideMemory<T>& side,
                                                 int task) {
  team.task(task, [&] {
    double* const to = side.numbers();
    to[0] = to[1] = to[2] = 0;
    if (!side.side.global_radius) return;
    const FactorOffsets& global = side.side.global;
    const WeightPlan& weight = side.weight;
    const double noise = static_cast<double>(
        side.memory.scratch[weight.radius_noise + weight.groups() +
                            (side.is_row ? 0 : 1)]);
    const double variance_a =
        std::exp(static_cast<double>(*side.parameter(global.log_var_a)));
    const double variance_b =
        std::exp(static_cast<double>(*side.parameter(global.log_var_b)));
    const double root = std::sqrt(variance_a + variance_b);
    const double loc = static_cast<double>(*side.parameter(global.loc_a)) +
                       static_cast<double>(*side.parameter(global.loc_b));
    const double slope = root > 0 ? noise / (4 * root) : 0;
    to[0] = 0.5 * (loc + root * noise);
    to[1] = slope * variance_a;
    to[2] = slope * variance_b;
  });
}

/// |direction|^2, direction . noise and |noise|^2 of each group.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void sum_pairs(const Team& team,
                                        const SideMemory<T>& side, int turn) {
  const T* const direction = side.direction;
  const T* const noise = side.part;
  team.template sum_each<3, T>(
      side.groups, side.length,
      [&](int group, int k, T* sums) {
        const int at = side.element(group, k);
        const T d = direction[at];
        const T n = noise[at];
        sums[0] += d * d;
        sums[1] += d * n;
        sums[2] += n * n;
      },
      [&](int group, const T* sums) {
        side.at(OfGroup::Norm2, group) = sums[0];
        side.at(OfGroup::Dot, group) = sums[1];
        side.at(OfGroup::Noise2, group) = sums[2];
      },
      turn);
}

/// The noise orthogonal to short directions.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void sum_residuals(const Team& team,
                                            const SideMemory<T>& side) {
  const T* const direction = side.direction;
  const T* const noise = side.part;
  team.template sum_each<1, T>(
      side.groups, side.length,
      [&](int group, int k, T* sums) {
        const int at = side.element(group, k);
        const T along =
            side.at(OfGroup::Dot, group) / side.at(OfGroup::Norm2, group);
        const T rest = noise[at] - along * direction[at];
        sums[0] += rest * rest;
      },
      [&](int group, const T* sums) {
        side.at(OfGroup::Residual2, group) = sums[0];
      });
}

/// The uniform cosine that becomes the draw of a group.
template <typename T>
RADIR_HOST_DEVICE inline single::AcceptedCosine<T> group_cosine(
    const SideMemory<T>& side, const single::CosineLaw<T>& law,
    const RandomStream& stream, int group) {
  constexpr T kLeastResidual = sizeof(T) == 4 ? T(1e-14) : T(1e-32);
  const WeightPlan& weight = side.weight;
  const T norm2 = side.at(OfGroup::Norm2, group);
  const T dot = side.at(OfGroup::Dot, group);
  const T noise2 = side.at(OfGroup::Noise2, group);
  T residual2 = side.length < kShortDirection
                    ? side.at(OfGroup::Residual2, group)
                    : noise2 - dot * dot / norm2;
  const T least = kLeastResidual * noise2;
  if (!(residual2 > least)) residual2 = least;
  side.at(OfGroup::Residual2, group) = residual2;
  const int element = side.side.first_group + group;
  return single::accepted_cosine<T>(
      law, {dot / std::sqrt(norm2 * noise2), residual2 / noise2, false},
      side.memory.scratch[weight.exponential + element],
      substream(weight, stream, 3), static_cast<std::uint32_t>(element),
      static_cast<std::uint32_t>(weight.groups()));
}

/// Draws the cosine and the radius of each group. Calls unaccepted() for a
/// cosine without an accepted proposal.
template <typename T, typename Team, typename Unaccepted>
RADIR_HOST_DEVICE inline void draw_groups(const Team& team,
                                          const SideMemory<T>& side,
                                          const RandomStream& stream, int turn,
                                          const Unaccepted& unaccepted) {
  const auto draw = [&](int group) {
    const FactorOffsets& local = side.side.local;
    const single::CosineLaw<T> law(static_cast<T>(side.length),
                                   side.concentration(group));
    const auto cosine = group_cosine(side, law, stream, group);
    if (!cosine.accepted) unaccepted();

    const T variance_a = std::exp(side.parameter(local.log_var_a)[group]);
    const T variance_b = std::exp(side.parameter(local.log_var_b)[group]);
    const T noise =
        side.memory
            .scratch[side.weight.radius_noise + side.side.first_group + group];
    const T root = std::sqrt(variance_a + variance_b);
    const T loc =
        side.parameter(local.loc_a)[group] + side.parameter(local.loc_b)[group];
    const T radius = std::exp(T(0.5) * (loc + root * noise) +
                              static_cast<T>(side.numbers()[0]));
    const T slope = root > 0 ? noise / (4 * root) : T(0);
    const T inverse = 1 / (1 + law.x0 * cosine.t);
    const T w_offset = law.spread * cosine.t * inverse;
    const T w = law.x0 + w_offset;
    const T sine = std::sqrt(law.spread * cosine.complement) * inverse;
    const T inverse_norm2 = 1 / side.at(OfGroup::Norm2, group);
    const T along = side.at(OfGroup::Dot, group) * inverse_norm2;
    const T noise_scale =
        radius * sine / std::sqrt(side.at(OfGroup::Residual2, group));
    side.at(OfGroup::Cosine, group) = w;
    side.at(OfGroup::CosineOffset, group) = w_offset;
    side.at(OfGroup::Sine, group) = sine;
    if (side.has_quadrature()) {
      const T excess =
          w_offset +
          side.at(OfGroup::Excess, side.shared_concentration ? 0 : group);
      side.at(OfGroup::Width, group) =
          single::quadrature_width(law.freedom + 1, law.kappa, w, sine, excess);
    }
    side.at(OfGroup::Radius, group) = radius;
    side.at(OfGroup::SlopeA, group) = slope * variance_a;
    side.at(OfGroup::SlopeB, group) = slope * variance_b;
    side.at(OfGroup::NoiseScale, group) = noise_scale;
    side.at(OfGroup::DirectionScale, group) =
        radius * w * std::sqrt(inverse_norm2) - noise_scale * along;
  };
  team.for_each(side.groups, draw, turn);
}

/// Stores element i of the draw of a weight.
template <typename Team, typename T>
RADIR_HOST_DEVICE inline void store_draw(const WeightPlan& weight, T* scratch,
                                         int i, T value) {
  scratch[weight.draw + i] = value;
  if constexpr (Team::kTrainsLarge) {
    if (!weight.has_orders) return;
    const int taps = weight.column_width;
    const int output = i / weight.columns;
    const int in_row = i - output * weight.columns;
    const int input = in_row / taps;
    const int tap = in_row - input * taps;
    scratch[weight.draw_by_output + in_row * whole_quads(weight.rows) +
            output] = value;
    scratch[weight.draw_by_input +
            (output * taps + tap) * whole_quads(weight.inputs()) + input] =
        value;
  }
}

/// Element i of the factor of a side, from its noise.
template <typename T>
RADIR_HOST_DEVICE inline T factor_of(const SideMemory<T>& side, int i) {
  const int group = side.group_of(i);
  return side.at(OfGroup::NoiseScale, group) * side.part[i] +
         side.at(OfGroup::DirectionScale, group) * side.direction[i];
}

/// Turns noise into factors, and factors into the weight.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void combine(const Team& team,
                                      const WeightPlan& weight,
                                      const NetworkMemory<T>& memory,
                                      int turn) {
  if (weight.groups() == 0) {
    T* const deviation = memory.scratch + weight.deviation;
    const T* const loc = memory.parameters + weight.loc;
    const T* const log_scale = memory.parameters + weight.log_scale;
    const auto draw_normal = [&](int i) {
      const T scaled = std::exp(log_scale[i]) * deviation[i];
      deviation[i] = scaled;
      store_draw<Team>(weight, memory.scratch, i, loc[i] + scaled);
    };
    team.for_each(weight.size(), draw_normal, turn);
    return;
  }
  const auto multiply_factors = [&](int i) {
    T product = 1;
    for_each_side(weight, memory, [&](const SideMemory<T>& side) {
      T* const part = side.part + i;
      *part = factor_of(side, i);
      product *= *part;
    });
    store_draw<Team>(weight, memory.scratch, i, product);
  };
  team.for_each(weight.size(), multiply_factors, turn);
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
