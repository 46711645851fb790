#include "radir/posterior/dropout.h"

#include <algorithm>
#include <sstream>

#include "posterior/point_posterior.h"
#include "radir/core/text_stream.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/point.h"

namespace radir::posterior {
namespace {

template <typename T>
class DropoutPosterior final : public FamilyPosterior<T> {
 public:
  DropoutPosterior(const network::WeightShape& shape,
                   const DropoutOptions& options)
      : FamilyPosterior<T>(shape, options),
        own_(options),
        penalty_(options.prior_scale),
        loc_(this->add_block("loc", Extent::Weight)),
        mask_(static_cast<std::size_t>(shape.columns())) {}

  std::string describe() const override {
    std::ostringstream text = text_stream();
    text << "dropout of " << 100 * own_.rate << " % of the inputs";
    if (own_.prior_scale) text << ", prior scale " << *own_.prior_scale;
    return text.str();
  }

  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters) override {
    this->draw_start(stream, own_.initial_gain, parameters[loc_]);
  }

  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool*) override {
    kernels::fill_uniform(stream, 0, this->shape().columns(), mask_.data());
    for (T& factor : mask_) {
      factor = factor < T(own_.rate) ? T(0) : T(1 / (1 - own_.rate));
    }
    for_each_weight([&](std::int64_t i, T factor) {
      weight[i] = parameters[loc_][i] * factor;
    });
  }

  void backward(const Arrays<const T>&, const T*, const T* weight_gradient,
                const Arrays<T>& gradients, double, ThreadPool*) override {
    for_each_weight([&](std::int64_t i, T factor) {
      gradients[loc_][i] += weight_gradient[i] * factor;
    });
  }

  double kl(const Arrays<const T>& parameters) override {
    return penalty_.value(this->shape().size(), parameters[loc_]);
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    penalty_.backward(this->shape().size(), parameters[loc_], scale,
                      gradients[loc_]);
  }

  void moments(const Arrays<const T>& parameters, T* mean,
               T* variance) override {
    const std::int64_t size = this->shape().size();
    if (mean != nullptr) std::copy_n(parameters[loc_], size, mean);
    const T factor = T(own_.rate / (1 - own_.rate));
    for (std::int64_t i = 0; variance != nullptr && i < size; ++i) {
      variance[i] = factor * parameters[loc_][i] * parameters[loc_][i];
    }
  }

  Noise noise() const override { return Noise::Inputs; }
  double dropout_rate() const override { return own_.rate; }

  void moments_backward(const Arrays<const T>&, const T* mean_gradient,
                        const T*, const Arrays<T>& gradients) override {
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      gradients[loc_][i] += mean_gradient[i];
    }
  }

 private:
  /// visit(index of the weight, factor of its column in the last draw).
  template <typename Visit>
  void for_each_weight(const Visit& visit) const {
    const network::WeightShape& shape = this->shape();
    std::int64_t i = 0;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      const std::int64_t first = row / shape.out * shape.in;
      for (std::int64_t column = first; column < first + shape.in; ++column) {
        const T factor = mask_[static_cast<std::size_t>(column)];
        for (std::int64_t k = 0; k < shape.kernel; ++k) visit(i++, factor);
      }
    }
  }

  DropoutOptions own_;
  L2Penalty penalty_;
  std::size_t loc_;
  std::vector<T> mask_;  // factors of the columns in the last draw
};

class DropoutFamily final : public FamilyOf<DropoutOptions, DropoutPosterior> {
 public:
  using FamilyOf::FamilyOf;

  Options bias_options(const Options& weight,
                       double prior_scale) const override {
    return point_bias_options(weight.get<DropoutOptions>().prior_scale,
                              prior_scale);
  }
};

}  // namespace

void describe(SettingsVisitor& visit, DropoutOptions& options) {
  visit.number(
      {"rate", "Probability with which an input is dropped", inside(0, 1)},
      options.rate);
  visit.optional_number({"prior_scale",
                         "Standard deviation of the prior behind the L2 "
                         "penalty; none: no penalty",
                         above(0)},
                        options.prior_scale);
  visit.number({"initial_gain",
                "Variance of the starting weights times the inputs of a unit",
                at_least(0)},
               options.initial_gain);
}

const Family& family_of(const DropoutOptions&) {
  static const DropoutFamily family(
      "dropout",
      "Weights without noise behind inputs that are dropped at random.");
  return family;
}

}  // namespace radir::posterior
