#include <cmath>
#include <limits>

#include "kernels/rdp_state.h"
#include "radir/math/gamma.h"
#include "radir/math/vmf.h"

namespace radir::kernels {
namespace {

constexpr double kLogGammaHalf = 0.57236494292470008707;

template <typename T>
void check_prior(const char* side, const RdpSidePrior<T>& prior) {
  RADIR_CHECK(
      prior.log_concentration < std::numeric_limits<double>::infinity(),
      DomainError, "RdpKernel::kl: the ", side,
      " prior's log_concentration must be finite, or -infinity for the ",
      "uniform law, but is ", prior.log_concentration);
  RADIR_CHECK(std::isfinite(prior.log_local_scale) &&
                  std::isfinite(prior.log_global_scale),
              DomainError, "RdpKernel::kl: the ", side,
              " prior's log scales must be finite, but are ",
              prior.log_local_scale, " (local) and ", prior.log_global_scale,
              " (global)");
  RADIR_CHECK(
      prior.degrees_of_freedom > 0 && std::isfinite(prior.degrees_of_freedom),
      DomainError, "RdpKernel::kl: the ", side,
      " prior's degrees of freedom must be positive and finite, but ", "are ",
      prior.degrees_of_freedom);
}

/// Puts the scalar products of the side's directions with another's, per group,
/// into side.prior_sums.
template <typename T>
void sum_directions(RdpState<T>& state, SideState<T>& side, const T* own,
                    const T* other) {
  const bool is_row = state.row && &side == &*state.row;
  state.for_each_span(nullptr, [&](const RowSpan& span) {
    if (is_row) {
      state.sum_row_pairs(span, own, other, side.prior_sums);
    } else {
      state.sum_column_pairs(span, own, other);
    }
  });
  if (!is_row) state.at_columns->fold(side.prior_sums);
}

/// gradient += of_other * other + of_own * own, with scales per group.
template <typename T>
void add_directions(RdpState<T>& state, const SideState<T>& side,
                    const T* of_other, const T* other, const T* of_own,
                    const T* own, T* gradient) {
  const bool is_row = state.row && &side == &*state.row;
  if (!is_row) {
    of_other = state.at_columns->expand(0, of_other);
    of_own = state.at_columns->expand(1, of_own);
  }
  state.for_each_span(nullptr, [&](const RowSpan& span) {
    const std::int64_t at = is_row ? span.row : span.position;
    const SideStep<T> step = {own + span.element, of_other + at, of_own + at,
                              gradient + span.element};
    state.tables.matrix.backward_directions(
        span.rows, state.row_length, other + span.element,
        is_row ? step : SideStep<T>{}, is_row ? SideStep<T>{} : step);
  });
}

/// KL(q || p) of one side's directions. When all groups share a concentration,
/// one distribution stands for them all: the KL is linear in the cosine of the
/// two mean directions, so its sum is that of the mean cosine times their
/// number.
template <typename T>
class DirectionKl {
 public:
  DirectionKl(RdpState<T>& state, SideState<T>& side,
              const RdpSide<const T>& parameters, const RdpSidePrior<T>& prior)
      : state_(state),
        side_(side),
        parameters_(parameters),
        prior_(prior),
        kappa_p_(std::exp(prior.log_concentration)) {
    if (prior.direction != nullptr) {
      sum_directions(state, side, parameters.direction, prior.direction);
    }
  }

  double value() const {
    double sum = 0;
    for_each_law([&](std::int64_t i, double groups, double cosine) {
      sum += groups * math::vmf_kl(m(), kappa_q(i), kappa_p_, cosine);
    });
    return sum;
  }

  /// `of_prior` may be null.
  void add_gradient(double scale, const RdpSide<T>& to,
                    RdpSidePriorGradient* of_prior) const {
    for_each_law([&](std::int64_t i, double groups, double cosine) {
      const double kappa = kappa_q(i);
      const double slope = (kappa - kappa_p_ * cosine) * kappa *
                           math::vmf_cosine_variance(m(), kappa);
      add_to(to.log_concentration + i, scale * groups * slope);
      if (of_prior == nullptr) return;
      of_prior->log_concentration +=
          scale * groups * kappa_p_ *
          math::vmf_kl_gradient(m(), kappa, kappa_p_, cosine).kappa_p;
    });
    if (prior_.direction != nullptr) add_direction_gradient(scale, to);
  }

 private:
  double m() const { return side_.groups.length; }

  double kappa_q(std::int64_t i) const {
    return std::exp(static_cast<double>(parameters_.log_concentration[i]));
  }

  double cosine(std::int64_t i) const {
    if (prior_.direction == nullptr) return 1;
    const PairSums<T>& sums = side_.prior_sums;
    const double norms = std::sqrt(static_cast<double>(sums.aa[i]) *
                                   static_cast<double>(sums.bb[i]));
    return std::clamp(static_cast<double>(sums.ab[i]) / norms, -1.0, 1.0);
  }

  /// body(index of the concentration, groups it serves, their mean cosine).
  template <typename Body>
  void for_each_law(const Body& body) const {
    if (!side_.layout.shared_concentration) {
      for (std::int64_t i = 0; i < side_.count; ++i) body(i, 1, cosine(i));
      return;
    }
    const auto groups = static_cast<double>(side_.count);
    double sum = groups;
    if (prior_.direction != nullptr) {
      sum = 0;
      for (std::int64_t i = 0; i < side_.count; ++i) sum += cosine(i);
    }
    body(0, groups, sum / groups);
  }

