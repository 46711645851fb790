#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"

// Simulation-based calibration (S. Talts, M. Betancourt, D. Simpson, A.
// Vehtari, A. Gelman, "Validating Bayesian inference algorithms with
// simulation-based calibration", arXiv:1804.06788). True values are drawn from
// the prior, data from the likelihood. If the posterior is exact, the rank of a
// true value among draws from the posterior is uniform; a posterior that is too
// narrow puts the truth first or last too often.

namespace radir::bench {

/// One simulated data set: the true values, and draws from the posterior that
/// was fitted to the data.
struct SbcSimulation {
  std::vector<double> truth;               ///< [quantity]
  std::vector<std::vector<double>> draws;  ///< [quantity][draw], independent
};

/// The ranks of one quantity over all simulations.
struct SbcQuantity {
  std::string name;
  std::vector<std::int64_t> histogram;  ///< of the ranks, bins of equal size
  double chi_square = 0;                ///< against equal counts
  /// Probability of at least this chi-square if the posterior is exact.
  double p_value = 0;
  /// Mean rank, from 0 (truth below all draws) to 1; 1/2 if the posterior is
  /// exact.
  double mean_rank = 0;
  /// Root mean square distance of the ranks from 1/2, relative to uniform
  /// ranks: above 1 the posterior is too narrow (or shifted), below 1 too wide.
  double spread = 0;
};

/// Runs `simulate` for 0 ... simulations - 1, in parallel with a pool, and
/// counts ranks. The result does not depend on the number of threads.
///
/// Throws ArgumentError unless there are at least 2 bins and 5 simulations per
/// bin, every simulation has the named quantities with the same number of
/// draws, and the number of draws plus 1 is a multiple of the bins (then every
/// bin has the same number of possible ranks).
std::vector<SbcQuantity> simulation_based_calibration(
    const std::vector<std::string>& names, std::int64_t simulations,
    std::int64_t bins,
    const std::function<SbcSimulation(std::int64_t simulation)>& simulate,
    ThreadPool* pool = nullptr);

/// Probability that a chi-square variable with so many degrees of freedom is at
/// least `value`. Throws DomainError unless value >= 0 and degrees >= 1.
double chi_square_tail(double value, int degrees);

}  // namespace radir::bench
