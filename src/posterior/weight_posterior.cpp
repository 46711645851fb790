#include "radir/posterior/weight_posterior.h"

#include "posterior/gaussian.h"
#include "posterior/radial_directional.h"
#include "radir/core/error.h"
#include "radir/kernels/philox.h"

namespace radir::posterior {
namespace {

/// A group of length 1 has no direction: takes the other grouping then, or the
/// Gaussian family when that has none either.
Options resolve(const network::WeightShape& shape, Options options) {
  if (options.family == Family::Gaussian) return options;
  const bool rows = shape.row_length() > 1;
  const bool columns = shape.column_length() > 1;
  if (!rows && !columns) {
    options.family = Family::Gaussian;
  } else if (!rows) {
    options.grouping = Grouping::Column;
  } else if (!columns) {
    options.grouping = Grouping::Row;
  }
  return options;
}

std::string fallback_note(const Options& wanted, const Options& used) {
  if (wanted.family != used.family) {
    return " (asked for " + std::string(to_string(wanted.grouping)) +
           " grouping, but rows and columns have length 1)";
  }
  if (used.family == Family::Gaussian || wanted.grouping == used.grouping) {
    return "";
  }
  return std::string(" (asked for ") + to_string(wanted.grouping) + ", but " +
         (used.grouping == Grouping::Row ? "columns" : "rows") +
         " have length 1)";
}

}  // namespace

template <typename T>
WeightPosterior<T>::WeightPosterior(const network::WeightShape& shape,
                                    const Options& options) {
  check(options);
  RADIR_CHECK(
      shape.groups > 0 && shape.out > 0 && shape.in > 0 && shape.kernel > 0,
      ArgumentError, "weight posterior: every extent of the weight ",
      "must be positive, but it is ", shape.groups, " x ", shape.out, " x ",
      shape.in, " x ", shape.kernel);
  const Options used = resolve(shape, options);
  if (used.family == Family::Gaussian) {
    impl_ = std::make_unique<Gaussian>(shape, used);
  } else {
    impl_ = std::make_unique<RadialDirectional>(shape, used);
  }
  impl_->note_ = fallback_note(options, used);
}

template <typename T>
WeightPosterior<T>::~WeightPosterior() = default;
template <typename T>
WeightPosterior<T>::WeightPosterior(WeightPosterior&&) noexcept = default;
template <typename T>
WeightPosterior<T>& WeightPosterior<T>::operator=(WeightPosterior&&) noexcept =
    default;

template <typename T>
const network::WeightShape& WeightPosterior<T>::shape() const {
  return impl_->shape_;
}

template <typename T>
const Options& WeightPosterior<T>::options() const {
  return impl_->options_;
}

template <typename T>
const std::vector<ParameterBlock>& WeightPosterior<T>::parameter_blocks()
    const {
  return impl_->blocks_;
}

template <typename T>
std::int64_t WeightPosterior<T>::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterBlock& block : impl_->blocks_) count += block.size;
  return count;
}

template <typename T>
std::string WeightPosterior<T>::describe() const {
  return impl_->describe() + impl_->note_;
}

template <typename T>
void WeightPosterior<T>::initialize(const kernels::RandomStream& stream,
                                    const Arrays<T>& parameters) {
  impl_->initialize(stream, parameters);
}

template <typename T>
void WeightPosterior<T>::sample(const Arrays<const T>& parameters,
                                const kernels::RandomStream& stream, T* weight,
                                ThreadPool* pool) {
  impl_->sample(parameters, stream, weight, pool);
}

template <typename T>
void WeightPosterior<T>::backward(const Arrays<const T>& parameters,
                                  const T* weight, const T* weight_gradient,
                                  const Arrays<T>& gradients, double loss,
                                  ThreadPool* pool) {
  impl_->backward(parameters, weight, weight_gradient, gradients, loss, pool);
}

template <typename T>
double WeightPosterior<T>::kl(const Arrays<const T>& parameters) {
  return impl_->kl(parameters);
}

template <typename T>
void WeightPosterior<T>::kl_backward(const Arrays<const T>& parameters,
                                     double scale, const Arrays<T>& gradients) {
  impl_->kl_backward(parameters, scale, gradients);
}

template <typename T>
void WeightPosterior<T>::moments(const Arrays<const T>& parameters, T* mean,
                                 T* variance) {
  impl_->moments(parameters, mean, variance);
}

template <typename T>
void WeightPosterior<T>::point(const Arrays<const T>& parameters,
                               kernels::PointWeight kind, T* weight) {
  impl_->point(parameters, kind, weight);
}

template <typename T>
UnitScores WeightPosterior<T>::unit_scores(const Arrays<const T>& parameters) {
  return impl_->unit_scores(parameters);
}

template <typename T>
void WeightPosterior<T>::restrict_to(const KeptUnits& kept,
                                     const Arrays<const T>& parameters,
                                     const WeightPosterior& target,
                                     const Arrays<T>& target_parameters) const {
  const network::WeightShape& from = shape();
  const network::WeightShape& to = target.shape();
  RADIR_CHECK(from.groups == 1, ArgumentError, "restrict_to: a weight of ",
              from.groups, " groups has no part of its own form");
  RADIR_CHECK(to.groups == 1 && to.kernel == from.kernel &&
                  to.out == static_cast<std::int64_t>(kept.rows.size()) &&
                  to.in == static_cast<std::int64_t>(kept.columns.size()),
              ArgumentError, "restrict_to: the target has ", to.out,
              " rows and ", to.in, " columns, but ", kept.rows.size(), " and ",
              kept.columns.size(), " are kept");
  RADIR_CHECK(target.options().family == options().family &&
                  target.options().grouping == options().grouping,
              ArgumentError, "restrict_to: the target is ", target.describe(),
              ", which the kept part of ", describe(), " is not");
  impl_->copy_kept(kept, parameters, target_parameters);
  impl_->finish_restriction(kept, parameters, *target.impl_, target_parameters);
}

template class WeightPosterior<float>;
template class WeightPosterior<double>;

}  // namespace radir::posterior
