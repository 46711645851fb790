#include "radir/posterior/gaussian.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "posterior/priors.h"
#include "radir/core/text_stream.h"
#include "radir/kernels/gaussian.h"
#include "radir/kernels/philox.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"

namespace radir::posterior {
namespace {

const Choices<GaussianOptions::Noise>& noise_choices() {
  static const Choices<GaussianOptions::Noise> choices = {
      {GaussianOptions::Noise::Weights, "weights"},
      {GaussianOptions::Noise::Activations, "activations"}};
  return choices;
}

template <typename T>
class GaussianPosterior final : public FamilyPosterior<T> {
 public:
  GaussianPosterior(const network::WeightShape& shape,
                    const GaussianOptions& options)
      : FamilyPosterior<T>(shape, options),
        own_(options),
        loc_(this->add_block("loc", Extent::Weight)),
        log_scale_(this->add_block("log_scale", Extent::Weight)),
        deviation_(static_cast<std::size_t>(shape.size())) {
    if (options.learn_prior) {
      prior_log_scale_ = this->add_block("prior_log_scale", Extent::One);
    }
  }

  std::string describe() const override {
    std::ostringstream text = text_stream();
    text << "gaussian, prior scale " << (own_.learn_prior ? "learnt from " : "")
         << own_.prior_scale;
    if (noise() == Noise::Activations) text << ", noise in activations";
    return text.str();
  }

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override {
    this->draw_start(stream, own_.initial_gain, parameters[loc_]);
    // Noise relative to the spread of the weights; weights that all start at
    // zero (a bias) have none to relate to.
    const double spread = this->spread_of(own_.initial_gain);
    const double noise = own_.initial_noise * (spread > 0 ? spread : 1);
    std::fill_n(parameters[log_scale_], this->shape().size(),
                T(std::log(noise)));
    if (prior_log_scale_) {
      *parameters[*prior_log_scale_] = T(std::log(own_.prior_scale));
    }
  }

  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool* pool) override {
    kernels::gaussian_sample(this->shape().size(), parameters[loc_],
                             parameters[log_scale_], stream, deviation_.data(),
                             weight, pool);
  }

  void backward(const Arrays<const T>&, const T*, const T* weight_gradient,
                const Arrays<T>& gradients, double, ThreadPool* pool) override {
    kernels::gaussian_backward(this->shape().size(), deviation_.data(),
                               weight_gradient, gradients[loc_],
                               gradients[log_scale_], pool);
  }

  double kl(const Arrays<const T>& parameters) override {
    return kernels::gaussian_kl(this->shape().size(), parameters[loc_],
                                parameters[log_scale_],
                                prior_log_scale(parameters));
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    double prior_gradient = 0;
    const kernels::GaussianKlGradient<T> gradient{
        scale, gradients[loc_], gradients[log_scale_], &prior_gradient};
    kernels::gaussian_kl(this->shape().size(), parameters[loc_],
                         parameters[log_scale_], prior_log_scale(parameters),
                         &gradient);
    if (prior_log_scale_) *gradients[*prior_log_scale_] += T(prior_gradient);
  }

  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override {
    const std::int64_t size = this->shape().size();
    if (mean != nullptr) std::copy_n(parameters[loc_], size, mean);
    for (std::int64_t i = 0; variance != nullptr && i < size; ++i) {
      variance[i] = std::exp(2 * parameters[log_scale_][i]);
    }
  }

  Noise noise() const override {
    return own_.noise == GaussianOptions::Noise::Activations
               ? Noise::Activations
               : Noise::Weights;
  }

  void moments_backward(const Arrays<const T>& parameters,
                        const T* mean_gradient, const T* variance_gradient,
                        const Arrays<T>& gradients) override {
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      gradients[loc_][i] += mean_gradient[i];
      gradients[log_scale_][i] +=
          2 * std::exp(2 * parameters[log_scale_][i]) * variance_gradient[i];
    }
  }

 private:
  double prior_log_scale(const Arrays<const T>& parameters) const {
    return prior_log_scale_
               ? static_cast<double>(*parameters[*prior_log_scale_])
               : std::log(own_.prior_scale);
  }

  GaussianOptions own_;
  std::size_t loc_;
  std::size_t log_scale_;
  std::optional<std::size_t> prior_log_scale_;  // learnt
  std::vector<T> deviation_;                    // of the last draw
};

class GaussianFamily final
    : public FamilyOf<GaussianOptions, GaussianPosterior> {
 public:
  using FamilyOf::FamilyOf;

  Options bias_options(const Options& weight,
                       double prior_scale) const override {
    GaussianOptions options = posterior::bias_options(prior_scale);
    options.noise = weight.get<GaussianOptions>().noise;
    return options;
  }

 protected:
  void make_prior(const network::WeightShape& shape, const Options& options,
                  std::unique_ptr<WeightPrior<float>>& result) const override {
    result = std::make_unique<NormalPrior<float>>(
        shape, options.get<GaussianOptions>());
  }
  void make_prior(const network::WeightShape& shape, const Options& options,
                  std::unique_ptr<WeightPrior<double>>& result) const override {
    result = std::make_unique<NormalPrior<double>>(
        shape, options.get<GaussianOptions>());
  }
};

}  // namespace

void describe(SettingsVisitor& visit, GaussianOptions& options) {
  visit.number({"prior_scale", "Standard deviation of the prior", above(0)},
               options.prior_scale);
  visit.flag({"learn_prior", "Learn the prior's scale from the data", {}},
             options.learn_prior);
  visit.number({"initial_gain",
                "Variance of the starting weights times the inputs of a unit",
                at_least(0)},
               options.initial_gain);
  visit.number({"initial_noise",
                "Standard deviation of the weights at the start relative to "
                "their spread",
                above(0)},
               options.initial_noise);
  visit.choice({"noise", "Where a training step draws its noise", {}},
               options.noise, noise_choices());
}

const Family& family_of(const GaussianOptions&) {
  static const GaussianFamily family("gaussian",
                                     "One independent normal per weight.");
  return family;
}

GaussianOptions bias_options(double prior_scale) {
  GaussianOptions options;
  options.prior_scale = prior_scale;
  options.initial_gain = 0;
  options.initial_noise = 0.01;
  return options;
}

}  // namespace radir::posterior
