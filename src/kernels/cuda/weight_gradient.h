#pragma once

#include <cmath>

#include "kernels/cosine_excess.h"
#include "kernels/cuda/cosine.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/training_plan.h"
#include "radir/math/vmf.h"

// The gradient of one weight's posterior, through its last draw and of its KL
// divergence: see weight_step.h.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// A factor of a radius and its prior: Gamma(shape, exp(log_scale)) where sign
/// is +1, inverse Gamma(shape, exp(-log_scale)) where -1.
template <typename T>
struct FactorKl {
  T sign;
  T shape;
  T log_scale;
  T excess;      // e - shape, with e the mean of the factor over its scale
  T by_log_var;  // derivative
  T value;       // without constants

  RADIR_HOST_DEVICE FactorKl(int sign_of, double prior_shape,
                             double prior_log_scale, T loc, T log_var)
      : sign(static_cast<T>(sign_of)),
        shape(static_cast<T>(prior_shape)),
        log_scale(static_cast<T>(prior_log_scale)) {
    const T half = T(0.5);
    const T location = sign * loc - log_scale;
    const T variance = std::exp(log_var);
    const T e = std::exp(location + half * variance);
    excess = e - shape;
    by_log_var = half * (variance * e - 1);
    value = e - shape * location - half * log_var;
  }
};

/// The factors a and b of a radius with a half-t prior.
template <typename T>
struct RadiusFactorsKl {
  FactorKl<T> a;
  FactorKl<T> b;

  RADIR_HOST_DEVICE RadiusFactorsKl(const SideMemory<T>& side,
                                    const FactorOffsets& at, double log_scale,
                                    double degrees_of_freedom, int group)
      : a(1, 0.5, 2 * log_scale, side.parameter(at.loc_a)[group],
          side.parameter(at.log_var_a)[group]),
        b(-1, degrees_of_freedom / 2, -std::log(degrees_of_freedom),
          side.parameter(at.loc_b)[group],
          side.parameter(at.log_var_b)[group]) {}

  /// Sets the gradient to `scale` times its own.
  RADIR_HOST_DEVICE void start_gradient(const SideMemory<T>& side,
                                        const FactorOffsets& at, T scale,
                                        int group) const {
    side.gradient(at.loc_a)[group] = scale * a.sign * a.excess;
    side.gradient(at.log_var_a)[group] = scale * a.by_log_var;
    side.gradient(at.loc_b)[group] = scale * b.sign * b.excess;
    side.gradient(at.log_var_b)[group] = scale * b.by_log_var;
  }
};

/// What a concentration gives whatever the draw.
template <typename T>
struct ConcentrationTerms {
  T kl_slope;  // of the KL, by the log concentration
  T excess;    // x0 - A
};

/// In T, whose expansions of the Bessel functions are short in float: the code
/// of double's fills the instruction caches of a GPU several times over.
template <typename T>
RADIR_HOST_DEVICE RADIR_OUT_OF_LINE inline ConcentrationTerms<T>
concentration_terms(T length, T kappa, T prior_kappa) {
  return {(kappa - prior_kappa) * kappa *
              math::vmf_cosine_variance<T>(length, kappa),
          x0_excess<T>(length, kappa)};
}

/// Sets the gradient of a concentration to that of the KL times `scale`, and
/// leaves x0 - A where a quadrature will need it.
template <typename T>
RADIR_HOST_DEVICE inline void start_concentration(const SideMemory<T>& side,
                                                  double scale, int i) {
  const SidePlan& plan = side.side;
  const ConcentrationTerms<T> terms =
      concentration_terms<T>(static_cast<T>(side.length), side.concentration(i),
                             static_cast<T>(plan.prior_concentration));
  const double groups = side.shared_concentration ? side.groups : 1;
  side.gradient(plan.log_concentration)[i] =
      static_cast<T>(scale * groups * static_cast<double>(terms.kl_slope));
  side.at(OfGroup::Excess, i) = terms.excess;
}

/// Sets the gradient of all but the directions to that of the KL times `scale`.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void start_gradient(const Team& team,
                                             const SideMemory<T>& side,
                                             double scale, int turn) {
  const SidePlan& plan = side.side;
  const T factor = static_cast<T>(scale);
  team.for_each(
      side.concentrations(),
      [&](int i) { start_concentration(side, scale, i); }, turn);
  // The layer-wide factor after those of the groups.
  const auto start = [&](int i) {
    const bool global = i == plan.groups;
    const FactorOffsets& at = global ? plan.global : plan.local;
    const int group = global ? 0 : i;
    RadiusFactorsKl<T>(side, at,
                       global ? plan.log_global_scale : plan.log_local_scale,
                       global ? 1 : plan.degrees_of_freedom, group)
        .start_gradient(side, at, factor, group);
  };
  team.for_each(plan.groups + (plan.global_radius ? 1 : 0), start,
                team.turn_after(turn, side.concentrations()));
}

