#include "radir/posterior/options.h"

#include <cmath>

#include "radir/core/error.h"

namespace radir::posterior {
namespace {

void check_positive(double value, const char* name) {
  RADIR_CHECK(value > 0 && std::isfinite(value), ArgumentError,
              "posterior options: ", name, " must be finite and > 0, but is ",
              value);
}

}  // namespace

const char* to_string(Family family) {
  return family == Family::Gaussian ? "gaussian" : "radial-directional";
}

const char* to_string(Grouping grouping) {
  switch (grouping) {
    case Grouping::Row:
      return "row";
    case Grouping::Column:
      return "column";
    case Grouping::Double:
      break;
  }
  return "double";
}

const char* to_string(DirectionPrior prior) {
  switch (prior) {
    case DirectionPrior::MeanDirection:
      return "mean-direction";
    case DirectionPrior::Uniform:
      return "uniform";
    case DirectionPrior::LocationAgnostic:
      break;
  }
  return "location-agnostic";
}

Options bias_options(double prior_scale) {
  Options options;
  options.family = Family::Gaussian;
  options.gaussian_prior_scale = prior_scale;
  options.initial_gain = 0;
  options.initial_noise = 0.01;
  return options;
}

void check(const Options& options) {
  check_positive(options.local_scale, "local_scale");
  check_positive(options.degrees_of_freedom, "degrees_of_freedom");
  if (options.column_degrees_of_freedom) {
    check_positive(*options.column_degrees_of_freedom,
                   "column_degrees_of_freedom");
  }
  if (options.global_scale) {
    check_positive(*options.global_scale, "global_scale");
  }
  RADIR_CHECK(options.direction_gap > 0 && options.direction_gap < 1,
              ArgumentError, "posterior options: direction_gap is 1 minus a ",
              "cosine and must lie between 0 and 1, but is ",
              options.direction_gap);
  if (options.prior_concentration) {
    RADIR_CHECK(*options.prior_concentration >= 0 &&
                    std::isfinite(*options.prior_concentration),
                ArgumentError, "posterior options: prior_concentration must ",
                "be finite and >= 0, but is ", *options.prior_concentration);
  }
  check_positive(options.gaussian_prior_scale, "gaussian_prior_scale");
  RADIR_CHECK(options.initial_gain > 0 || (options.initial_gain == 0 &&
                                           options.family == Family::Gaussian),
              ArgumentError, "posterior options: initial_gain must be > 0 ",
              "(or 0 in the Gaussian family), but is ", options.initial_gain);
  check_positive(options.initial_noise, "initial_noise");
}

}  // namespace radir::posterior
