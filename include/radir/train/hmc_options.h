#pragma once

#include <cstdint>

#include "radir/core/settings.h"

namespace radir::train {

/// How the methods "hmc" and "sghmc" sample; see hmc.h and sghmc.h. An
/// iteration of the second is a pass over the examples.
struct HmcOptions {
  /// Iterations that adapt step size and masses; their draws are discarded.
  std::int64_t warmup = 200;
  /// Iterations after them.
  std::int64_t draws = 300;
  /// Draws that are kept of them, evenly spaced.
  std::int64_t kept = 50;
  // Of "hmc":
  /// Gradients of one iteration.
  std::int64_t leapfrog_steps = 100;
  /// Share of accepted proposals that the step size is adapted to.
  double acceptance = 0.8;
  // Of both:
  /// Steps of Adam on the likelihood alone that find where a chain starts; of
  /// "hmc" at most, fewer where more of them fit noise.
  std::int64_t start_steps = 2000;
  // Of "sghmc", in units of the coordinates' deviations:
  /// The longest step.
  double step_size = 0.05;
  /// Share of the momentum that is lost over a unit of time.
  double friction = 1;

  std::int64_t iterations() const { return warmup + draws; }
  /// Whether the draw after so many iterations is kept.
  bool keeps(std::int64_t iterations) const {
    const std::int64_t done = iterations - warmup;
    const std::int64_t every = draws / kept;
    return done > 0 && done % every == 0 && done / every <= kept;
  }
};

/// Lists the fields, see radir/core/settings.h.
void describe(SettingsVisitor& visit, HmcOptions& options);

}  // namespace radir::train
