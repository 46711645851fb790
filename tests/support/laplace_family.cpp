#include "support/laplace_family.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/family_posterior.h"

namespace radir::testing {
namespace {

using posterior::Arrays;
using posterior::Extent;

/// w = loc + exp(log_scale) e, e a standard Laplace number.
template <typename T>
class LaplacePosterior final : public posterior::FamilyPosterior<T> {
 public:
  LaplacePosterior(const network::WeightShape& shape,
                   const LaplaceOptions& options)
      : posterior::FamilyPosterior<T>(shape, options),
        own_(options),
        loc_(this->add_block("loc", Extent::Weight)),
        log_scale_(this->add_block("log_scale", Extent::Weight)),
        deviation_(static_cast<std::size_t>(shape.size())) {}

  std::string describe() const override {
    std::ostringstream text;
    text << "laplace, prior scale " << own_.prior_scale;
    return text.str();
  }

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override {
    this->draw_start(stream, own_.initial_gain, parameters[loc_]);
    std::fill_n(parameters[log_scale_], this->shape().size(),
                T(std::log(own_.initial_noise)));
  }

  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool*) override {
    kernels::fill_uniform(stream, 0, this->shape().size(), deviation_.data());
    for (std::size_t i = 0; i < deviation_.size(); ++i) {
      const T centred = deviation_[i] - T(0.5);
      const T size = -std::log1p(-2 * std::abs(centred));
      deviation_[i] =
          std::exp(parameters[log_scale_][i]) * std::copysign(size, centred);
      weight[i] = parameters[loc_][i] + deviation_[i];
    }
  }

  void backward(const Arrays<const T>&, const T*, const T* weight_gradient,
                const Arrays<T>& gradients, double, ThreadPool*) override {
    for (std::size_t i = 0; i < deviation_.size(); ++i) {
      gradients[loc_][i] += weight_gradient[i];
      gradients[log_scale_][i] += weight_gradient[i] * deviation_[i];
    }
  }

  double kl(const Arrays<const T>& parameters) override {
    double sum = 0;
    for (std::size_t i = 0; i < deviation_.size(); ++i) {
      sum +=
          laplace_kl(static_cast<double>(parameters[loc_][i]),
                     std::exp(static_cast<double>(parameters[log_scale_][i])),
                     own_.prior_scale);
    }
    return sum;
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    for (std::size_t i = 0; i < deviation_.size(); ++i) {
      const auto loc = static_cast<double>(parameters[loc_][i]);
      const double b = std::exp(static_cast<double>(parameters[log_scale_][i]));
      const double decay = std::exp(-std::abs(loc) / b);
      gradients[loc_][i] +=
          T(scale * std::copysign(1 - decay, loc) / own_.prior_scale);
      gradients[log_scale_][i] +=
          T(scale * (decay * (b + std::abs(loc)) / own_.prior_scale - 1));
    }
  }

  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override {
    const std::int64_t size = this->shape().size();
    if (mean != nullptr) std::copy_n(parameters[loc_], size, mean);
    for (std::int64_t i = 0; variance != nullptr && i < size; ++i) {
      variance[i] = 2 * std::exp(2 * parameters[log_scale_][i]);
    }
  }

 private:
  LaplaceOptions own_;
  std::size_t loc_;
  std::size_t log_scale_;
  std::vector<T> deviation_;  // of the last draw
};

}  // namespace

void describe(SettingsVisitor& visit, LaplaceOptions& options) {
  visit.number({"prior_scale", "Scale of the prior", above(0)},
               options.prior_scale);
  visit.number({"initial_gain",
                "Variance of the starting weights times the inputs of a unit",
                at_least(0)},
               options.initial_gain);
  visit.number({"initial_noise", "Scale of the weights at the start", above(0)},
               options.initial_noise);
}

const posterior::Family& family_of(const LaplaceOptions&) {
  static const posterior::FamilyOf<LaplaceOptions, LaplacePosterior> family(
      "laplace", "One independent Laplace distribution per weight.");
  return family;
}

// E|w| = |loc| + scale exp(-|loc| / scale), and both entropies are known.
double laplace_kl(double loc, double scale, double prior_scale) {
  return std::log(prior_scale / scale) - 1 +
         (std::abs(loc) + scale * std::exp(-std::abs(loc) / scale)) /
             prior_scale;
}

}  // namespace radir::testing
