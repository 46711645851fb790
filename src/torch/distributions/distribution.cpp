#include "radir/torch/distributions/distribution.h"

#include <ostream>

#include "radir/core/error.h"
#include "torch/distributions/constraint.h"

namespace radir::distributions {
namespace {

torch::IntArrayRef batch_sizes(const detail::Parameter& parameter) {
  return parameter.value.sizes().slice(
      0,
      static_cast<std::size_t>(parameter.value.dim() - parameter.event_rank));
}

Distribution::Shape joined(torch::IntArrayRef a, torch::IntArrayRef b) {
  Distribution::Shape shape = a.vec();
  shape.insert(shape.end(), b.begin(), b.end());
  return shape;
}

}  // namespace

Distribution::Distribution(const char* family,
                           const detail::Constraint* support,
                           std::vector<detail::Parameter> parameters,
                           Validate validate)
    : family_(family),
      support_(support),
      parameters_(std::move(parameters)),
      validate_(validate) {
  for (const detail::Parameter& p : parameters_) {
    detail::check_tensor(family, p.name, p.value);
    detail::check_same_dtype(family, p.name, p.value, dtype());
    RADIR_CHECK(p.value.dim() >= p.event_rank, ArgumentError, family, ": ",
                p.name, " must have at least ", p.event_rank,
                " dimension, but its shape is ", p.value.sizes(), ".");
    batch_shape_ =
        detail::broadcast_shape(family, batch_shape_, batch_sizes(p));
    if (p.event_rank > 0) {
      event_shape_ = p.value.sizes().slice(batch_sizes(p).size()).vec();
    }
    if (validates()) {
      detail::check_elements(family, p.name, p.value, *p.constraint);
    }
  }
}

torch::Dtype Distribution::dtype() const { return parameter(0).scalar_type(); }

torch::Tensor Distribution::sample(Generator& generator,
                                   torch::IntArrayRef sample_shape) const {
  const torch::NoGradGuard no_grad;
  return rsample(generator, sample_shape);
}

torch::Tensor Distribution::cdf(const torch::Tensor&) const {
  radir::detail::throw_error<UnsupportedError>(
      family_, ".cdf: there is no closed form; estimate it from draws.");
}

torch::Tensor Distribution::icdf(const torch::Tensor&) const {
  radir::detail::throw_error<UnsupportedError>(
      family_, ".icdf: there is no closed form; estimate it from draws.");
}

Distribution::Shape Distribution::extended_shape(
    torch::IntArrayRef sample_shape) const {
  for (const std::int64_t size : sample_shape) {
    RADIR_CHECK(size >= 0, ArgumentError, family_,
                ": sample_shape must not have negative sizes, but got ",
                sample_shape, ".");
  }
  return joined(joined(sample_shape, batch_shape_), event_shape_);
}

torch::Tensor Distribution::over_batch(const torch::Tensor& tensor) const {
  return tensor.expand(joined(batch_shape_, event_shape_));
}

void Distribution::check_value(const char* where,
                               const torch::Tensor& value) const {
  detail::check_tensor(where, "value", value);
  detail::check_same_dtype(where, "value", value, dtype());
  const std::size_t event_rank = event_shape_.size();
  const torch::IntArrayRef sizes = value.sizes();
  RADIR_CHECK(sizes.size() >= event_rank &&
                  sizes.slice(sizes.size() - event_rank) == event_shape_,
              ArgumentError, where, ": value must end in the dimensions ",
              torch::IntArrayRef(event_shape_), ", but its shape is ", sizes,
              ".");
  detail::broadcast_shape(where, sizes.slice(0, sizes.size() - event_rank),
                          batch_shape_);
  if (validates()) detail::check_elements(where, "value", value, *support_);
}

void Distribution::check_probability(const char* where,
                                     const torch::Tensor& probability) const {
  detail::check_tensor(where, "probability", probability);
  detail::check_same_dtype(where, "probability", probability, dtype());
  detail::broadcast_shape(where, probability.sizes(), batch_shape_);
  if (validates()) {
    detail::check_elements(where, "probability", probability,
                           detail::kProbability);
  }
}

void Distribution::pretty_print(std::ostream& stream) const {
  stream << family_ << "(";
  const char* separator = "";
  for (const detail::Parameter& p : parameters_) {
    stream << separator << p.name << ": ";
    if (p.value.dim() == 0) {
      stream << p.value.item<double>();
    } else {
      stream << p.value.sizes();
    }
    separator = ", ";
  }
  stream << ")";
}

std::ostream& operator<<(std::ostream& stream, const Distribution& value) {
  value.pretty_print(stream);
  return stream;
}

}  // namespace radir::distributions
