#include <string>

#include "posterior/priors.h"
#include "posterior/radial_directional.h"
#include "radir/core/error.h"
#include "radir/math/vmf_sampling.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"

namespace radir::posterior {
namespace {

const Choices<math::VmfEstimator>& estimator_choices() {
  static const Choices<math::VmfEstimator> choices = {
      {math::VmfEstimator::Implicit, "implicit"},
      {math::VmfEstimator::Rejection, "rejection"},
      {math::VmfEstimator::ClosedForm0, "closed-form-0"},
      {math::VmfEstimator::ClosedForm1, "closed-form-1"}};
  return choices;
}

/// Makes the posterior that a shape allows: a group of length 1 has no
/// direction.
class RadialDirectionalFamily final
    : public FamilyOf<RadialDirectionalOptions, RadialDirectional> {
 public:
  using FamilyOf::FamilyOf;

  void check(const Options& all) const override {
    const auto& options = all.get<RadialDirectionalOptions>();
    if (!options.learn_prior) return;
    RADIR_CHECK(options.direction_prior != DirectionPrior::LocationAgnostic,
                ArgumentError, name(), " posterior: learn_prior does not fit ",
                "direction_prior location-agnostic: that prior follows the ",
                "mean direction of the posterior, so nothing limits the ",
                "concentration and it grows without end; choose ",
                "direction_prior mean-direction or uniform, or learn_prior ",
                "false with a direction_gap");
    RADIR_CHECK(options.direction_prior == DirectionPrior::Uniform ||
                    options.prior_concentration != 0.0,
                ArgumentError, name(), " posterior: learn_prior cannot start ",
                "at prior_concentration 0; give a larger one, or choose ",
                "direction_prior uniform");
  }

 protected:
  void make(const network::WeightShape& shape, const Options& options,
            std::unique_ptr<FamilyPosterior<float>>& result) const override {
    result = make_possible<float>(shape, options);
  }
  void make(const network::WeightShape& shape, const Options& options,
            std::unique_ptr<FamilyPosterior<double>>& result) const override {
    result = make_possible<double>(shape, options);
  }
  void make_prior(const network::WeightShape& shape, const Options& options,
                  std::unique_ptr<WeightPrior<float>>& result) const override {
    result = std::make_unique<RadialDirectionalPrior<float>>(
        shape, options.get<RadialDirectionalOptions>());
  }
  void make_prior(const network::WeightShape& shape, const Options& options,
                  std::unique_ptr<WeightPrior<double>>& result) const override {
    result = std::make_unique<RadialDirectionalPrior<double>>(
        shape, options.get<RadialDirectionalOptions>());
  }

 private:
  template <typename T>
  static std::unique_ptr<FamilyPosterior<T>> make_possible(
      const network::WeightShape& shape, const Options& options) {
    const auto& wanted = options.get<RadialDirectionalOptions>();
    const bool rows = shape.row_length() > 1;
    const bool columns = shape.column_length() > 1;
    if (!rows && !columns) return make_gaussian<T>(shape, wanted);

    RadialDirectionalOptions used = wanted;
    if (!rows) used.grouping = Grouping::Column;
    if (!columns) used.grouping = Grouping::Row;
    auto result = std::make_unique<RadialDirectional<T>>(shape, used);
    if (used.grouping != wanted.grouping) {
      result->set_note(std::string(" (asked for ") +
                       to_string(wanted.grouping) + ", but " +
                       (rows ? "columns" : "rows") + " have length 1)");
    }
    return result;
  }

  template <typename T>
  static std::unique_ptr<FamilyPosterior<T>> make_gaussian(
      const network::WeightShape& shape,
      const RadialDirectionalOptions& wanted) {
    GaussianOptions used;
    used.prior_scale = wanted.gaussian_prior_scale;
    used.learn_prior = wanted.learn_prior;
    used.initial_gain = wanted.initial_gain;
    used.initial_noise = wanted.initial_noise;
    auto result = family_of(used).make<T>(shape, used);
    result->set_note(std::string(" (asked for ") + to_string(wanted.grouping) +
                     " grouping, but rows and columns have length 1)");
    return result;
  }
};

}  // namespace

const Choices<DirectionPrior>& direction_prior_choices() {
  static const Choices<DirectionPrior> choices = {
      {DirectionPrior::LocationAgnostic, "location-agnostic"},
      {DirectionPrior::MeanDirection, "mean-direction"},
      {DirectionPrior::Uniform, "uniform"}};
  return choices;
}

const char* to_string(DirectionPrior prior) {
  return choice_name(direction_prior_choices(), prior);
}

void describe(SettingsVisitor& visit, RadialDirectionalOptions& options) {
  visit.choice({"grouping", "What has a length and a direction of its own", {}},
               options.grouping, grouping_choices());
  visit.number({"local_scale", "Scale of the prior of each radius", above(0)},
               options.local_scale);
  visit.number(
      {"degrees_of_freedom",
       "Degrees of freedom of the half-t prior of each radius", above(0)},
      options.degrees_of_freedom);
  visit.optional_number(
      {"column_degrees_of_freedom",
       "Those of the columns' radii; none: as the rows'", above(0)},
      options.column_degrees_of_freedom);
  visit.optional_number({"global_scale",
                         "Scale of the prior of the factor that all radii of "
                         "a layer share; none: no such factor",
                         above(0)},
                        options.global_scale);
  visit.choice({"direction_prior", "Centre of the prior of the directions", {}},
               options.direction_prior, direction_prior_choices());
  visit.number({"direction_gap",
                "1 minus the most likely cosine between a direction and the "
                "centre of its prior",
                inside(0, 1)},
               options.direction_gap);
  visit.optional_number({"prior_concentration",
                         "Concentration of the prior of the directions; none: "
                         "from direction_gap",
                         at_least(0)},
                        options.prior_concentration);
  visit.flag({"concentration_per_group",
              "One concentration per group instead of one per layer",
              {}},
             options.concentration_per_group);
  visit.flag({"learn_prior", "Learn the prior's numbers from the data", {}},
             options.learn_prior);
  visit.number({"gaussian_prior_scale",
                "Prior standard deviation of a single weight, which has no "
                "direction",
                above(0)},
               options.gaussian_prior_scale);
  visit.number(
      {"initial_gain",
       "Variance of the starting weights times the inputs of a unit", above(0)},
      options.initial_gain);
  visit.number({"initial_noise",
                "Standard deviation of the logarithm of each radius factor at "
                "the start",
                above(0)},
               options.initial_noise);
  visit.choice({"estimator", "Gradient estimator of the directions", {}},
               options.estimator, estimator_choices());
}

const Family& family_of(const RadialDirectionalOptions&) {
  static const RadialDirectionalFamily family(
      "radial-directional",
      "Random lengths times random directions, of rows, columns or both.");
  return family;
}

}  // namespace radir::posterior
