#include "radir/posterior/weight_posterior.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/posterior/family.h"

namespace radir::posterior {
namespace {

/// Copies the kept rows or columns of an array that has `units` of them.
template <typename T>
void copy_units(const ParameterBlock& block, std::int64_t units,
                const std::vector<std::int64_t>& kept, const T* from, T* to) {
  for (std::int64_t copy = 0; copy < block.copies; ++copy) {
    for (std::int64_t unit : kept) {
      to = std::copy_n(from + (copy * units + unit) * block.per_unit,
                       block.per_unit, to);
    }
  }
}

/// Copies the kept part of an array.
template <typename T>
void copy_kept(const network::WeightShape& shape, const ParameterBlock& block,
               const KeptUnits& kept, const T* from, T* to) {
  switch (block.extent) {
    case Extent::Weight:
      for (std::int64_t row : kept.rows) {
        for (std::int64_t column : kept.columns) {
          to = std::copy_n(from + (row * shape.in + column) * shape.kernel,
                           shape.kernel, to);
        }
      }
      break;
    case Extent::Rows:
      copy_units(block, shape.rows(), kept.rows, from, to);
      break;
    case Extent::Columns:
      copy_units(block, shape.columns(), kept.columns, from, to);
      break;
    case Extent::One:
      *to = *from;
      break;
  }
}

/// Whether two posteriors differ in nothing but their shapes.
template <typename T>
bool same_form(const FamilyPosterior<T>& a, const FamilyPosterior<T>& b) {
  const auto same = [](const ParameterBlock& x, const ParameterBlock& y) {
    return x.name == y.name && x.extent == y.extent && x.copies == y.copies;
  };
  const auto& blocks = a.parameter_blocks();
  const auto& others = b.parameter_blocks();
  return a.options().same_family(b.options()) &&
         std::equal(blocks.begin(), blocks.end(), others.begin(), others.end(),
                    same);
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
  family_ = options.family().make<T>(shape, options);
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
  return family_->shape();
}

template <typename T>
const Options& WeightPosterior<T>::options() const {
  return family_->options();
}

template <typename T>
const std::vector<ParameterBlock>& WeightPosterior<T>::parameter_blocks()
    const {
  return family_->parameter_blocks();
}

template <typename T>
std::int64_t WeightPosterior<T>::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterBlock& block : parameter_blocks()) count += block.size;
  return count;
}

template <typename T>
std::string WeightPosterior<T>::describe() const {
  return family_->describe() + family_->note();
}

template <typename T>
void WeightPosterior<T>::initialize(const kernels::RandomStream& stream,
                                    const Arrays<T>& parameters) {
  family_->initialize(stream, parameters);
}

template <typename T>
void WeightPosterior<T>::sample(const Arrays<const T>& parameters,
                                const kernels::RandomStream& stream, T* weight,
                                ThreadPool* pool) {
  family_->sample(parameters, stream, weight, pool);
}

template <typename T>
void WeightPosterior<T>::backward(const Arrays<const T>& parameters,
                                  const T* weight, const T* weight_gradient,
                                  const Arrays<T>& gradients, double loss,
                                  ThreadPool* pool) {
  family_->backward(parameters, weight, weight_gradient, gradients, loss, pool);
}

template <typename T>
double WeightPosterior<T>::kl(const Arrays<const T>& parameters) {
  return family_->kl(parameters);
}

template <typename T>
void WeightPosterior<T>::kl_backward(const Arrays<const T>& parameters,
                                     double scale, const Arrays<T>& gradients) {
  family_->kl_backward(parameters, scale, gradients);
}

template <typename T>
void WeightPosterior<T>::moments(const Arrays<const T>& parameters, T* mean,
                                 T* variance) {
  family_->moments(parameters, mean, variance);
}

template <typename T>
void WeightPosterior<T>::point(const Arrays<const T>& parameters,
                               kernels::PointWeight kind, T* weight) {
  family_->point(parameters, kind, weight);
}

template <typename T>
UnitScores WeightPosterior<T>::unit_scores(const Arrays<const T>& parameters) {
  return family_->unit_scores(parameters);
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
  RADIR_CHECK(same_form(*family_, *target.family_), ArgumentError,
              "restrict_to: the target is ", target.describe(),
              ", which the kept part of ", describe(), " is not");
  for (std::size_t b = 0; b < parameter_blocks().size(); ++b) {
    copy_kept(from, parameter_blocks()[b], kept, parameters[b],
              target_parameters[b]);
  }
  family_->finish_restriction(kept, parameters, *target.family_,
                              target_parameters);
}

template <typename T>
Noise WeightPosterior<T>::noise() const {
  return family_->noise();
}

template <typename T>
double WeightPosterior<T>::dropout_rate() const {
  return family_->dropout_rate();
}

template <typename T>
void WeightPosterior<T>::step_moments(const Arrays<const T>& parameters,
                                      const kernels::RandomStream& stream,
                                      T* mean, T* variance) {
  family_->step_moments(parameters, stream, mean, variance);
}

template <typename T>
void WeightPosterior<T>::moments_backward(const Arrays<const T>& parameters,
                                          const T* mean_gradient,
                                          const T* variance_gradient,
                                          const Arrays<T>& gradients) {
  family_->moments_backward(parameters, mean_gradient, variance_gradient,
                            gradients);
}

template <typename T>
bool WeightPosterior<T>::has_after_step() const {
  return family_->has_after_step();
}

template <typename T>
void WeightPosterior<T>::after_step(double rate, const Arrays<T>& parameters) {
  family_->after_step(rate, parameters);
}

template class WeightPosterior<float>;
template class WeightPosterior<double>;

}  // namespace radir::posterior
