#pragma once
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"

#include <optional>

#include "posterior/weight_posterior_impl.h"

namespace radir::posterior {

/// One independent normal per weight, prior N(0, gaussian_prior_scale^2).
template <typename T>
class WeightPosterior<T>::Gaussian final : public WeightPosterior<T>::Impl {
 public:
  Gaussian(const network::WeightShape& shape, const Options& options);

  std::string describe() const override;
  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override;
  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool* pool) override;
  void backward(const Arrays<const T>& parameters, const T* weight,
                const T* weight_gradient, const Arrays<T>& gradients,
                double loss, ThreadPool* pool) override;
  double kl(const Arrays<const T>& parameters) override;
  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override;
  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override;
  void point(const Arrays<const T>& parameters, kernels::PointWeight kind,
             T* weight) override;
  UnitScores unit_scores(const Arrays<const T>& parameters) override;
  void finish_restriction(const KeptUnits&, const Arrays<const T>&, const Impl&,
                          const Arrays<T>&) const override {}

 private:
  double prior_log_scale(const Arrays<const T>& parameters) const;

  std::size_t loc_;
  std::size_t log_scale_;
  std::optional<std::size_t> prior_log_scale_;  // learnt
  std::vector<T> deviation_;                    // of the last draw
};

}  // namespace radir::posterior
