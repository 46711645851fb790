#pragma once

#include "radir/torch/distributions/gamma.h"
#include "radir/torch/distributions/inverse_gamma.h"
#include "radir/torch/distributions/log_normal.h"
#include "radir/torch/distributions/normal.h"
#include "radir/torch/distributions/von_mises_fisher.h"
#include "radir/torch/distributions/weibull.h"

// KL(q || p) = E_q[log q(x) - log p(x)] >= 0 in nats, in closed form, for each
// pair of the batches of q and p broadcast against each other; gradients reach
// the parameters of both. A pair that is not listed has no closed form here and
// does not compile; estimate it from samples of q:
//
//   torch::Tensor x = q.rsample(generator, {1000});
//   torch::Tensor kl = (q.log_prob(x) - p.log_prob(x)).mean(0);
//
// All throw ArgumentError when the dtypes differ or the batch shapes do not
// broadcast.

namespace radir::distributions {

torch::Tensor kl_divergence(const Normal& q, const Normal& p);
torch::Tensor kl_divergence(const LogNormal& q, const LogNormal& p);
torch::Tensor kl_divergence(const LogNormal& q, const Gamma& p);
torch::Tensor kl_divergence(const LogNormal& q, const InverseGamma& p);
torch::Tensor kl_divergence(const Gamma& q, const Gamma& p);
torch::Tensor kl_divergence(const Weibull& q, const Weibull& p);

/// Throws ArgumentError too when the dimensions differ. With p.concentration()
/// = 0, p is uniform and its mean direction does not matter; with p.loc() =
/// q.loc() only the concentrations do.
torch::Tensor kl_divergence(const VonMisesFisher& q, const VonMisesFisher& p);

}  // namespace radir::distributions
