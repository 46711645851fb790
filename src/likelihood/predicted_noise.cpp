#include <cmath>

#include "likelihood/kinds.h"
#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/math/constants.h"

namespace radir::likelihood {
namespace {

class PredictedNoise final : public TypedLikelihood<PredictedNoise> {
 public:
  std::int64_t target_size(std::int64_t outputs) const override {
    RADIR_CHECK(outputs % 2 == 0, ArgumentError,
                "likelihood: a network that predicts its noise needs two ",
                "outputs per target, but has ", outputs);
    return outputs / 2;
  }
  std::int64_t output_size(std::int64_t targets) const override {
    return 2 * targets;
  }
  std::string describe_outputs(const std::string& target) const override {
    return "mean, then log variance, of the " + target +
           "; limit the log variance to -23.03 ... 4.605";
  }

  template <typename T>
  double loss_of(const kernels::LikelihoodData<T>& data,
                 const Targets<T>& targets, const double*, double*) const {
    return kernels::predicted_noise_loss(data, targets.values,
                                         kernels::NoiseOutput::LogVariance);
  }

  template <typename T>
  void log_likelihoods_of(const Draws<T>& draws, const Targets<T>& target,
                          const double*, double* result) const {
    const std::int64_t targets = draws.num_outputs / 2;
    for (std::int64_t d = 0; d < draws.count; ++d) {
      const T* outputs = draws.outputs + d * draws.stride;
      double sum = 0;
      for (std::int64_t t = 0; t < targets; ++t) {
        const double residual = static_cast<double>(target.values[t]) -
                                static_cast<double>(outputs[t]);
        const double log_variance = kernels::bounded_log_variance(
            static_cast<double>(outputs[targets + t]));
        sum -= 0.5 * (2 * math::detail::kHalfLog2Pi + log_variance +
                      residual * residual * std::exp(-log_variance));
      }
      result[d] = sum;
    }
  }

  void add_components(
      const Draws<float>& draws, const double*,
      std::vector<MixtureComponent>& components) const override {
    for (std::int64_t d = 0; d < draws.count; ++d) {
      MixtureComponent component;
      component.location = static_cast<double>(draws.outputs[d * draws.stride]);
      component.scale = std::exp(log_scale_of(draws, d));
      components.push_back(component);
    }
  }

  bool add_columns(const Draws<float>& draws, const double*,
                   DrawColumns& columns) const override {
    for (std::int64_t d = 0; d < draws.count; ++d) {
      columns.locations.push_back(
          static_cast<double>(draws.outputs[d * draws.stride]));
      columns.log_scales.push_back(log_scale_of(draws, d));
    }
    return true;
  }

 private:
  /// Of the first target.
  static double log_scale_of(const Draws<float>& draws, std::int64_t draw) {
    const std::int64_t targets = draws.num_outputs / 2;
    return kernels::bounded_log_variance(static_cast<double>(
               draws.outputs[draw * draws.stride + targets])) /
           2;
  }
};

}  // namespace

std::unique_ptr<const Likelihood> make_predicted_noise(const Options&) {
  return std::make_unique<PredictedNoise>();
}

}  // namespace radir::likelihood
