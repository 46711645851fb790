#include "radir/torch/nn/composed.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/math/vmf.h"
#include "radir/math/vmf_sampling.h"
#include "radir/posterior/family.h"
#include "radir/posterior/grouping.h"
#include "radir/torch/distributions/distribution.h"
#include "radir/torch/distributions/gamma.h"
#include "radir/torch/distributions/inverse_gamma.h"
#include "radir/torch/distributions/kl_divergence.h"
#include "radir/torch/distributions/log_normal.h"
#include "radir/torch/distributions/normal.h"
#include "radir/torch/distributions/von_mises_fisher.h"

namespace radir::nn {
namespace {

using distributions::Validate;
using posterior::DirectionPrior;
using posterior::Grouping;

/// Inner products of the rows.
torch::Tensor row_dot(const torch::Tensor& a, const torch::Tensor& b) {
  return (a * b).sum(1, /*keepdim=*/true);
}

torch::Tensor normalized(const torch::Tensor& rows) {
  return rows / row_dot(rows, rows).sqrt();
}

/// u(w) of dx/dkappa = u(w) (mu - w x), the implicit rule, for each group.
torch::Tensor implicit_velocity(std::int64_t dimension,
                                const torch::Tensor& kappa,
                                const torch::Tensor& one_minus_cosine) {
  const auto m = static_cast<double>(dimension);
  const auto rule = dimension < math::VmfCosine<double>::kClosedFormFrom
                        ? math::VmfEstimator::Implicit
                        : math::VmfEstimator::ClosedForm1;
  const torch::Tensor k = kappa.to(torch::kDouble).contiguous();
  const torch::Tensor d = one_minus_cosine.to(torch::kDouble).contiguous();
  torch::Tensor u = torch::empty_like(d);
  for (std::int64_t i = 0; i < d.numel(); ++i) {
    const auto law = math::VmfCosine<double>::make(m, k.data_ptr<double>()[i]);
    u.data_ptr<double>()[i] = law.velocity(rule, 1 - d.data_ptr<double>()[i]);
  }
  return u.to(kappa.scalar_type());
}

/// 1 - w for a vMF cosine w of each concentration, by Wood's rejection sampler
/// as radir/math/vmf_sampling.h writes it.
torch::Tensor draw_one_minus_cosine(std::int64_t dimension,
                                    const torch::Tensor& kappa) {
  const auto freedom = static_cast<double>(dimension - 1);
  const torch::Tensor s = (4 * kappa.square() + freedom * freedom).sqrt();
  const torch::Tensor x0 = 2 * kappa / (freedom + s);
  const torch::Tensor b = freedom / (2 * kappa + s);
  const torch::Tensor one_minus_x0 = 2 * b / (1 + b);

  torch::Tensor result = torch::zeros_like(kappa);
  torch::Tensor pending = torch::ones_like(kappa, torch::kBool);
  while (pending.any().item<bool>()) {
    const torch::Tensor normal = torch::randn_like(kappa);
    const torch::Tensor chi_square =
        2 * torch::_standard_gamma(torch::full_like(kappa, freedom / 2));
    const torch::Tensor t = normal / (normal.square() + chi_square).sqrt();
    const torch::Tensor y = x0 * t / (1 + x0 * t);
    const torch::Tensor cost = freedom * (-y - torch::log1p(-y));
    const torch::Tensor accepted =
        pending & (torch::empty_like(kappa).exponential_() >= cost);
    result =
        torch::where(accepted, one_minus_x0 * (1 - t) / (1 + x0 * t), result);
    pending = pending & ~accepted;
  }
  return result;
}

}  // namespace

ComposedPosterior::ComposedPosterior(const network::WeightShape& shape,
                                     const posterior::Options& options,
                                     NamedTensors parameters)
    : shape_(shape), parameters_(std::move(parameters)) {
  using posterior::GaussianOptions;
  using posterior::RadialDirectionalOptions;
  if (const auto* gaussian = options.get_if<GaussianOptions>()) {
    gaussian_ = *gaussian;
    return;
  }
  const auto* radial = options.get_if<RadialDirectionalOptions>();
  RADIR_CHECK(radial != nullptr, UnsupportedError,
              "composed posterior: the family ", options.family().name(),
              " is not written in tensor operations");
  options_ = *radial;
}

bool ComposedPosterior::has(Side side) const {
  return options_.grouping !=
         (side == Side::Row ? Grouping::Column : Grouping::Row);
}

std::int64_t ComposedPosterior::length(Side side) const {
  return side == Side::Row ? shape_.row_length() : shape_.column_length();
}

const torch::Tensor& ComposedPosterior::parameter(
    Side side, const std::string& name) const {
  return parameters_.at((side == Side::Row ? "row_" : "column_") + name);
}

torch::Tensor ComposedPosterior::to_groups(Side side,
                                           const torch::Tensor& weight) const {
  const torch::Tensor w =
      weight.reshape({shape_.groups, shape_.out, shape_.in, shape_.kernel});
  return (side == Side::Row ? w : w.transpose(1, 2))
      .reshape({-1, length(side)});
}

torch::Tensor ComposedPosterior::from_groups(
    Side side, const torch::Tensor& groups) const {
  if (side == Side::Row) return groups.reshape(-1);
  return groups.reshape({shape_.groups, shape_.in, shape_.out, shape_.kernel})
      .transpose(1, 2)
      .reshape(-1);
}

torch::Tensor ComposedPosterior::concentration(Side side) const {
  const std::int64_t groups =
      side == Side::Row ? shape_.rows() : shape_.columns();
  return parameter(side, "log_concentration").exp().expand({groups});
}

torch::Tensor ComposedPosterior::mean_direction(Side side,
                                                const std::string& name) const {
  return normalized(to_groups(side, parameter(side, name)));
}

ComposedSideNoise ComposedPosterior::draw_side_noise(Side side) const {
  const torch::NoGradGuard no_grad;
  const torch::Tensor kappa = concentration(side);
  return {torch::randn_like(parameter(side, "direction")),
          draw_one_minus_cosine(length(side), kappa), torch::randn_like(kappa),
          torch::randn({1}, kappa.options())};
}

ComposedNoise ComposedPosterior::draw_noise() const {
  ComposedNoise noise;
  if (gaussian_) {
    const torch::NoGradGuard no_grad;
    noise.normals = torch::randn_like(parameters_.at("loc"));
    return noise;
  }
  if (has(Side::Row)) noise.row = draw_side_noise(Side::Row);
  if (has(Side::Column)) noise.column = draw_side_noise(Side::Column);
  return noise;
}

torch::Tensor ComposedPosterior::sample_directions(
    Side side, const ComposedSideNoise& noise) const {
  const torch::Tensor mu = mean_direction(side, "direction");
  const torch::Tensor kappa = concentration(side).unsqueeze(1);

  // The draw: x = w mu + sqrt(1 - w^2) xi, xi a unit vector orthogonal to mu.
  const torch::Tensor mu0 = mu.detach();
  const torch::Tensor kappa0 = kappa.detach();
  const torch::Tensor gap = noise.one_minus_cosine.unsqueeze(1);
  const torch::Tensor w = 1 - gap;
  const torch::Tensor normals = to_groups(side, noise.normals);
  const torch::Tensor xi = normalized(normals - row_dot(normals, mu0) * mu0);
  const torch::Tensor x = w * mu0 + (gap * (2 - gap)).sqrt() * xi;

  // Its derivatives, as terms whose value is zero: the draw turns with mu,
  //   dx = w dmu - (x . dmu) mu,
  // and moves towards mu as the concentration grows, dx = u (mu - w x) dkappa.
  const torch::Tensor dmu = mu - mu0;
  const torch::Tensor u =
      implicit_velocity(length(side), kappa0.squeeze(1), noise.one_minus_cosine)
          .unsqueeze(1);
  return x + w * dmu - row_dot(x, dmu) * mu0 +
         (kappa - kappa0) * u * (mu0 - w * x);
}

torch::Tensor ComposedPosterior::sample_radii(
    Side side, const ComposedSideNoise& noise) const {
  // log r = (log a + log b)/2 of each factor pair, drawn as one normal.
  const auto log_factor = [&](const std::string& name,
                              const torch::Tensor& normal) {
    const torch::Tensor loc =
        parameter(side, name + "_loc_a") + parameter(side, name + "_loc_b");
    const torch::Tensor variance = parameter(side, name + "_log_var_a").exp() +
                                   parameter(side, name + "_log_var_b").exp();
    return 0.5 * (loc + variance.sqrt() * normal);
  };
  torch::Tensor log_radius = log_factor("local", noise.radius);
  if (options_.global_scale) {
    log_radius = log_radius + log_factor("global", noise.global_radius);
  }
  return log_radius.exp();
}

torch::Tensor ComposedPosterior::sample_side(
    Side side, const ComposedSideNoise& noise) const {
  return from_groups(side, sample_radii(side, noise).unsqueeze(1) *
                               sample_directions(side, noise));
}

torch::Tensor ComposedPosterior::sample(const ComposedNoise& noise) const {
  if (gaussian_) {
    const torch::Tensor scale = parameters_.at("log_scale").exp();
    return (parameters_.at("loc") + scale * noise.normals).reshape(-1);
  }
  if (!has(Side::Column)) return sample_side(Side::Row, noise.row);
  if (!has(Side::Row)) return sample_side(Side::Column, noise.column);
  return sample_side(Side::Row, noise.row) *
         sample_side(Side::Column, noise.column);
}

torch::Tensor ComposedPosterior::prior_number(Side side,
                                              const std::string& name,
                                              double log_value) const {
  // Uniform directions have no concentration to learn.
  if (options_.learn_prior && std::isfinite(log_value)) {
    return parameter(side, "prior_log_" + name);
  }
  return torch::full({1}, log_value, parameter(side, "direction").options())
      .detach();
}

torch::Tensor ComposedPosterior::radii_kl(Side side, const std::string& factor,
                                          const torch::Tensor& log_scale,
                                          double degrees_of_freedom) const {
  using distributions::LogNormal;
  const auto law = [&](const std::string& name) {
    return LogNormal(parameter(side, factor + "_loc_" + name),
                     (0.5 * parameter(side, factor + "_log_var_" + name)).exp(),
                     Validate::Off);
  };
  // Half-Cauchy(scale) is the law of sqrt(a b), a ~ Gamma(1/2, rate
  // 1/scale^2), b ~ inverse Gamma(n/2, n).
  const torch::Tensor half = torch::full_like(log_scale, 0.5);
  const distributions::Gamma prior_a(half, (-2 * log_scale).exp(),
                                     Validate::Off);
  const distributions::InverseGamma prior_b(
      torch::full_like(half, degrees_of_freedom / 2),
      torch::full_like(half, degrees_of_freedom), Validate::Off);
  return kl_divergence(law("a"), prior_a).sum() +
         kl_divergence(law("b"), prior_b).sum();
}

torch::Tensor ComposedPosterior::side_kl(Side side) const {
  using distributions::VonMisesFisher;
  const bool uniform = options_.direction_prior == DirectionPrior::Uniform;
  const double prior_concentration =
      options_.prior_concentration.value_or(math::vmf_concentration_for_cosine(
          static_cast<double>(length(side)), options_.direction_gap));
  const torch::Tensor kappa_p =
      prior_number(side, "concentration",
                   uniform ? -std::numeric_limits<double>::infinity()
                           : std::log(prior_concentration))
          .exp();
  const torch::Tensor mu = mean_direction(side, "direction");
  const torch::Tensor mu_p =
      options_.direction_prior == DirectionPrior::MeanDirection
          ? mean_direction(side, "prior_direction")
          : mu;
  torch::Tensor sum =
      kl_divergence(VonMisesFisher(mu, concentration(side), Validate::Off),
                    VonMisesFisher(mu_p, kappa_p, Validate::Off))
          .sum();
  sum = sum +
        radii_kl(
            side, "local",
            prior_number(side, "local_scale", std::log(options_.local_scale)),
            side == Side::Row ? options_.degrees_of_freedom
                              : options_.column_degrees_of_freedom.value_or(
                                    options_.degrees_of_freedom));
  if (!options_.global_scale) return sum;
  return sum + radii_kl(side, "global",
                        prior_number(side, "global_scale",
                                     std::log(*options_.global_scale)),
                        1);
}

torch::Tensor ComposedPosterior::gaussian_kl() const {
  using distributions::Normal;
  const torch::Tensor& loc = parameters_.at("loc");
  const torch::Tensor prior_scale =
      gaussian_->learn_prior
          ? parameters_.at("prior_log_scale").exp()
          : torch::full({1}, gaussian_->prior_scale, loc.options()).detach();
  return kl_divergence(
             Normal(loc, parameters_.at("log_scale").exp(), Validate::Off),
             Normal(torch::zeros_like(prior_scale), prior_scale, Validate::Off))
      .sum();
}

torch::Tensor ComposedPosterior::kl() const {
  if (gaussian_) return gaussian_kl();
  if (!has(Side::Column)) return side_kl(Side::Row);
  if (!has(Side::Row)) return side_kl(Side::Column);
  return side_kl(Side::Row) + side_kl(Side::Column);
}

NamedTensors with_prefix(const torch::nn::Module& layer,
                         const std::string& prefix) {
  NamedTensors result;
  const auto add = [&](const auto& named) {
    for (const auto& item : named) {
      if (item.key().rfind(prefix, 0) == 0) {
        result[item.key().substr(prefix.size())] = item.value();
      }
    }
  };
  add(layer.named_parameters(/*recurse=*/false));
  add(layer.named_buffers(/*recurse=*/false));
  return result;
}

}  // namespace radir::nn