/// KL of a side, in nats; its terms are spread over the team.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline double side_kl(const Team& team,
                                        const SideMemory<T>& side) {
  const SidePlan& plan = side.side;
  // log Gamma(1/2), and with it the constants of radius_kl.
  constexpr double kLogGammaHalf = 0.57236494292470008707;
  constexpr double kEntropy = 1.41893853320467274178;
  const auto constant = [&](double degrees) {
    return kLogGammaHalf - 2 * kEntropy +
           (degrees == 1 ? kLogGammaHalf : math::log_gamma(degrees / 2));
  };
  const auto radius = [&](const FactorOffsets& at, double log_scale,
                          double degrees, int i) {
    const RadiusFactorsKl<T> kl(side, at, log_scale, degrees, i);
    return static_cast<double>(kl.a.value) + static_cast<double>(kl.b.value) +
           constant(degrees);
  };
  const double radii = team.sum(plan.groups, [&](int i) {
    return radius(plan.local, plan.log_local_scale, plan.degrees_of_freedom,
                  i) +
           (i == 0 && plan.global_radius
                ? radius(plan.global, plan.log_global_scale, 1, 0)
                : 0);
  });
  const double directions = team.sum(side.concentrations(), [&](int i) {
    const double kappa = std::exp(
        static_cast<double>(side.parameter(plan.log_concentration)[i]));
    return math::vmf_kl<double>(plan.length, kappa, plan.prior_concentration,
                                1);
  });
  return radii + (plan.shared_concentration ? plan.groups : 1) * directions;
}

/// The gradient by the factor of a side of one element: that by the weight
/// times the other factor.
template <typename T>
RADIR_HOST_DEVICE inline T factor_gradient(const SideMemory<T>& side,
                                           const T* by_weight, int at) {
  return side.other_part == nullptr ? by_weight[at]
                                    : by_weight[at] * side.other_part[at];
}

/// The inner products of the gradient with the factors and the directions.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void sum_gradients(const Team& team,
                                            const SideMemory<T>& side,
                                            int turn) {
  const T* const direction = side.direction;
  const T* const part = side.part;
  const T* const by_weight = side.memory.scratch + side.weight.gradient;
  team.template sum_each<2, T>(
      side.groups, side.length,
      [&](int group, int k, T* sums) {
        const int at = side.element(group, k);
        const T v = factor_gradient(side, by_weight, at);
        sums[0] += part[at] * v;
        sums[1] += direction[at] * v;
      },
      [&](int group, const T* sums) {
        side.at(OfGroup::Radial, group) = sums[0];
        side.at(OfGroup::Axial, group) = sums[1];
      },
      turn);
}

/// A term of u(w), the slope of a group's cosine in its concentration.
template <typename T>
RADIR_HOST_DEVICE inline T slope_term(const SideMemory<T>& side, int group,
                                      int k) {
  const T w = side.at(OfGroup::Cosine, group);
  const T w_offset = side.at(OfGroup::CosineOffset, group);
  const T kappa = side.concentration(group);
  const T length = static_cast<T>(side.length);
  if (!side.has_quadrature()) {
    return closed_form_slope(single::CosineLaw<T>(length, kappa), w, w_offset);
  }
  const int law = side.shared_concentration ? 0 : group;
  single::SlopeQuadrature<T> quadrature;
  quadrature.power = length - 2;
  quadrature.kappa = kappa;
  quadrature.w = w;
  quadrature.sine = side.at(OfGroup::Sine, group);
  quadrature.excess = w_offset + side.at(OfGroup::Excess, law);
  quadrature.width = side.at(OfGroup::Width, group);
  return quadrature.term(k);
}

