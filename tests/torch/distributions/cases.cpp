#include "torch/distributions/cases.h"

#include <torch/torch.h>

#include <cctype>
#include <cmath>
#include <ostream>
#include <type_traits>

#include "radir/math/gamma.h"
#include "support/vmf_cosine.h"
#include "torch/distributions/checks.h"

namespace radir::testing {
namespace {

using namespace radir::distributions;

template <typename Family>
std::unique_ptr<Distribution> make_two(const Tensors& p, Validate validate) {
  return std::make_unique<Family>(p[0], p[1], validate);
}

// ---- Integration over the support (double exponential rules) ----

constexpr double kHalfPi = M_PI / 2;
constexpr double kStep = 1.0 / 64;

torch::Tensor trapezoidal_points() {
  return torch::arange(-4.5, 4.5 + kStep / 2, kStep, torch::kDouble);
}

Quadrature positive_axis(const Tensors&) {
  const torch::Tensor t = trapezoidal_points();
  const torch::Tensor log_x = kHalfPi * t.sinh();
  return {log_x.exp(), log_x + (kStep * kHalfPi * t.cosh()).log()};
}

Quadrature real_axis(const Tensors&) {
  const torch::Tensor t = trapezoidal_points();
  const torch::Tensor y = kHalfPi * t.sinh();
  return {y.sinh(), y.cosh().log() + (kStep * kHalfPi * t.cosh()).log()};
}

/// Vectors at angle a from the mean direction; the density is the same on all
/// of such a circle, of measure area(S^{m-2}) sin(a)^{m-2}.
Quadrature sphere(const Tensors& parameters) {
  const torch::Tensor mu = parameters[0] / parameters[0].norm();
  const double m = static_cast<double>(mu.numel());
  torch::Tensor other = torch::arange(1.0, m + 1, torch::kDouble).cos();
  other = other - mu * mu.dot(other);
  other = other / other.norm();

  const torch::Tensor t = trapezoidal_points().slice(0, 64, -64);
  const torch::Tensor y = kHalfPi * t.sinh();
  const torch::Tensor angle = kHalfPi * (1 + y.tanh());
  const torch::Tensor slope =
      kStep * kHalfPi * kHalfPi * t.cosh() / y.cosh().square();
  const double log_area = std::log(2.0) + (m - 1) / 2 * std::log(M_PI) -
                          math::log_gamma((m - 1) / 2);
  return {
      angle.cos().outer(mu) + angle.sin().outer(other),
      log_area + (m - 2) * angle.sin().clamp_min(1e-300).log() + slope.log()};
}

// ---- Distribution functions ----

torch::Tensor normal_probability(const torch::Tensor& x, const Tensors& p) {
  return 0.5 * torch::erfc((p[0] - x) / (p[1] * std::sqrt(2.0)));
}

torch::Tensor log_normal_probability(const torch::Tensor& x, const Tensors& p) {
  return normal_probability(x.log(), p);
}

torch::Tensor gamma_probability(const torch::Tensor& x, const Tensors& p) {
  return torch::special::gammainc(p[0].expand_as(x), p[1] * x);
}

torch::Tensor inverse_gamma_probability(const torch::Tensor& x,
                                        const Tensors& p) {
  return torch::special::gammaincc(p[0].expand_as(x), p[1] / x);
}

torch::Tensor half_cauchy_probability(const torch::Tensor& x,
                                      const Tensors& p) {
  return (x / p[0]).atan() / kHalfPi;
}

torch::Tensor weibull_probability(const torch::Tensor& x, const Tensors& p) {
  return -(-(x / p[0]).pow(p[1])).expm1();
}

torch::Tensor cosine_probability(const torch::Tensor& x, const Tensors& p) {
  const torch::Tensor mu = p[0] / p[0].norm();
  const torch::Tensor gap = 0.5 * (x - mu).square().sum(-1).contiguous();
  const VmfCosineLaw law(static_cast<double>(mu.numel()), p[1].item<double>());
  torch::Tensor result = torch::empty_like(gap);
  for (int64_t i = 0; i < gap.numel(); ++i) {
    result.data_ptr<double>()[i] = law.probability(gap.data_ptr<double>()[i]);
  }
  return result;
}

// ---- Families ----

std::string name_of(const char* family, std::initializer_list<double> values) {
  std::string name = family;
  for (const double value : values) {
    name += "_" + std::to_string(value);
  }
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

Case normal(double loc, double scale) {
  return {name_of("Normal", {loc, scale}),
          {number(loc), number(scale)},
          make_two<Normal>,
          normal_probability,
          real_axis};
}

Case log_normal(double loc, double scale) {
  return {name_of("LogNormal", {loc, scale}),
          {number(loc), number(scale)},
          make_two<LogNormal>,
          log_normal_probability,
          positive_axis};
}

Case gamma(double concentration, double rate) {
  return {name_of("Gamma", {concentration, rate}),
          {number(concentration), number(rate)},
          make_two<Gamma>,
          gamma_probability,
          positive_axis,
          /*has_cdf=*/true,
          /*has_icdf=*/false};
}

Case inverse_gamma(double concentration, double scale) {
  return {name_of("InverseGamma", {concentration, scale}),
          {number(concentration), number(scale)},
          make_two<InverseGamma>,
          inverse_gamma_probability,
          positive_axis,
          /*has_cdf=*/true,
          /*has_icdf=*/false};
}

Case half_cauchy(double scale) {
  return {name_of("HalfCauchy", {scale}),
          {number(scale)},
          [](const Tensors& p, Validate validate) {
            return std::make_unique<HalfCauchy>(p[0], validate);
          },
          half_cauchy_probability,
          positive_axis};
}

Case weibull(double scale, double concentration) {
  return {name_of("Weibull", {scale, concentration}),
          {number(scale), number(concentration)},
          make_two<Weibull>,
          weibull_probability,
          positive_axis};
}

Case von_mises_fisher(int64_t m, double concentration) {
  return {
      name_of("VonMisesFisher", {static_cast<double>(m), concentration}),
      {torch::arange(1, m + 1, torch::kDouble).sin(), number(concentration)},
      [](const Tensors& p, Validate validate) {
        return std::make_unique<VonMisesFisher>(p[0] / p[0].norm(2, -1, true),
                                                p[1], validate);
      },
      cosine_probability,
      sphere,
      /*has_cdf=*/false,
      /*has_icdf=*/false};
}

template <typename Q, typename P>
KlCase kl_case(const Case& q, const Case& p) {
  return {q.name + "_from_" + p.name, q, p, std::is_same_v<Q, P>,
          [](const Distribution& a, const Distribution& b) {
            return kl_divergence(dynamic_cast<const Q&>(a),
                                 dynamic_cast<const P&>(b));
          }};
}

}  // namespace

std::vector<Case> all_cases() {
  return {normal(0.3, 1.5),
          log_normal(-0.5, 0.6),
          log_normal(0.7, 0.05),
          gamma(0.4, 2),
          gamma(7, 0.3),
          gamma(80, 5),
          inverse_gamma(0.5, 1),
          inverse_gamma(9, 3),
          half_cauchy(0.8),
          weibull(2, 0.8),
          weibull(0.5, 6),
          von_mises_fisher(2, 1.5),
          von_mises_fisher(3, 4),
          von_mises_fisher(10, 30),
          von_mises_fisher(50, 200)};
}

std::vector<KlCase> all_kl_cases() {
  return {
      kl_case<Normal, Normal>(normal(0.3, 1.5), normal(-0.2, 0.9)),
      kl_case<LogNormal, LogNormal>(log_normal(-0.5, 0.6), log_normal(0, 0.8)),
      kl_case<LogNormal, Gamma>(log_normal(-0.5, 0.6), gamma(0.5, 2)),
      kl_case<LogNormal, InverseGamma>(log_normal(-0.5, 0.6),
                                       inverse_gamma(0.5, 1.3)),
      kl_case<Gamma, Gamma>(gamma(7, 0.3), gamma(5, 0.4)),
      kl_case<Weibull, Weibull>(weibull(2, 1.4), weibull(1.5, 0.8)),
      kl_case<VonMisesFisher, VonMisesFisher>(von_mises_fisher(3, 4),
                                              von_mises_fisher(3, 1.5)),
      kl_case<VonMisesFisher, VonMisesFisher>(von_mises_fisher(10, 30),
                                              von_mises_fisher(10, 0)),
  };
}

void PrintTo(const Case& value, std::ostream* stream) { *stream << value.name; }

void PrintTo(const KlCase& value, std::ostream* stream) {
  *stream << value.name;
}

}  // namespace radir::testing
