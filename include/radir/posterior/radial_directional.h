#pragma once

#include <cstdint>
#include <optional>

#include "radir/core/settings.h"
#include "radir/kernels/rdp.h"
#include "radir/math/vmf_sampling.h"
#include "radir/posterior/grouping.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// The prior of the directions, a von Mises-Fisher distribution of a given
/// concentration around ...
enum class DirectionPrior {
  LocationAgnostic,  ///< ... the posterior's own mean direction
  MeanDirection,     ///< ... the direction the network started with
  Uniform,           ///< nothing: concentration 0
};

const Choices<DirectionPrior>& direction_prior_choices();
const char* to_string(DirectionPrior prior);

/// Random lengths times random directions, of rows, columns or both (the weight
/// is then the elementwise product of the two). A group of one weight has no
/// direction: the other grouping takes its place, or the Gaussian family for a
/// single weight.
struct RadialDirectionalOptions {
  Grouping grouping = Grouping::Double;

  /// Scale of the half-t prior of each radius: the smaller, the more groups are
  /// pruned.
  double local_scale = 1;
  /// Its degrees of freedom. 1 is the half-Cauchy; more make the tail lighter,
  /// so that a radius far above the scale must be worth more: twice as many,
  /// twice the price of its logarithm.
  double degrees_of_freedom = 1;
  /// Those of the columns' radii, where they are not the rows'. A unit's row in
  /// one layer and its column in the next should have the same: else its scale
  /// moves to the cheaper side.
  std::optional<double> column_degrees_of_freedom;
  /// Scale of the half-Cauchy prior of the factor all radii of a layer share;
  /// no value: there is no such factor.
  std::optional<double> global_scale = 1;

  DirectionPrior direction_prior = DirectionPrior::LocationAgnostic;
  /// The prior's concentration is the one at which the cosine to the mean
  /// direction peaks at 1 - direction_gap ...
  double direction_gap = 1e-3;
  /// ... unless it is given here.
  std::optional<double> prior_concentration;
  /// One posterior concentration per group instead of one per layer.
  bool concentration_per_group = false;

  /// Learn the prior's scales and concentration along with the posterior
  /// (empirical Bayes). Uniform directions have no concentration, so only the
  /// scales are learnt. Not with location-agnostic directions: their prior
  /// follows the posterior, and the concentration would grow without end.
  bool learn_prior = false;

  /// Prior standard deviation of a single weight, which has no direction.
  double gaussian_prior_scale = 1;

  /// Variance of the weights at the start, times the number of inputs of a
  /// unit: 2 suits ReLU (He et al. 2015), 1 a linear output.
  double initial_gain = 2;
  /// Standard deviation of each radius factor's logarithm at the start.
  double initial_noise = 0.1;

  math::VmfEstimator estimator = math::VmfEstimator::Implicit;
};

/// Log of the prior's concentration of directions of a length; -infinity for
/// the uniform law.
double prior_log_concentration(const RadialDirectionalOptions& options,
                               std::int64_t length);
/// Of the prior of the radii of the rows, or of the columns.
double degrees_of_freedom(const RadialDirectionalOptions& options, bool is_row);

void describe(SettingsVisitor& visit, RadialDirectionalOptions& options);
const Family& family_of(const RadialDirectionalOptions&);

}  // namespace radir::posterior
