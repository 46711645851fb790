#include <array>
#include <cmath>
#include <limits>

#include "likelihood/kinds.h"
#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/math/constants.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

/// Of the log of the narrow deviation, for standardised targets; of the log of
/// how much wider the other is, less 1: half of them are 2.5 to 3.6 times as
/// wide; and of the logit of its share: half of them are 0.12 to 0.26. With
/// wider priors some chains fit a part of the rows closely and take the others
/// for outliers (docs/sampling.md).
constexpr std::array<OwnPrior, 3> kPriors = {
    {{-1.2, 1.5}, {0.7, 0.4}, {-1.5, 0.7}}};

/// From the own parameters.
struct Noise : kernels::TwoNormals {
  explicit Noise(const double* own) : excess(std::exp(own[1])) {
    scale = std::exp(own[0]);
    ratio = 1 + excess;
    share = 1 / (1 + std::exp(-own[2]));
  }

  double excess;
};

class TwoNormals final : public TypedLikelihood<TwoNormals> {
 public:
  std::int64_t target_size(std::int64_t outputs) const override {
    return outputs;
  }
  std::int64_t output_size(std::int64_t targets) const override {
    return targets;
  }
  std::string describe_outputs(const std::string& target) const override {
    return "mean of the " + target;
  }

  std::vector<const char*> parameter_names() const override {
    return {"log_scale", "log_excess_ratio", "logit_share"};
  }
  void initialize(std::int64_t /*numbers*/, double* own) const override {
    for (std::size_t i = 0; i < kPriors.size(); ++i) own[i] = kPriors[i].mean;
  }
  std::vector<OwnPrior> own_priors() const override {
    return {kPriors.begin(), kPriors.end()};
  }

  /// The negative log density of the prior less its least: a fit takes the mode
  /// of the own parameters.
  double kl(const double* own) const override {
    double sum = 0;
    for (std::size_t i = 0; i < kPriors.size(); ++i) {
      const double z = (own[i] - kPriors[i].mean) / kPriors[i].deviation;
      sum += z * z / 2;
    }
    return sum;
  }
  void kl_backward(const double* own, double scale,
                   double* own_gradient) const override {
    for (std::size_t i = 0; i < kPriors.size(); ++i) {
      const double deviation = kPriors[i].deviation;
      own_gradient[i] +=
          scale * (own[i] - kPriors[i].mean) / (deviation * deviation);
    }
  }

  bool scale_noise(double factor, double* own) const override {
    own[0] += std::log(factor) / 2;
    return true;
  }

  template <typename T>
  double loss_of(const kernels::LikelihoodData<T>& data,
                 const Targets<T>& targets, const double* own,
                 double* own_gradient) const {
    const Noise noise(own);
    const bool is_usual = noise.scale > 0 && std::isfinite(noise.scale) &&
                          std::isfinite(noise.ratio) && noise.share > 0 &&
                          noise.share < 1;
    // A chain may step that far.
    if (!is_usual) return std::numeric_limits<double>::infinity();
    const auto result = kernels::two_normals_loss(data, targets.values, noise);
    own_gradient[0] += data.scale * result.log_scale_gradient;
    own_gradient[1] +=
        data.scale * noise.excess / noise.ratio * result.log_ratio_gradient;
    own_gradient[2] += data.scale * result.logit_share_gradient;
    return result.loss;
  }

  template <typename T>
  [[noreturn]] double marginal_loss_of(const kernels::LikelihoodData<T>&,
                                       const Targets<T>&, double*) const {
    detail::throw_error<UnsupportedError>(
        "likelihood: the own parameters of two normal distributions are not ",
        "integrated out; draw them under own_priors()");
  }

  template <typename T>
  void log_likelihoods_of(const Draws<T>& draws, const Targets<T>& target,
                          const double* own, double* result) const {
    const Noise noise(own);
    const double log_narrow = std::log1p(-noise.share);
    const double log_wide = std::log(noise.share / noise.ratio);
    const double constant = math::detail::kHalfLog2Pi + std::log(noise.scale);
    for (std::int64_t d = 0; d < draws.count; ++d) {
      const T* outputs = draws.outputs + d * draws.stride;
      result[d] = 0;
      for (std::int64_t t = 0; t < draws.num_outputs; ++t) {
        const double r = (static_cast<double>(target.values[t]) -
                          static_cast<double>(outputs[t])) /
                         noise.scale;
        const double in_wide = r / noise.ratio;
        math::detail::LogSumExp<double> total;
        total.add(log_narrow - r * r / 2);
        total.add(log_wide - in_wide * in_wide / 2);
        result[d] += total.value() - constant;
      }
    }
  }

  void add_components(
      const Draws<float>& draws, const double* own,
      std::vector<MixtureComponent>& components) const override {
    const Noise noise(own);
    MixtureComponent narrow;
    narrow.scale = noise.scale;
    narrow.weight = 1 - noise.share;
    MixtureComponent wide;
    wide.scale = noise.ratio * noise.scale;
    wide.weight = noise.share;
    for (std::int64_t d = 0; d < draws.count; ++d) {
      narrow.location = wide.location =
          static_cast<double>(draws.outputs[d * draws.stride]);
      components.push_back(narrow);
      components.push_back(wide);
    }
  }
};

}  // namespace

std::unique_ptr<const Likelihood> make_two_normals(const Options&) {
  return std::make_unique<TwoNormals>();
}

}  // namespace radir::likelihood
