#pragma once

#include "radir/likelihood/predictive_mixture.h"

namespace radir::likelihood {

double variance_of(const MixtureComponent& c);

/// Log density of Student's t at 0, of scale 1.
double log_density_at_centre(double degrees_of_freedom);

/// `centre` is log_density_at_centre of its degrees of freedom.
double log_density_of(const MixtureComponent& c, double centre, double value);

/// log of the mean density of a component from `low` to `high`.
double log_mean_density_of(const MixtureComponent& c, double centre, double low,
                           double high);

}  // namespace radir::likelihood
