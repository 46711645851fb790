#include <algorithm>
#include <array>
#include <cmath>

#include "likelihood/kinds.h"
#include "radir/core/error.h"
#include "radir/kernels/likelihood.h"
#include "radir/math/constants.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

/// What a draw of the weights says of one target.
struct Parts {
  std::array<double, kernels::kMostNoiseParts> shares;
  std::array<double, kernels::kMostNoiseParts> means;
  std::array<double, kernels::kMostNoiseParts> log_variances;
};

class Mixture final : public TypedLikelihood<Mixture> {
 public:
  explicit Mixture(const Options& options) {
    check_settings("likelihood", options);
    outputs_.parts = options.parts;
    outputs_.min_log_variance = min_log_variance(options);
  }

  std::int64_t target_size(std::int64_t outputs) const override {
    RADIR_CHECK(outputs % (3 * outputs_.parts) == 0, ArgumentError,
                "likelihood: a mixture of ", outputs_.parts, " parts needs ",
                3 * outputs_.parts, " outputs per target, but the network has ",
                outputs);
    return outputs / (3 * outputs_.parts);
  }
  std::int64_t output_size(std::int64_t targets) const override {
    return 3 * outputs_.parts * targets;
  }
  std::string describe_outputs(const std::string& target) const override {
    return "means of the " + std::to_string(outputs_.parts) +
           " parts of a mixture, then their log variances (limit them to " +
           std::to_string(outputs_.min_log_variance) +
           " ... 4.605), then logits of their shares, of the " + target;
  }

  template <typename T>
  double loss_of(const kernels::LikelihoodData<T>& data,
                 const Targets<T>& targets, const double*, double*) const {
    return kernels::noise_mixture_loss(data, targets.values, outputs_);
  }

  template <typename T>
  void log_likelihoods_of(const Draws<T>& draws, const Targets<T>& target,
                          const double*, double* result) const {
    const std::int64_t width = draws.num_outputs / (3 * outputs_.parts);
    for (std::int64_t d = 0; d < draws.count; ++d) {
      result[d] = 0;
      for (std::int64_t t = 0; t < width; ++t) {
        const Parts parts = parts_of(draws, d, t);
        math::detail::LogSumExp<double> total;
        for (std::size_t k = 0; k < count(); ++k) {
          const double residual =
              static_cast<double>(target.values[t]) - parts.means[k];
          total.add(std::log(parts.shares[k]) - math::detail::kHalfLog2Pi -
                    (parts.log_variances[k] +
                     residual * residual * std::exp(-parts.log_variances[k])) /
                        2);
        }
        result[d] += total.value();
      }
    }
  }

  void add_components(
      const Draws<float>& draws, const double*,
      std::vector<MixtureComponent>& components) const override {
    for (std::int64_t d = 0; d < draws.count; ++d) {
      const Parts parts = parts_of(draws, d, 0);
      double mean = 0;
      for (std::size_t k = 0; k < count(); ++k) {
        mean += parts.shares[k] * parts.means[k];
      }
      for (std::size_t k = 0; k < count(); ++k) {
        MixtureComponent component;
        component.location = parts.means[k];
        component.scale = std::exp(parts.log_variances[k] / 2);
        component.weight = parts.shares[k];
        component.offset = parts.means[k] - mean;
        components.push_back(component);
      }
    }
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(outputs_.parts); }

  template <typename T>
  Parts parts_of(const Draws<T>& draws, std::int64_t draw,
                 std::int64_t target) const {
    const std::int64_t width = draws.num_outputs / (3 * outputs_.parts);
    const auto output = [&](std::size_t what, std::size_t k) {
      const auto at = static_cast<std::int64_t>(what * count() + k);
      return static_cast<double>(
          draws.outputs[draw * draws.stride + at * width + target]);
    };
    Parts parts;
    double largest = output(2, 0);
    for (std::size_t k = 1; k < count(); ++k) {
      largest = std::max(largest, output(2, k));
    }
    double total = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      parts.means[k] = output(0, k);
      parts.log_variances[k] = kernels::bounded_log_variance(
          output(1, k), outputs_.min_log_variance);
      parts.shares[k] = std::exp(output(2, k) - largest);
      total += parts.shares[k];
    }
    for (std::size_t k = 0; k < count(); ++k) parts.shares[k] /= total;
    return parts;
  }

  kernels::NoiseMixture outputs_;
};

}  // namespace

double min_log_variance(const Options& options) {
  if (options.least_scale == 0) return kernels::kMinLogVariance;
  return std::max(kernels::kMinLogVariance, 2 * std::log(options.least_scale));
}

std::unique_ptr<const Likelihood> make_mixture(const Options& options) {
  return std::make_unique<Mixture>(options);
}

}  // namespace radir::likelihood
