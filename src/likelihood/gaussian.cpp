#include "radir/likelihood/gaussian.h"

#include <cmath>
#include <limits>
#include <utility>

#include "likelihood/kinds.h"
#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/kernels/precision_step.h"
#include "radir/math/constants.h"
#include "radir/math/predictive.h"
#include "radir/math/radial_kl.h"

namespace radir::likelihood {
namespace {

class Gaussian final : public TypedLikelihood<Gaussian> {
 public:
  explicit Gaussian(const Options& options)
      : prior_{options.prior_shape, options.prior_rate} {
    RADIR_CHECK(prior_.shape > 0 && prior_.rate > 0, ArgumentError,
                "likelihood: shape and rate of the precision's prior must be ",
                "> 0, but are ", prior_.shape, " and ", prior_.rate);
  }

  std::int64_t target_size(std::int64_t outputs) const override {
    return outputs;
  }
  std::int64_t output_size(std::int64_t targets) const override {
    return targets;
  }
  std::string describe_outputs(const std::string& target) const override {
    return "mean of the " + target;
  }

  std::vector<const char*> parameter_names() const override {
    return {"log_shape", "log_rate"};
  }

  /// The best shape is known whatever the residuals; the rate starts at a mean
  /// precision of 1, that of standardised targets before anything is learnt.
  void initialize(std::int64_t numbers, double* own) const override {
    own[0] = own[1] = std::log(prior_.shape + static_cast<double>(numbers) / 2);
  }

  double kl(const double* own) const override {
    const Precision q = precision_of(own);
    return math::kl_gamma(q.shape, q.rate, prior_.shape, prior_.rate);
  }

  void kl_backward(const double* own, double scale,
                   double* own_gradient) const override {
    const Precision q = precision_of(own);
    const auto gradient =
        math::kl_gamma_gradient(q.shape, q.rate, prior_.shape, prior_.rate);
    own_gradient[0] += scale * q.shape * gradient.q1;
    own_gradient[1] += scale * q.rate * gradient.q2;
  }

  /// kernels::precision_step.
  bool own_step(const double* own_gradient, const OwnStep& step,
                double* own) const override {
    const Precision q = precision_of(own);
    const kernels::GammaPrecision next =
        kernels::precision_step({prior_.shape, prior_.rate}, {q.shape, q.rate},
                                {step.examples, step.numbers, step.kl_weight,
                                 step.rate, own_gradient[1]});
    own[0] = std::log(next.shape);
    own[1] = std::log(next.rate);
    return true;
  }

  bool scale_noise(double factor, double* own) const override {
    own[1] += std::log(factor);
    return true;
  }

  template <typename T>
  double loss_of(const kernels::LikelihoodData<T>& data,
                 const Targets<T>& targets, const double* own,
                 double* own_gradient) const {
    const Precision q = precision_of(own);
    const auto result =
        kernels::gamma_precision_loss(data, targets.values, q.shape, q.rate);
    own_gradient[0] += data.scale * q.shape * result.shape_gradient;
    own_gradient[1] += data.scale * q.rate * result.rate_gradient;
    return result.loss;
  }

  /// The precision given the outputs is a Gamma distribution, its prior updated
  /// with the squared residuals; all targets together are a multivariate t.
  template <typename T>
  double marginal_loss_of(kernels::LikelihoodData<T> data,
                          const Targets<T>& targets, double* own) const {
    T* const gradient = std::exchange(data.gradient, nullptr);
    const auto count = static_cast<double>(data.batch * data.num_outputs);
    // At shape and rate 1 the derivative by the rate is (count - squares)/2.
    const auto unit = kernels::gamma_precision_loss(data, targets.values, 1, 1);
    const double squares = count - 2 * unit.rate_gradient;
    const Precision q = {prior_.shape + count / 2, prior_.rate + squares / 2};
    own[0] = std::log(q.shape);
    own[1] = std::log(q.rate);
    if (!std::isfinite(q.rate)) return std::numeric_limits<double>::infinity();
    data.gradient = gradient;
    kernels::gamma_precision_loss(data, targets.values, q.shape, q.rate);
    return count * math::detail::kHalfLog2Pi + math::log_gamma(prior_.shape) -
           prior_.shape * std::log(prior_.rate) - math::log_gamma(q.shape) +
           q.shape * own[1];
  }

  /// Student's t: the precision is integrated out.
  template <typename T>
  void log_likelihoods_of(const Draws<T>& draws, const Targets<T>& target,
                          const double* own, double* result) const {
    const Precision q = precision_of(own);
    for (std::int64_t d = 0; d < draws.count; ++d) {
      const T* outputs = draws.outputs + d * draws.stride;
      double sum = 0;
      for (std::int64_t t = 0; t < draws.num_outputs; ++t) {
        sum += math::student_log_likelihood(
            static_cast<double>(target.values[t]),
            static_cast<double>(outputs[t]), q.shape, q.rate);
      }
      result[d] = sum;
    }
  }

  void add_components(
      const Draws<float>& draws, const double* own,
      std::vector<MixtureComponent>& components) const override {
    const Precision q = precision_of(own);
    const double scale = std::sqrt(q.rate / q.shape);
    for (std::int64_t d = 0; d < draws.count; ++d) {
      components.push_back(
          {static_cast<double>(draws.outputs[d * draws.stride]), scale,
           2 * q.shape});
    }
  }

  bool add_columns(const Draws<float>& draws, const double* own,
                   DrawColumns& columns) const override {
    const Precision q = precision_of(own);
    if (columns.locations.empty()) columns.degrees_of_freedom = 2 * q.shape;
    if (columns.degrees_of_freedom != 2 * q.shape) return false;
    const double log_scale = std::log(q.rate / q.shape) / 2;
    for (std::int64_t d = 0; d < draws.count; ++d) {
      columns.locations.push_back(
          static_cast<double>(draws.outputs[d * draws.stride]));
    }
    columns.log_scales.resize(columns.locations.size(), log_scale);
    return true;
  }

 private:
  Precision prior_;
};

}  // namespace

Precision precision_of(const double* own) {
  return {std::exp(own[0]), std::exp(own[1])};
}

std::unique_ptr<const Likelihood> make_gaussian(const Options& options) {
  return std::make_unique<Gaussian>(options);
}

}  // namespace radir::likelihood
