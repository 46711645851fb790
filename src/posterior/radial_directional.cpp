#include "posterior/radial_directional.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "radir/core/text_stream.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/radius_factors.h"
#include "radir/kernels/random.h"
#include "radir/kernels/rdp.h"
#include "radir/kernels/rdp_parameters.h"
#include "radir/math/radius.h"
#include "radir/math/vmf.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {
namespace {

kernels::RdpLayout layout(const network::WeightShape& shape,
                          const RadialDirectionalOptions& options) {
  const kernels::RdpSideLayout side{!options.concentration_per_group,
                                    options.global_scale.has_value()};
  kernels::RdpLayout result{shape, {}, {}};
  if (options.grouping != Grouping::Column) result.row = side;
  if (options.grouping != Grouping::Row) result.column = side;
  return result;
}

template <typename P>
kernels::RadiusFactors<P> factors(const Arrays<P>& arrays, std::size_t first) {
  return {arrays[first], arrays[first + 1], arrays[first + 2],
          arrays[first + 3]};
}

/// For each kept group, the length of the kept part of its direction relative
/// to the whole.
template <typename T>
std::vector<double> kept_shares(const network::WeightShape& shape, bool by_row,
                                const KeptUnits& kept, const T* direction) {
  std::vector<double> whole(
      static_cast<std::size_t>(by_row ? shape.rows() : shape.columns()));
  std::vector<double> part(whole.size());
  std::vector<bool> column_kept(static_cast<std::size_t>(shape.in));
  std::vector<bool> row_kept(static_cast<std::size_t>(shape.out));
  for (std::int64_t row : kept.rows)
    row_kept[static_cast<std::size_t>(row)] = true;
  for (std::int64_t column : kept.columns)
    column_kept[static_cast<std::size_t>(column)] = true;
  for (std::size_t row = 0; row < row_kept.size(); ++row) {
    for (std::size_t column = 0; column < column_kept.size(); ++column) {
      double square = 0;
      for (std::int64_t k = 0; k < shape.kernel; ++k) {
        const auto value = static_cast<double>(*direction++);
        square += value * value;
      }
      const std::size_t group = by_row ? row : column;
      whole[group] += square;
      if (row_kept[row] && column_kept[column]) part[group] += square;
    }
  }
  std::vector<double> shares;
  for (std::int64_t group : by_row ? kept.rows : kept.columns) {
    const auto i = static_cast<std::size_t>(group);
    shares.push_back(std::sqrt(part[i] / whole[i]));
  }
  return shares;
}

/// The kappa with kappa A(kappa) = product, for directions of this length. The
/// bound A >= kappa / (m/2 + sqrt(m^2/4 + kappa^2)) (Amos 1974) gives a start
/// above it, from which Newton's steps come down.
double concentration_of_product(double length, double product) {
  double kappa = std::sqrt(product * (product + length));
  for (int i = 0; i < 50; ++i) {
    const double mean = math::vmf_mean_cosine(length, kappa);
    const double step =
        (kappa * mean - product) /
        (mean + kappa * math::vmf_cosine_variance(length, kappa));
    kappa -= step;
    if (std::abs(step) <= 1e-14 * kappa) break;
  }
  return kappa;
}

}  // namespace

double prior_log_concentration(const RadialDirectionalOptions& options,
                               std::int64_t length) {
  if (options.direction_prior == DirectionPrior::Uniform) {
    return -std::numeric_limits<double>::infinity();
  }
  const double concentration =
      options.prior_concentration
          ? *options.prior_concentration
          : math::vmf_concentration_for_cosine(static_cast<double>(length),
                                               options.direction_gap);
  return std::log(concentration);
}

double degrees_of_freedom(const RadialDirectionalOptions& options,
                          bool is_row) {
  return is_row ? options.degrees_of_freedom
                : options.column_degrees_of_freedom.value_or(
                      options.degrees_of_freedom);
}

template <typename T>
RadialDirectional<T>::RadialDirectional(const network::WeightShape& shape,
                                        const RadialDirectionalOptions& options)
    : FamilyPosterior<T>(shape, options),
      own_(options),
      kernel_(layout(shape, options)) {
  if (options.grouping != Grouping::Column) {
    row_ = add_side(true);
  }
  if (options.grouping != Grouping::Row) {
    column_ = add_side(false);
  }
}