  /// For group i: (d KL / d cosine) (mu_p - cosine mu_q) / |direction|, with
  /// d KL / d cosine = -kappa_p A(kappa_q). Its two coefficients take the place
  /// of the sums they are made from.
  void add_direction_gradient(double scale, const RdpSide<T>& to) const {
    const PairSums<T>& sums = side_.prior_sums;
    double slope = 0;
    for (std::int64_t i = 0; i < side_.count; ++i) {
      if (i == 0 || !side_.layout.shared_concentration) {
        slope = -scale * kappa_p_ * math::vmf_mean_cosine(m(), kappa_q(i));
      }
      const double norm2 = static_cast<double>(sums.aa[i]);
      const double prior_norm2 = static_cast<double>(sums.bb[i]);
      sums.aa[i] = static_cast<T>(-slope * cosine(i) / norm2);
      sums.bb[i] = static_cast<T>(slope / std::sqrt(norm2 * prior_norm2));
    }
    add_directions(state_, side_, sums.bb, prior_.direction, sums.aa,
                   parameters_.direction, to.direction);
  }

  RdpState<T>& state_;
  SideState<T>& side_;
  const RdpSide<const T>& parameters_;
  const RdpSidePrior<T>& prior_;
  double kappa_p_;
};

RadiusPrior radius_prior(double log_scale, double degrees_of_freedom) {
  // Half-Cauchy, the common case, is spared the functions.
  if (degrees_of_freedom == 1) return {log_scale, 1, 0, kLogGammaHalf};
  return {log_scale, degrees_of_freedom, std::log(degrees_of_freedom),
          math::log_gamma(degrees_of_freedom / 2)};
}

/// KL of one side's radii, the local factors and the global ones. Adds `scale`
/// times the gradient where the pointers are not null.
template <typename T>
double radius_kl(const RdpGroupTable<T>& table, const SideState<T>& side,
                 const RdpSide<const T>& parameters,
                 const RdpSidePrior<T>& prior, double scale = 0,
                 const RdpSide<T>& to = {},
                 RdpSidePriorGradient* of_prior = nullptr) {
  const RadiusKl local = table.radius_kl(
      side.count, parameters.local,
      radius_prior(prior.log_local_scale, prior.degrees_of_freedom), scale,
      to.local);
  RadiusKl global = {0, 0};
  if (side.layout.global_radius) {
    global = table.radius_kl(1, parameters.global,
                             radius_prior(prior.log_global_scale, 1), scale,
                             to.global);
  }
  if (of_prior != nullptr) {
    of_prior->log_local_scale += scale * local.log_scale;
    of_prior->log_global_scale += scale * global.log_scale;
  }
  return local.value + global.value;
}

}  // namespace

template <typename T>
double RdpKernel<T>::kl(const RdpSides<const T>& parameters,
                        const RdpPrior<T>& prior) {
  RdpState<T>& state = *state_;
  check_arrays("RdpKernel::kl", "parameters", state, parameters);
  double sum = 0;
  const auto add = [&](SideState<T>& side, const RdpSide<const T>& q,
                       const RdpSidePrior<T>& p) {
    check_prior(side.name, p);
    sum += radius_kl(state.tables.groups, side, q, p);
    sum += DirectionKl<T>(state, side, q, p).value();
  };
  if (state.row) add(*state.row, parameters.row, prior.row);
  if (state.column) add(*state.column, parameters.column, prior.column);
  return sum;
}

template <typename T>
void RdpKernel<T>::kl_backward(const RdpSides<const T>& parameters,
                               const RdpPrior<T>& prior,
                               const RdpKlGradient<T>& gradient) {
  RdpState<T>& state = *state_;
  check_arrays("RdpKernel::kl_backward", "parameters", state, parameters);
  check_arrays("RdpKernel::kl_backward", "gradients", state,
               gradient.parameters);
  const auto add = [&](SideState<T>& side, const RdpSide<const T>& q,
                       const RdpSidePrior<T>& p, const RdpSide<T>& to,
                       RdpSidePriorGradient* of_prior) {
    check_prior(side.name, p);
    radius_kl(state.tables.groups, side, q, p, gradient.scale, to, of_prior);
    DirectionKl<T>(state, side, q, p)
        .add_gradient(gradient.scale, to, of_prior);
  };
  if (state.row) {
    add(*state.row, parameters.row, prior.row, gradient.parameters.row,
        gradient.prior ? &gradient.prior->row : nullptr);
  }
  if (state.column) {
    add(*state.column, parameters.column, prior.column,
        gradient.parameters.column,
        gradient.prior ? &gradient.prior->column : nullptr);
  }
}

#define RADIR_INSTANTIATE(T)                                 \
  template double RdpKernel<T>::kl(const RdpSides<const T>&, \
                                   const RdpPrior<T>&);      \
  template void RdpKernel<T>::kl_backward(                   \
      const RdpSides<const T>&, const RdpPrior<T>&, const RdpKlGradient<T>&);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::kernels
