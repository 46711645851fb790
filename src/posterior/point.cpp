#include "radir/posterior/point.h"

#include <sstream>

#include "posterior/point_posterior.h"
#include "radir/core/text_stream.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {
namespace {

template <typename T>
class PlainPosterior final : public PointPosterior<T> {
 public:
  PlainPosterior(const network::WeightShape& shape, const PointOptions& options)
      : PointPosterior<T>(shape, options, options.initial_gain),
        penalty_(options.prior_scale) {}

  std::string describe() const override {
    const auto& options = this->options().template get<PointOptions>();
    std::ostringstream text = text_stream();
    text << "point weights";
    if (options.prior_scale) text << ", prior scale " << *options.prior_scale;
    return text.str();
  }

  double kl(const Arrays<const T>& parameters) override {
    return penalty_.value(this->shape().size(), this->weights(parameters));
  }

  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients) override {
    penalty_.backward(this->shape().size(), this->weights(parameters), scale,
                      this->weights(gradients));
  }

 private:
  L2Penalty penalty_;
};

class PointFamily final : public FamilyOf<PointOptions, PlainPosterior> {
 public:
  using FamilyOf::FamilyOf;

  Options bias_options(const Options& weight,
                       double prior_scale) const override {
    return point_bias_options(weight.get<PointOptions>().prior_scale,
                              prior_scale);
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
