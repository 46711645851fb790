#pragma once

#include <torch/types.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "radir/torch/distributions/generator.h"

namespace radir::distributions {

/// Whether parameter values and arguments of log_prob are checked against their
/// domain. Shapes, dtypes and devices are always checked. Reading every value
/// costs time: a training loop, which watches its loss instead, turns it off.
enum class Validate { Off, On };

namespace detail {

struct Constraint;

/// A named tensor with what its values must satisfy; its last `event_rank`
/// dimensions belong to the event, the others to the batch.
struct Parameter {
  const char* name;
  torch::Tensor value;
  const Constraint* constraint;
  int event_rank = 0;
};

}  // namespace detail

/// What every family offers. A distribution is a small value that holds its
/// parameter tensors: float or double, on the CPU, all of one dtype.
///
/// A tensor of `batch_shape()` distributions, each over an event of
/// `event_shape()`; parameters broadcast against each other to the batch shape.
/// Gradients reach the parameters through every member below; they are
/// analytic. A second derivative works where the member is made of plain tensor
/// operations and otherwise throws UnsupportedError.
///
///   LogNormal q(loc, scale);
///   Generator generator(/*seed=*/7);
///   torch::Tensor x = q.rsample(generator, {100});   // [100, batch...]
///   torch::Tensor loss = kl_divergence(q, Gamma(a, b)).sum();
class Distribution {
 public:
  using Shape = std::vector<std::int64_t>;

  virtual ~Distribution() = default;

  /// Shape of the tensor of distributions.
  const Shape& batch_shape() const { return batch_shape_; }
  /// Shape of one draw of one distribution; empty for numbers.
  const Shape& event_shape() const { return event_shape_; }
  torch::Dtype dtype() const;

  /// Log density at `value`, whose shape broadcasts against batch_shape() +
  /// event_shape(); the event dimensions are gone from the result. Throws
  /// ArgumentError for a wrong shape, dtype or device, and DomainError for a
  /// value outside the support (when validating).
  virtual torch::Tensor log_prob(const torch::Tensor& value) const = 0;

  /// A draw of shape sample_shape + batch_shape() + event_shape() through which
  /// gradients flow to the parameters.
  virtual torch::Tensor rsample(Generator& generator,
                                torch::IntArrayRef sample_shape = {}) const = 0;

  /// The same draw, without gradients.
  torch::Tensor sample(Generator& generator,
                       torch::IntArrayRef sample_shape = {}) const;

  /// Mean and variance of every component, of shape batch_shape() +
  /// event_shape(); infinite where the integral diverges.
  virtual torch::Tensor mean() const = 0;
  virtual torch::Tensor variance() const = 0;
  /// Square root of the variance.
  torch::Tensor stddev() const { return variance().sqrt(); }

  /// P(X <= value) for a value as log_prob takes it. Throws what log_prob
  /// throws, and UnsupportedError for a family that has none.
  virtual torch::Tensor cdf(const torch::Tensor& value) const;
  /// The value with cdf(value) = probability, for probabilities strictly
  /// between 0 and 1 whose shape broadcasts against batch_shape(). Throws
  /// UnsupportedError where there is no closed form.
  virtual torch::Tensor icdf(const torch::Tensor& probability) const;

  /// Differential entropy in nats, of shape batch_shape().
  virtual torch::Tensor entropy() const = 0;

  /// `Normal(loc: 0, scale: 1.5)`, or the shapes of parameters with several
  /// elements: `Normal(loc: [3, 2], scale: 1.5)`.
  void pretty_print(std::ostream& stream) const;

 protected:
  /// Checks the parameters and works out the shapes.
  Distribution(const char* family, const detail::Constraint* support,
               std::vector<detail::Parameter> parameters, Validate validate);
  Distribution(const Distribution&) = default;
  Distribution(Distribution&&) = default;
  Distribution& operator=(const Distribution&) = default;
  Distribution& operator=(Distribution&&) = default;

  const torch::Tensor& parameter(std::size_t index) const {
    return parameters_[index].value;
  }
  bool validates() const { return validate_ == Validate::On; }

  /// sample_shape + batch_shape() + event_shape().
  Shape extended_shape(torch::IntArrayRef sample_shape) const;
  /// `tensor` expanded to batch_shape() + event_shape().
  torch::Tensor over_batch(const torch::Tensor& tensor) const;
  /// What members ask of a point at which the density is evaluated; `where`
  /// opens the message.
  void check_value(const char* where, const torch::Tensor& value) const;
  /// The same for a probability.
  void check_probability(const char* where,
                         const torch::Tensor& probability) const;

 private:
  const char* family_;
  const detail::Constraint* support_;
  std::vector<detail::Parameter> parameters_;
  Validate validate_;
  Shape batch_shape_;
  Shape event_shape_;
};

/// Same as pretty_print.
std::ostream& operator<<(std::ostream& stream, const Distribution& value);

}  // namespace radir::distributions
