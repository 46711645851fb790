#pragma once

#include "radir/core/settings.h"
#include "radir/posterior/family.h"
#include "radir/posterior/options.h"

// A family of posteriors that the library does not know: what a user's own
// looks like. Public headers alone.

namespace radir::testing {

/// One independent Laplace distribution per weight, with a Laplace prior around
/// 0.
struct LaplaceOptions {
  double prior_scale = 0.5;
  double initial_gain = 2;
  double initial_noise = 0.05;
};

void describe(SettingsVisitor& visit, LaplaceOptions& options);
const posterior::Family& family_of(const LaplaceOptions&);

/// KL(Laplace(loc, scale) || Laplace(0, prior_scale)) in nats.
double laplace_kl(double loc, double scale, double prior_scale);

}  // namespace radir::testing
