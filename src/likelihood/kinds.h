#pragma once

#include <memory>

#include "radir/kernels/likelihood.h"
#include "radir/likelihood/likelihood.h"

namespace radir::likelihood {

/// The functions of a likelihood for float and double, from the templates
/// `loss_of`, `marginal_loss_of` and `log_likelihoods_of` of Derived.
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
  double marginal_loss(kernels::LikelihoodData<float> data,
                       const Targets<float>& targets, double* own) const final {
    data.scale = 1;
    return self().marginal_loss_of(data, targets, own);
  }
  double marginal_loss(kernels::LikelihoodData<double> data,
                       const Targets<double>& targets,
                       double* own) const final {
    data.scale = 1;
    return self().marginal_loss_of(data, targets, own);
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

  /// Of a likelihood without own parameters.
  template <typename T>
  double marginal_loss_of(const kernels::LikelihoodData<T>& data,
                          const Targets<T>& targets, double* /*own*/) const {
    return loss(data, targets, nullptr, nullptr);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

// One function per kind, in the source file of its name.
std::unique_ptr<const Likelihood> make_gaussian(const Options& options);
std::unique_ptr<const Likelihood> make_two_normals(const Options& options);
std::unique_ptr<const Likelihood> make_predicted_noise(const Options& options);
std::unique_ptr<const Likelihood> make_mixture(const Options& options);
std::unique_ptr<const Likelihood> make_categorical(const Options& options);

}  // namespace radir::likelihood