template <typename T>
auto RadialDirectional<T>::add_side(bool is_row) -> SideBlocks {
  const RadialDirectionalOptions& options = own_;
  const network::WeightShape& shape = this->shape();
  const std::string name = is_row ? "row" : "column";
  const Extent per_group = is_row ? Extent::Rows : Extent::Columns;
  const auto add_factors = [&](const std::string& prefix, Extent extent,
                               bool is_scale) {
    const std::size_t first =
        this->add_block(prefix + "_loc_a", extent, true, is_scale);
    this->add_block(prefix + "_log_var_a", extent);
    this->add_block(prefix + "_loc_b", extent, true, is_scale);
    this->add_block(prefix + "_log_var_b", extent);
    return first;
  };

  SideBlocks side;
  side.is_row = is_row;
  side.groups = is_row ? shape.rows() : shape.columns();
  side.length = is_row ? shape.row_length() : shape.column_length();
  side.prior_log_concentration = prior_log_concentration(options, side.length);
  side.direction = this->add_block(name + "_direction", Extent::Weight);
  side.log_concentration = this->add_block(
      name + "_log_concentration",
      options.concentration_per_group ? per_group : Extent::One);
  side.local = add_factors(name + "_local", per_group, true);
  if (options.global_scale) {
    side.global = add_factors(name + "_global", Extent::One, false);
  }
  if (options.direction_prior == DirectionPrior::MeanDirection) {
    side.prior_direction =
        this->add_block(name + "_prior_direction", Extent::Weight, false);
  }
  if (options.learn_prior) {
    if (options.direction_prior != DirectionPrior::Uniform) {
      side.learnt_concentration =
          this->add_block(name + "_prior_log_concentration", Extent::One);
    }
    side.learnt_scales =
        this->add_block(name + "_prior_log_local_scale", Extent::One);
    this->add_block(name + "_prior_log_global_scale", Extent::One,
                    options.global_scale.has_value());
  }
  return side;
}

template <typename T>
std::string RadialDirectional<T>::describe() const {
  const RadialDirectionalOptions& options = own_;
  std::ostringstream text = text_stream();
  text.precision(4);
  text << "radial-directional, " << to_string(options.grouping)
       << " grouping, prior: " << (options.learn_prior ? "learnt from " : "")
       << (degrees_of_freedom(options, true) == 1 &&
                   degrees_of_freedom(options, false) == 1
               ? "half-Cauchy"
               : "half-t")
       << " scales " << options.local_scale;
  if (options.global_scale) text << " and " << *options.global_scale;
  text << ", " << to_string(options.direction_prior) << " directions";
  if (options.direction_prior != DirectionPrior::Uniform) {
    text << " of concentration";
    for (const auto* side : {&row_, &column_}) {
      if (*side) text << " " << std::exp((*side)->prior_log_concentration);
    }
  }
  return text.str();
}

template <typename T>
void RadialDirectional<T>::initialize(const kernels::RandomStream& stream,
                                      const Arrays<T>& parameters) {
  // With directions near uniform, E[W^2] is E[r^2] / length for one side and
  // the product of two such factors for both (see docs/mathematics.md, double
  // grouping); it is to be initial_gain / row length. Both sides take an equal
  // share.
  const double row_length = static_cast<double>(this->shape().row_length());
  double log_variance = std::log(own_.initial_gain / row_length);
  for (const auto* side : {&row_, &column_}) {
    if (*side) {
      log_variance += std::log(static_cast<double>((*side)->length));
    }
  }
  const int sides = (row_ ? 1 : 0) + (column_ ? 1 : 0);
  const double log_radius = log_variance / (2 * sides);

  kernels::RandomStream normals = stream;
  for (const auto* side : {&row_, &column_}) {
    if (!*side) continue;
    T* direction = parameters[(*side)->direction];
    const std::int64_t size = this->shape().size();
    kernels::fill_normal(normals, 0, size, direction);
    ++normals.stream;
    // Unit length in the mean: the step sizes of an optimiser then turn a
    // direction as fast as they would a plain weight of He's scale.
    const T scale = T(1 / std::sqrt(static_cast<double>((*side)->length)));
    for (std::int64_t i = 0; i < size; ++i) direction[i] *= scale;
    initialize_side(**side, log_radius, parameters);
  }
}

