#pragma once

#include <memory>

#include "radir/kernels/likelihood.h"
#include "radir/likelihood/likelihood.h"

namespace radir::likelihood {

/// The functions of a likelihood for float and double, from the templates
/// `loss_of` and `log_likelihoods_of` of Derived.
template <typename Derived>
class TypedLikelihood : public Likelihood {
 public:
  double loss(const kernels::LikelihoodData<float>& data,
              const Targets<float>& targets, const double* own,
              double* own_gradient) const final {
    return self().loss_of(data, targets, own, own_gradient);
  }
  double loss(const kernels::LikelihoodData<double>& data,
              const Targets<double>& targets, const double* own,
              double* own_gradient) const final {
    return self().loss_of(data, targets, own, own_gradient);
  }
  void log_likelihoods(const Draws<float>& draws, const Targets<float>& target,
                       const double* own, double* result) const final {
    self().log_likelihoods_of(draws, target, own, result);
  }
  void log_likelihoods(const Draws<double>& draws,
                       const Targets<double>& target, const double* own,
                       double* result) const final {
    self().log_likelihoods_of(draws, target, own, result);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// One function per kind, in the source file of its name.
std::unique_ptr<const Likelihood> make_gaussian(const Options& options);
std::unique_ptr<const Likelihood> make_predicted_noise(const Options& options);
std::unique_ptr<const Likelihood> make_categorical(const Options& options);

}  // namespace radir::likelihood
