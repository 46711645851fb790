#include "radir/posterior/point.h"

#include <sstream>

#include "posterior/point_posterior.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {
namespace {

template <typename T>
class PlainPosterior final : public PointPosterior<T> {
 public:
  PlainPosterior(const network::WeightShape& shape, const PointOptions& options)
      : PointPosterior<T>(shape, options, options.initial_gain),
        precision_(options.prior_scale
                       ? 1 / (*options.prior_scale * *options.prior_scale)
                       : 0) {}

  std::string describe() const override {
    const auto& options = this->options().template get<PointOptions>();
    std::ostringstream text;
    text << "point weights";
    if (options.prior_scale) text << ", prior scale " << *options.prior_scale;
    return text.str();
  }

  double kl(const Arrays<const T>& parameters) override {
    if (precision_ == 0) return 0;
    const T* const weight = this->weights(parameters);
    double squares = 0;
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      squares +=
          static_cast<double>(weight[i]) * static_cast<double>(weight[i]);
    }
    return precision_ * squares / 2;
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    if (precision_ == 0) return;
    const T factor = T(scale * precision_);
    const T* const weight = this->weights(parameters);
    T* const gradient = this->weights(gradients);
    for (std::int64_t i = 0; i < this->shape().size(); ++i) {
      gradient[i] += factor * weight[i];
    }
  }

 private:
  double precision_;  // of the prior
};

class PointFamily final : public FamilyOf<PointOptions, PlainPosterior> {
 public:
  using FamilyOf::FamilyOf;

  Options bias_options(const Options& weight,
                       double prior_scale) const override {
    PointOptions options;
    options.initial_gain = 0;
    if (weight.get<PointOptions>().prior_scale) {
      options.prior_scale = prior_scale;
    }
    return options;
  }
};

}  // namespace

void describe(SettingsVisitor& visit, PointOptions& options) {
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

const Family& family_of(const PointOptions&) {
  static const PointFamily family(
      "point", "Weights without noise, with an L2 penalty or none.");
  return family;
}

}  // namespace radir::posterior