template <typename T>
void RadialDirectional<T>::initialize_side(const SideBlocks& side,
                                           double log_radius,
                                           const Arrays<T>& parameters) const {
  const RadialDirectionalOptions& options = own_;
  const auto fill = [&](std::size_t block, double value) {
    const std::int64_t size = this->parameter_blocks()[block].size;
    for (std::int64_t i = 0; i < size; ++i) parameters[block][i] = T(value);
  };
  // A uniform prior suggests no concentration to start from.
  const double log_concentration =
      std::isinf(side.prior_log_concentration)
          ? std::log(static_cast<double>(side.length) / options.direction_gap)
          : side.prior_log_concentration;
  fill(side.log_concentration, log_concentration);

  // The factors a and the global b start where the KL to their prior is least
  // for their variance (a: Gamma(1/2, scale^2), b: inverse Gamma(1/2, 1));
  // the local b, whose prior has the heavy tail, carries the rest of the
  // radius: log r = (sum of the four locations) / 2, and log E[r^2] = 2 M + 2
  // V.
  const double variance = options.initial_noise * options.initial_noise;
  const double log_variance = std::log(variance);
  const auto best_loc_a = [&](double scale) {
    return std::log(scale * scale / 2) - variance / 2;
  };
  const double best_loc_b = std::log(2.0) + variance / 2;
  const int factor_count = side.global ? 4 : 2;
  double rest = 2 * log_radius - 2 * (factor_count * variance / 4);
  const double loc_a = best_loc_a(options.local_scale);
  fill(side.local, loc_a);
  rest -= loc_a;
  if (side.global) {
    const double global_loc_a = best_loc_a(*options.global_scale);
    fill(*side.global, global_loc_a);
    fill(*side.global + 1, log_variance);
    fill(*side.global + 2, best_loc_b);
    fill(*side.global + 3, log_variance);
    rest -= global_loc_a + best_loc_b;
  }
  fill(side.local + 1, log_variance);
  fill(side.local + 2, rest);
  fill(side.local + 3, log_variance);

  if (side.prior_direction) {
    const T* direction = parameters[side.direction];
    T* prior = parameters[*side.prior_direction];
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      prior[i] = direction[i];
    }
  }
  if (side.learnt_concentration) {
    fill(*side.learnt_concentration, side.prior_log_concentration);
  }
  if (side.learnt_scales) {
    fill(*side.learnt_scales, std::log(options.local_scale));
    fill(*side.learnt_scales + 1, std::log(options.global_scale.value_or(1)));
  }
}

template <typename T>
template <typename P>
kernels::RdpSides<P> RadialDirectional<T>::sides(
    const Arrays<P>& arrays) const {
  const auto view = [&](const std::optional<SideBlocks>& side) {
    kernels::RdpSide<P> result;
    if (!side) return result;
    result.direction = arrays[side->direction];
    result.log_concentration = arrays[side->log_concentration];
    result.local = factors(arrays, side->local);
    if (side->global) result.global = factors(arrays, *side->global);
    return result;
  };
  return {view(row_), view(column_)};
}

template <typename T>
kernels::RdpSidePrior<T> RadialDirectional<T>::side_prior(
    const SideBlocks& side, const Arrays<const T>& parameters) const {
  kernels::RdpSidePrior<T> result;
  result.log_concentration = side.prior_log_concentration;
  result.log_local_scale = std::log(own_.local_scale);
  result.degrees_of_freedom = degrees_of_freedom(own_, side.is_row);
  result.log_global_scale = std::log(own_.global_scale.value_or(1));
  if (side.prior_direction) {
    result.direction = parameters[*side.prior_direction];
  }
  if (side.learnt_concentration) {
    result.log_concentration =
        static_cast<double>(*parameters[*side.learnt_concentration]);
  }
  if (side.learnt_scales) {
    result.log_local_scale =
        static_cast<double>(*parameters[*side.learnt_scales]);
    result.log_global_scale =
        static_cast<double>(*parameters[*side.learnt_scales + 1]);
  }
  return result;
}

template <typename T>
void RadialDirectional<T>::sample(const Arrays<const T>& parameters,
                                  const kernels::RandomStream& stream,
                                  T* weight, ThreadPool* pool) {
  kernel_.sample(sides(parameters), stream, weight, pool);
}

template <typename T>
void RadialDirectional<T>::backward(const Arrays<const T>& parameters,
                                    const T* weight, const T* weight_gradient,
                                    const Arrays<T>& gradients, double loss,
                                    ThreadPool* pool) {
  kernel_.backward(sides(parameters), weight, weight_gradient, sides(gradients),
                   {own_.estimator, loss}, pool);
}

template <typename T>
kernels::RdpPrior<T> RadialDirectional<T>::prior(
    const Arrays<const T>& parameters) const {
  kernels::RdpPrior<T> result;
  if (row_) result.row = side_prior(*row_, parameters);
  if (column_) result.column = side_prior(*column_, parameters);
  return result;
}

template <typename T>
double RadialDirectional<T>::kl(const Arrays<const T>& parameters) {
  return kernel_.kl(sides(parameters), prior(parameters));
}

template <typename T>
void RadialDirectional<T>::kl_backward(const Arrays<const T>& parameters,
                                       double scale,
                                       const Arrays<T>& gradients) {
  kernels::RdpPriorGradient prior_gradient;
  const kernels::RdpKlGradient<T> gradient{
      scale, sides(gradients), own_.learn_prior ? &prior_gradient : nullptr};
  kernel_.kl_backward(sides(parameters), prior(parameters), gradient);
  const auto pass_on = [&](const std::optional<SideBlocks>& side,
                           const kernels::RdpSidePriorGradient& from) {
    if (!side || !side->learnt_scales) return;
    if (side->learnt_concentration) {
      *gradients[*side->learnt_concentration] += T(from.log_concentration);
    }
    const std::size_t first = *side->learnt_scales;
    *gradients[first] += T(from.log_local_scale);
    if (side->global) *gradients[first + 1] += T(from.log_global_scale);
  };
  pass_on(row_, prior_gradient.row);
  pass_on(column_, prior_gradient.column);
}