/// Turns the sums of each group into gradients.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void finish_groups(const Team& team,
                                            const SideMemory<T>& side,
                                            int turn) {
  const SidePlan& plan = side.side;
  const int terms = side.has_quadrature() ? single::SlopeRule<T>::kPoints : 1;
  team.template sum_each<1, T>(
      plan.groups, terms,
      [&](int group, int k, T* sums) { sums[0] += slope_term(side, group, k); },
      [&](int group, const T* sums) {
        const T radial = side.at(OfGroup::Radial, group);
        const T axial = side.at(OfGroup::Axial, group);
        side.gradient(plan.local.loc_a)[group] += radial * T(0.5);
        side.gradient(plan.local.loc_b)[group] += radial * T(0.5);
        side.gradient(plan.local.log_var_a)[group] +=
            radial * side.at(OfGroup::SlopeA, group);
        side.gradient(plan.local.log_var_b)[group] +=
            radial * side.at(OfGroup::SlopeB, group);
        const T w = side.at(OfGroup::Cosine, group);
        const T inverse_norm2 = 1 / side.at(OfGroup::Norm2, group);
        const T scale =
            side.at(OfGroup::Radius, group) * std::sqrt(inverse_norm2);
        const T by_log =
            side.concentration(group) * sums[0] * (scale * axial - w * radial);
        if (plan.shared_concentration) {
          side.at(OfGroup::ConcentrationGradient, group) = by_log;
        } else {
          side.gradient(plan.log_concentration)[group] += by_log;
        }
        side.at(OfGroup::LossScale, group) = w * scale;
        side.at(OfGroup::PartScale, group) = -axial * inverse_norm2;
      },
      turn);
}

/// The gradients of what all groups share, and of the directions.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void finish_side(const Team& team,
                                          const SideMemory<T>& side, int turn) {
  const SidePlan& plan = side.side;
  if (plan.shared_concentration || plan.global_radius) {
    team.template sum_each<2, double>(
        1, plan.groups,
        [&](int, int k, double* sums) {
          sums[0] +=
              static_cast<double>(side.at(OfGroup::ConcentrationGradient, k));
          sums[1] += static_cast<double>(side.at(OfGroup::Radial, k));
        },
        [&](int, const double* sums) {
          const auto add = [&](int offset, double value) {
            *side.gradient(offset) += static_cast<T>(value);
          };
          if (plan.shared_concentration) {
            add(plan.log_concentration, sums[0]);
          }
          if (!plan.global_radius) return;
          add(plan.global.loc_a, sums[1] / 2);
          add(plan.global.loc_b, sums[1] / 2);
          add(plan.global.log_var_a, sums[1] * side.numbers()[1]);
          add(plan.global.log_var_b, sums[1] * side.numbers()[2]);
        },
        turn);
  }
  const T* const part = side.part;
  const T* const by_weight = side.memory.scratch + side.weight.gradient;
  T* const to = side.gradient(plan.direction);
  team.transform(
      side.weight.size(),
      [&](int at) {
        const int group = side.group_of(at);
        return side.at(OfGroup::LossScale, group) *
                   factor_gradient(side, by_weight, at) +
               side.at(OfGroup::PartScale, group) * part[at];
      },
      [&](int at, T value) { to[at] = value; }, team.turn_after(turn, 1));
}

/// Sets the gradient of a normal weight to that of its KL times `scale`.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void start_normal_gradient(
    const Team& team, const WeightPlan& weight, const NetworkMemory<T>& memory,
    double scale, int turn) {
  const T inverse = static_cast<T>(std::exp(-weight.log_prior_scale));
  const T shift = static_cast<T>(weight.log_prior_scale);
  const T c = static_cast<T>(scale);
  const auto start = [&](int i) {
    const T z = memory.parameters[weight.loc + i] * inverse;
    const T d = 2 * (memory.parameters[weight.log_scale + i] - shift);
    memory.gradient[weight.loc + i] = c * inverse * z;
    memory.gradient[weight.log_scale + i] = c * std::expm1(d);
  };
  team.for_each(weight.size(), start, turn);
}

template <typename T, typename Team>
RADIR_HOST_DEVICE inline double normal_kl(const Team& team,
                                          const WeightPlan& weight,
                                          const NetworkMemory<T>& memory) {
  const double inverse = std::exp(-weight.log_prior_scale);
  return 0.5 * team.sum(weight.size(), [&](int i) {
    const double z =
        static_cast<double>(memory.parameters[weight.loc + i]) * inverse;
    const double d =
        2 * (static_cast<double>(memory.parameters[weight.log_scale + i]) -
             weight.log_prior_scale);
    return std::expm1(d) - d + z * z;
  });
}

/// Adds the gradient of a normal weight through its draw.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void finish_normal(const Team& team,
                                            const WeightPlan& weight,
                                            const NetworkMemory<T>& memory,
                                            int turn) {
  const T* const by_weight = memory.scratch + weight.gradient;
  const T* const deviation = memory.scratch + weight.deviation;
  const auto add = [&](int i) {
    memory.gradient[weight.loc + i] += by_weight[i];
    memory.gradient[weight.log_scale + i] += by_weight[i] * deviation[i];
  };
  team.for_each(weight.size(), add, turn);
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
