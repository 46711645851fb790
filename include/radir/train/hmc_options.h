#pragma once

#include <cstdint>

#include "radir/core/settings.h"

namespace radir::train {

/// How the method "hmc" samples; see hmc.h.
struct HmcOptions {
  /// Iterations that adapt step size and masses; their draws are discarded.
  std::int64_t warmup = 200;
  /// Iterations after them.
  std::int64_t draws = 300;
  /// Draws that are kept of them, evenly spaced.
  std::int64_t kept = 50;
  /// Gradients of one iteration.
  std::int64_t leapfrog_steps = 100;
  /// Share of accepted proposals that the step size is adapted to.
  double acceptance = 0.8;
  /// Steps of Adam on the likelihood alone that find where a chain starts.
  std::int64_t start_steps = 2000;

  std::int64_t iterations() const { return warmup + draws; }
};

/// Lists the fields, see radir/core/settings.h.
void describe(SettingsVisitor& visit, HmcOptions& options);

}  // namespace radir::train
