#include "radir/torch/nn/likelihood.h"

#include <torch/torch.h>

#include <cmath>
#include <ostream>

#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "torch/nn/checks.h"
#include "torch/nn/gaussian_nodes.h"
#include "torch/nn/kl_sum.h"

namespace radir::nn {
namespace {

constexpr double kLog2Pi = 1.8378770664093454836;  // log(2 pi)

/// Outputs must be [batch, ...] or [samples, batch, ...], and are returned as
/// the latter; `fitting` is the shape of [batch, ...] that fits the targets.
torch::Tensor with_samples(const char* where, const torch::Tensor& outputs,
                           const std::vector<std::int64_t>& fitting,
                           const torch::Tensor& targets) {
  RADIR_CHECK(targets.dim() > 0 && targets.size(0) > 0, ArgumentError, where,
              ": the targets must have a batch dimension with at least one ",
              "example, but their shape is ", targets.sizes());
  const auto sizes = outputs.sizes();
  const bool plain = sizes.equals(fitting);
  const bool sampled = sizes.size() == fitting.size() + 1 && sizes[0] > 0 &&
                       sizes.slice(1).equals(fitting);
  RADIR_CHECK(plain || sampled, ArgumentError, where, ": outputs of shape ",
              torch::IntArrayRef(fitting), ", or with the samples in front, ",
              "are needed for targets of shape ", targets.sizes(),
              ", but theirs is ", sizes);
  return plain ? outputs.unsqueeze(0) : outputs;
}

void check_samples(const char* where, const torch::Tensor& outputs,
                   std::int64_t expected_rank) {
  RADIR_CHECK(outputs.dim() == expected_rank, ArgumentError, where,
              ": outputs [samples, batch, ...] are needed, but their shape is ",
              outputs.sizes(), "; for one sample use unsqueeze(0)");
}

void check_numbers(const char* where, const torch::Tensor& outputs,
                   const torch::Tensor& targets) {
  RADIR_CHECK(outputs.scalar_type() == targets.scalar_type(), ArgumentError,
              where, ": outputs and targets must have one dtype, but have ",
              torch::toString(outputs.scalar_type()), " and ",
              torch::toString(targets.scalar_type()));
  detail::check_finite(where, "a target", targets);
}

/// log (1/S) sum_s exp of what [samples, batch, ...] sums to per example.
torch::Tensor mixture(const torch::Tensor& log_prob) {
  const torch::Tensor per_example = log_prob.unsqueeze(-1).flatten(2).sum(2);
  return torch::logsumexp(per_example, 0) -
         std::log(static_cast<double>(log_prob.size(0)));
}

/// The log variances that the outputs stand for, with the derivatives that
/// kernels::predicted_noise_loss takes outside the bounds.
torch::Tensor bounded_log_variance(const torch::Tensor& outputs,
                                   const torch::Tensor& squares) {
  using kernels::kMaxLogVariance;
  using kernels::kMinLogVariance;
  const torch::Tensor raw = outputs.detach();
  const torch::Tensor bounded = raw.clamp(kMinLogVariance, kMaxLogVariance);
  const torch::Tensor standard = squares.detach() * torch::exp(-bounded);
  const torch::Tensor leads_out = ((raw < kMinLogVariance) & (standard <= 1)) |
                                  ((raw > kMaxLogVariance) & (standard >= 1));
  return bounded +
         torch::where(leads_out, torch::zeros_like(raw), outputs - raw);
}

/// log N(target | mean, exp(log variance)) of each number.
torch::Tensor predicted_noise_log_prob(const char* where,
                                       const torch::Tensor& outputs,
                                       const torch::Tensor& targets) {
  std::vector<std::int64_t> fitting = targets.sizes().vec();
  if (!fitting.empty()) fitting.back() *= 2;
  const torch::Tensor sampled = with_samples(where, outputs, fitting, targets);
  RADIR_CHECK(targets.dim() > 1, ArgumentError, where,
              ": targets must be [batch, numbers], but their shape is ",
              targets.sizes());
  check_numbers(where, outputs, targets);
  const std::vector<torch::Tensor> halves = sampled.chunk(2, -1);
  const torch::Tensor squares = (targets - halves[0]).square();
  const torch::Tensor log_variance = bounded_log_variance(halves[1], squares);
  return -0.5 * (kLog2Pi + log_variance + squares * torch::exp(-log_variance));
}

/// log softmax(outputs)[target], [samples, batch].
torch::Tensor categorical_log_prob(const char* where,
                                   const torch::Tensor& outputs,
                                   const torch::Tensor& targets) {
  RADIR_CHECK(targets.scalar_type() == torch::kLong && targets.dim() == 1,
              ArgumentError, where, ": targets must be int64 labels [batch], ",
              "but are ", torch::toString(targets.scalar_type()), " of shape ",
              targets.sizes());
  RADIR_CHECK(outputs.dim() >= 2, ArgumentError, where,
              ": outputs must be [batch, classes], but their shape is ",
              outputs.sizes());
  const std::int64_t classes = outputs.size(-1);
  const torch::Tensor sampled =
      with_samples(where, outputs, {targets.size(0), classes}, targets);
  const auto lowest = targets.min().item<std::int64_t>();
  const auto highest = targets.max().item<std::int64_t>();
  RADIR_CHECK(lowest >= 0 && highest < classes, ArgumentError, where,
              ": labels must lie between 0 and ", classes - 1,
              ", one less than the number of outputs, but go from ", lowest,
              " to ", highest);
  const torch::Tensor index =
      targets.expand({sampled.size(0), targets.size(0)}).unsqueeze(-1);
  return torch::log_softmax(sampled, -1).gather(-1, index);
}

void check_positive(double value, const char* name) {
  RADIR_CHECK(value > 0 && std::isfinite(value), ArgumentError,
              "GaussianLikelihood: ", name, " must be finite and > 0, but is ",
              value);
}

}  // namespace

GaussianLikelihoodImpl::GaussianLikelihoodImpl(
    const GaussianLikelihoodOptions& options)
    : options_(options) {
  check_positive(options.prior_shape(), "prior_shape");
  check_positive(options.prior_rate(), "prior_rate");
  RADIR_CHECK(options.observations() >= 0, ArgumentError,
              "GaussianLikelihood: observations must not be negative, but is ",
              options.observations());
  GaussianLikelihoodImpl::reset();
}

void GaussianLikelihoodImpl::reset() {
  const double shape =
      options_.prior_shape() + static_cast<double>(options_.observations()) / 2;
  const double rate = shape * options_.prior_rate() / options_.prior_shape();
  // Where its optimum is known, it has no gradient.
  log_shape_ =
      register_parameter("log_shape", torch::full({}, std::log(shape)),
                         /*requires_grad=*/options_.observations() == 0);
  log_rate_ = register_parameter("log_rate", torch::full({}, std::log(rate)));
}

torch::Tensor GaussianLikelihoodImpl::shape() const {
  return log_shape_.to(torch::kDouble).exp();
}

torch::Tensor GaussianLikelihoodImpl::rate() const {
  return log_rate_.to(torch::kDouble).exp();
}

torch::Tensor GaussianLikelihoodImpl::nll(const torch::Tensor& outputs,
                                          const torch::Tensor& targets) const {
  const char* where = "GaussianLikelihood::nll";
  const torch::Tensor sampled =
      with_samples(where, outputs, targets.sizes().vec(), targets);
  check_numbers(where, outputs, targets);
  return detail::gaussian_nll(sampled, targets, {log_shape_, log_rate_});
}

torch::Tensor GaussianLikelihoodImpl::predictive_log_prob(
    const torch::Tensor& outputs, const torch::Tensor& targets) const {
  const char* where = "GaussianLikelihood::predictive_log_prob";
  check_samples(where, outputs, targets.dim() + 1);
  with_samples(where, outputs, targets.sizes().vec(), targets);
  check_numbers(where, outputs, targets);
  const torch::Tensor a = shape(), b = rate();
  const torch::Tensor square = (outputs - targets).to(torch::kDouble).square();
  const torch::Tensor log_prob = torch::lgamma(a + 0.5) - torch::lgamma(a) -
                                 0.5 * (kLog2Pi + b.log()) -
                                 (a + 0.5) * torch::log1p(square / (2 * b));
  return mixture(log_prob);
}

torch::Tensor GaussianLikelihoodImpl::kl() const {
  return detail::sum_of({*kl_term()});
}

std::optional<KlTerm> GaussianLikelihoodImpl::kl_term() const {
  return detail::precision_kl_term(
      {log_shape_, log_rate_}, options_.prior_shape(), options_.prior_rate());
}

void GaussianLikelihoodImpl::pretty_print(std::ostream& stream) const {
  stream << "radir::nn::GaussianLikelihood(prior Gamma("
         << options_.prior_shape() << ", " << options_.prior_rate()
         << "), posterior Gamma(" << shape().item<double>() << ", "
         << rate().item<double>() << "))";
}

torch::Tensor PredictedNoise::nll(const torch::Tensor& outputs,
                                  const torch::Tensor& targets) const {
  const torch::Tensor log_prob =
      predicted_noise_log_prob("PredictedNoise::nll", outputs, targets);
  return -log_prob.flatten(2).sum(2).mean();
}

torch::Tensor PredictedNoise::predictive_log_prob(
    const torch::Tensor& outputs, const torch::Tensor& targets) const {
  const char* where = "PredictedNoise::predictive_log_prob";
  check_samples(where, outputs, targets.dim() + 1);
  return mixture(predicted_noise_log_prob(where, outputs.to(torch::kDouble),
                                          targets.to(torch::kDouble)));
}

torch::Tensor Categorical::nll(const torch::Tensor& outputs,
                               const torch::Tensor& targets) const {
  return -categorical_log_prob("Categorical::nll", outputs, targets).mean();
}

torch::Tensor Categorical::predictive_log_prob(
    const torch::Tensor& outputs, const torch::Tensor& targets) const {
  const char* where = "Categorical::predictive_log_prob";
  check_samples(where, outputs, 3);
  return mixture(
      categorical_log_prob(where, outputs.to(torch::kDouble), targets));
}

}  // namespace radir::nn
