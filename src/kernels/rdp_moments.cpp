#include <cmath>

#include "kernels/rdp_state.h"
#include "radir/math/double_grouping.h"
#include "radir/math/radius.h"
#include "radir/network/weight_shape.h"

namespace radir::kernels {
namespace {

using math::DirectionMoments;
using math::LogNormalLaw;
using math::Moments;

template <typename T>
LogNormalLaw<double> factor_law(const T* loc, const T* log_var,
                                std::int64_t i) {
  return {static_cast<double>(loc[i]),
          std::exp(static_cast<double>(log_var[i]))};
}

template <typename T>
LogNormalLaw<double> factors_law(const RadiusFactors<const T>& factors,
                                 std::int64_t i) {
  return math::local_radius(factor_law(factors.loc_a, factors.log_var_a, i),
                            factor_law(factors.loc_b, factors.log_var_b, i));
}

/// One group: the distribution of its radius, and the length of its direction.
struct GroupLaw {
  LogNormalLaw<double> radius;
  double norm2 = 0;

  double inverse_norm() const { return 1 / std::sqrt(norm2); }
};

/// Which group of a side an element of the weight belongs to.
std::int64_t row_of(const network::WeightShape& shape, std::int64_t element) {
  return element / shape.row_length();
}
std::int64_t column_of(const network::WeightShape& shape,
                       std::int64_t element) {
  const std::int64_t group = row_of(shape, element) / shape.out;
  return group * shape.in + element % shape.row_length() / shape.kernel;
}
using GroupOf = std::int64_t (*)(const network::WeightShape&, std::int64_t);

template <typename T>
std::vector<GroupLaw> group_laws(const network::WeightShape& shape,
                                 GroupOf group_of, const SideState<T>& side,
                                 const RdpSide<const T>& parameters) {
  LogNormalLaw<double> global = {0, 0};
  if (side.layout.global_radius) global = factors_law(parameters.global, 0);
  std::vector<GroupLaw> laws(static_cast<std::size_t>(side.count));
  for (std::int64_t i = 0; i < side.count; ++i) {
    const LogNormalLaw<double> local = factors_law(parameters.local, i);
    laws[static_cast<std::size_t>(i)].radius = {
        local.mu + global.mu, local.variance + global.variance};
  }
  for (std::int64_t e = 0; e < shape.size(); ++e) {
    const double x = static_cast<double>(parameters.direction[e]);
    laws[static_cast<std::size_t>(group_of(shape, e))].norm2 += x * x;
  }
  return laws;
}

/// Calls body(side, parameters, group_of) for the sides present.
template <typename T, typename Body>
void for_each_side(RdpState<T>& state, const RdpSides<const T>& parameters,
                   const Body& body) {
  if (state.row) body(*state.row, parameters.row, &row_of);
  if (state.column) body(*state.column, parameters.column, &column_of);
}

double log_radius(PointWeight kind, const LogNormalLaw<double>& law) {
  switch (kind) {
    case PointWeight::Mean:
      return law.mu + law.variance / 2;
    case PointWeight::Median:
      return law.mu;
    case PointWeight::Mode:
      break;
  }
  return math::lognormal_log_mode(law);
}

template <typename T>
double concentration(const SideState<T>& side,
                     const RdpSide<const T>& parameters, std::int64_t i) {
  const std::int64_t at = side.layout.shared_concentration ? 0 : i;
  return std::exp(static_cast<double>(parameters.log_concentration[at]));
}

}  // namespace

template <typename T>
void RdpKernel<T>::moments(const RdpSides<const T>& parameters, T* mean,
                           T* variance) {
  RdpState<T>& state = *state_;
  const network::WeightShape& shape = state.layout.shape;
  check_arrays("RdpKernel::moments", "parameters", state, parameters);
  std::vector<Moments<double>> weight(static_cast<std::size_t>(shape.size()),
                                      {1, 0});
  for_each_side(
      state, parameters,
      [&](const SideState<T>& side, const RdpSide<const T>& from,
          GroupOf group_of) {
        const std::vector<GroupLaw> laws =
            group_laws(shape, group_of, side, from);
        std::vector<Moments<double>> radius;
        std::vector<DirectionMoments<double>> direction;
        for (std::int64_t i = 0; i < side.count; ++i) {
          radius.push_back(math::lognormal_moments(
              laws[static_cast<std::size_t>(i)].radius));
          direction.push_back(
              i > 0 && side.layout.shared_concentration
                  ? direction[0]
                  : DirectionMoments<double>::make(
                        side.groups.length, concentration(side, from, i)));
        }
        for (std::size_t e = 0; e < weight.size(); ++e) {
          const auto i = static_cast<std::size_t>(
              group_of(shape, static_cast<std::int64_t>(e)));
          const double mu =
              static_cast<double>(from.direction[e]) * laws[i].inverse_norm();
          weight[e] = product(weight[e],
                              product(radius[i], direction[i].component(mu)));
        }
      });
  for (std::size_t e = 0; e < weight.size(); ++e) {
    if (mean != nullptr) mean[e] = static_cast<T>(weight[e].mean);
    if (variance != nullptr) variance[e] = static_cast<T>(weight[e].variance);
  }
}

template <typename T>
void RdpKernel<T>::point(const RdpSides<const T>& parameters, PointWeight kind,
                         T* weight) {
  RdpState<T>& state = *state_;
  const network::WeightShape& shape = state.layout.shape;
  check_arrays("RdpKernel::point", "parameters", state, parameters);
  RADIR_CHECK(weight != nullptr, ArgumentError,
              "RdpKernel::point: the weight is null");
  std::fill_n(weight, shape.size(), T(1));
  for_each_side(
      state, parameters,
      [&](const SideState<T>& side, const RdpSide<const T>& from,
          GroupOf group_of) {
        const std::vector<GroupLaw> laws =
            group_laws(shape, group_of, side, from);
        std::vector<T> scale;
        for (std::int64_t i = 0; i < side.count; ++i) {
          const GroupLaw& law = laws[static_cast<std::size_t>(i)];
          const double cosine =
              kind == PointWeight::Mean
                  ? math::vmf_mean_cosine(side.groups.length,
                                          concentration(side, from, i))
                  : 1;
          scale.push_back(
              static_cast<T>(std::exp(log_radius(kind, law.radius)) * cosine *
                             law.inverse_norm()));
        }
        for (std::int64_t e = 0; e < shape.size(); ++e) {
          weight[e] *= scale[static_cast<std::size_t>(group_of(shape, e))] *
                       from.direction[e];
        }
      });
}

#define RADIR_INSTANTIATE(T)                                             \
  template void RdpKernel<T>::moments(const RdpSides<const T>&, T*, T*); \
  template void RdpKernel<T>::point(const RdpSides<const T>&, PointWeight, T*);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::kernels
