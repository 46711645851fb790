#pragma once

#include "radir/math/vmf_sampling.h"
#include "radir/torch/distributions/distribution.h"

namespace radir::distributions {

/// How a sample depends on the concentration: Implicit (the default) is
/// unbiased on its own and has the lowest variance; Rejection, the derivative
/// of the accepted proposal, and the closed forms need
/// VonMisesFisher::score_correction to be so.
using KappaGradient = math::VmfEstimator;

/// von Mises-Fisher distribution on the unit sphere of R^m, m >= 2: density
/// C_m(kappa) exp(kappa mu.x), |x| = 1, of mean direction mu = `loc`, a unit
/// vector, and kappa = `concentration` >= 0; kappa = 0 is uniform.
///
/// loc has shape [..., m]; concentration broadcasts against [...]: one for all,
/// or one each. Gradients with respect to unit vectors are those of formulas
/// written with |x - mu|^2 = 2 - 2 mu.x: only their part tangent to the sphere
/// has a meaning, and normalising a free vector passes on just that part.
class VonMisesFisher : public Distribution {
 public:
  /// Also throws ArgumentError for m < 2 and DomainError for a loc that is not
  /// of unit length (to 1e-5 in float, 1e-10 in double).
  VonMisesFisher(torch::Tensor loc, torch::Tensor concentration,
                 Validate validate = Validate::On);

  torch::Tensor log_prob(const torch::Tensor& value) const override;

  /// Follows KappaGradient::Implicit.
  torch::Tensor rsample(Generator& generator,
                        torch::IntArrayRef sample_shape = {}) const override;
  /// The gradient with respect to loc is that of the rotation which carries
  /// loc, whatever is chosen for the concentration.
  torch::Tensor rsample(Generator& generator, torch::IntArrayRef sample_shape,
                        KappaGradient kappa_gradient) const;

  /// What a sample drawn with any KappaGradient but Implicit needs for an
  /// unbiased gradient: a tensor of zeros, one for each sample, whose
  /// derivative with respect to the concentration is the coefficient c(mu.x) of
  /// the score term. With f one number per sample, such as a log-likelihood,
  /// E[f] has the gradient of the mean of
  ///
  ///   f + f.detach() * q.score_correction(x, KappaGradient::Rejection)
  ///
  /// A constant in f adds variance: subtract a baseline from the second f.
  torch::Tensor score_correction(const torch::Tensor& sample,
                                 KappaGradient kappa_gradient) const;

  torch::Tensor mean() const override;
  torch::Tensor variance() const override;
  torch::Tensor entropy() const override;

  const torch::Tensor& loc() const { return parameter(0); }
  const torch::Tensor& concentration() const { return parameter(1); }
  /// m, the length of the vectors.
  std::int64_t dimension() const { return event_shape()[0]; }

 private:
  double m() const;
  void check_direction(const char* where, const torch::Tensor& value) const;
};

}  // namespace radir::distributions