template <typename T>
void RadialDirectional<T>::moments(const Arrays<const T>& parameters, T* mean,
                                   T* variance) {
  kernel_.moments(sides(parameters), mean, variance);
}

template <typename T>
void RadialDirectional<T>::point(const Arrays<const T>& parameters,
                                 kernels::PointWeight kind, T* weight) {
  kernel_.point(sides(parameters), kind, weight);
}

template <typename T>
std::vector<double> RadialDirectional<T>::log_modes(
    const SideBlocks& side, const Arrays<const T>& parameters) const {
  using Law = math::LogNormalLaw<double>;
  // Factors a and b of one radius, the local or the global one.
  const auto law = [&](std::size_t block, std::int64_t i) {
    return Law{static_cast<double>(parameters[block][i]),
               std::exp(static_cast<double>(parameters[block + 1][i]))};
  };
  const Law one{0, 0};
  const Law global_a = side.global ? law(*side.global, 0) : one;
  const Law global_b = side.global ? law(*side.global + 2, 0) : one;
  std::vector<double> result;
  for (std::int64_t i = 0; i < side.groups; ++i) {
    result.push_back(math::radius_log_mode(
        law(side.local, i), law(side.local + 2, i), global_a, global_b));
  }
  return result;
}

template <typename T>
UnitScores RadialDirectional<T>::unit_scores(
    const Arrays<const T>& parameters) {
  UnitScores scores;
  if (row_) scores.rows = log_modes(*row_, parameters);
  if (column_) scores.columns = log_modes(*column_, parameters);
  return scores;
}

template <typename T>
void RadialDirectional<T>::move_lengths(
    const SideBlocks& side, const SideBlocks& target_side,
    const KeptUnits& kept, const Arrays<const T>& parameters,
    const Arrays<T>& target_parameters) const {
  const auto& groups = side.is_row ? kept.rows : kept.columns;
  const std::vector<double> shares =
      kept_shares(this->shape(), side.is_row, kept, parameters[side.direction]);

  // A coordinate across the mean direction has variance A/kappa; scaled by the
  // kept length s and the ratio of the two mean cosines it is to stay so:
  // kappa' A' = s^2 kappa A.
  const bool shared = !own_.concentration_per_group;
  const auto length = static_cast<double>(side.length);
  const auto concentration = [&](std::size_t i) {
    const std::int64_t index = shared ? 0 : groups[i];
    return std::exp(
        static_cast<double>(parameters[side.log_concentration][index]));
  };
  const auto wanted = [&](std::size_t i) {
    const double kappa = concentration(i);
    return shares[i] * shares[i] * kappa * math::vmf_mean_cosine(length, kappa);
  };
  const auto target_length = static_cast<double>(target_side.length);
  std::vector<double> target_kappa(groups.size());
  double mean_wanted = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    target_kappa[i] = concentration_of_product(target_length, wanted(i));
    mean_wanted += wanted(i) / static_cast<double>(groups.size());
  }
  if (shared) {
    target_kappa.assign(groups.size(),
                        concentration_of_product(target_length, mean_wanted));
  }

  T* const log_concentration = target_parameters[target_side.log_concentration];
  T* const local_loc_b = target_parameters[target_side.local + 2];
  for (std::size_t i = 0; i < groups.size(); ++i) {
    log_concentration[shared ? 0 : i] = T(std::log(target_kappa[i]));
    // log r is half the sum of the locations.
    local_loc_b[i] +=
        T(2 *
          std::log(shares[i] * math::vmf_mean_cosine(length, concentration(i)) /
                   math::vmf_mean_cosine(target_length, target_kappa[i])));
  }
}

template <typename T>
void RadialDirectional<T>::finish_restriction(
    const KeptUnits& kept, const Arrays<const T>& parameters,
    const FamilyPosterior<T>& target,
    const Arrays<T>& target_parameters) const {
  const auto& other = static_cast<const RadialDirectional<T>&>(target);
  if (row_) {
    move_lengths(*row_, *other.row_, kept, parameters, target_parameters);
  }
  if (column_) {
    move_lengths(*column_, *other.column_, kept, parameters, target_parameters);
  }
}

template class RadialDirectional<float>;
template class RadialDirectional<double>;

}  // namespace radir::posterior
