#include "radir/torch/distributions/kl_divergence.h"

#include "radir/core/error.h"
#include "radir/math/radial_kl.h"
#include "radir/math/vmf.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"

namespace radir::distributions {
namespace {

constexpr const char* kWhere = "kl_divergence";

void check_pair(const Distribution& q, const Distribution& p) {
  RADIR_CHECK(q.dtype() == p.dtype(), ArgumentError, kWhere, ": ", q,
              " has dtype ", q.dtype(), ", but ", p, " has ", p.dtype(),
              "; both must have the same one.");
  detail::broadcast_shape(kWhere, q.batch_shape(), p.batch_shape());
}

using Kl = double (*)(double, double, double, double);
using KlSlopes = math::KlGradient<double> (*)(double, double, double, double);

/// A divergence of two families with two parameters each.
template <Kl kValue, KlSlopes kGradient>
struct ClosedForm {
  double operator()(double q1, double q2, double p1, double p2) const {
    return kValue(q1, q2, p1, p2);
  }
  std::array<double, 4> gradient(double q1, double q2, double p1,
                                 double p2) const {
    const math::KlGradient<double> g = kGradient(q1, q2, p1, p2);
    return {g.q1, g.q2, g.p1, g.p2};
  }
};

/// D(kappa_q, kappa_p) + kappa_p (1 - cosine) A(kappa_q): the divergence as a
/// function of 1 - cosine, which keeps its digits for nearby directions.
struct VmfDivergence {
  double m;
  double operator()(double kappa_q, double kappa_p, double gap) const {
    return math::vmf_kl(m, kappa_q, kappa_p, 1.0) +
           kappa_p * gap * math::vmf_mean_cosine(m, kappa_q);
  }
  std::array<double, 3> gradient(double kappa_q, double kappa_p,
                                 double gap) const {
    const auto aligned = math::vmf_kl_gradient(m, kappa_q, kappa_p, 1.0);
    const double mean_cosine = math::vmf_mean_cosine(m, kappa_q);
    return {
        aligned.kappa_q + kappa_p * gap * math::vmf_cosine_variance(m, kappa_q),
        aligned.kappa_p + gap * mean_cosine, kappa_p * mean_cosine};
  }
};

}  // namespace

torch::Tensor kl_divergence(const Normal& q, const Normal& p) {
  check_pair(q, p);
  using Op =
      ClosedForm<math::kl_normal<double>, math::kl_normal_gradient<double>>;
  return detail::elementwise(Op{}, q.loc(), q.scale().square(), p.loc(),
                             p.scale().square());
}

torch::Tensor kl_divergence(const LogNormal& q, const LogNormal& p) {
  check_pair(q, p);
  using Op = ClosedForm<math::kl_lognormal<double>,
                        math::kl_lognormal_gradient<double>>;
  return detail::elementwise(Op{}, q.loc(), q.scale().square(), p.loc(),
                             p.scale().square());
}

torch::Tensor kl_divergence(const LogNormal& q, const Gamma& p) {
  check_pair(q, p);
  using Op = ClosedForm<math::kl_lognormal_gamma<double>,
                        math::kl_lognormal_gamma_gradient<double>>;
  return detail::elementwise(Op{}, q.loc(), q.scale().square(),
                             p.concentration(), p.rate().reciprocal());
}

torch::Tensor kl_divergence(const LogNormal& q, const InverseGamma& p) {
  check_pair(q, p);
  using Op = ClosedForm<math::kl_lognormal_inverse_gamma<double>,
                        math::kl_lognormal_inverse_gamma_gradient<double>>;
  return detail::elementwise(Op{}, q.loc(), q.scale().square(),
                             p.concentration(), p.scale());
}

torch::Tensor kl_divergence(const Gamma& q, const Gamma& p) {
  check_pair(q, p);
  using Op =
      ClosedForm<math::kl_gamma<double>, math::kl_gamma_gradient<double>>;
  return detail::elementwise(Op{}, q.concentration(), q.rate(),
                             p.concentration(), p.rate());
}

torch::Tensor kl_divergence(const Weibull& q, const Weibull& p) {
  check_pair(q, p);
  using Op =
      ClosedForm<math::kl_weibull<double>, math::kl_weibull_gradient<double>>;
  return detail::elementwise(Op{}, q.scale(), q.concentration(), p.scale(),
                             p.concentration());
}

torch::Tensor kl_divergence(const VonMisesFisher& q, const VonMisesFisher& p) {
  check_pair(q, p);
  RADIR_CHECK(q.event_shape() == p.event_shape(), ArgumentError, kWhere,
              ": both directions must have the same dimension, but got ", q,
              " and ", p, ".");
  const torch::Tensor gap = 0.5 * (q.loc() - p.loc()).square().sum(-1);
  return detail::elementwise(VmfDivergence{static_cast<double>(q.dimension())},
                             q.concentration(), p.concentration(), gap);
}

}  // namespace radir::distributions
