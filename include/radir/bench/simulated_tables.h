#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/data/table.h"
#include "radir/kernels/philox.h"
#include "radir/likelihood/predictive_mixture.h"

// Tables drawn from known distributions, so that predictions can be compared
// with the truth: its mean, its noise and its density.

namespace radir::bench {

/// Where the inputs of a row lie.
enum class Region {
  Inside,   ///< where the training rows are
  Gap,      ///< between training rows, where there are none
  Outside,  ///< beyond all training rows
};

/// "inside", "gap", "outside".
const char* to_string(Region region);

/// A distribution of the rows of a table.
struct SimulatedProcess {
  std::string name;         ///< "friedman-10"
  std::string description;  ///< the formula of the mean, and the noise
  std::int64_t inputs = 1;
  /// Those that test rows can be drawn from, Region::Inside first.
  std::vector<Region> regions = {Region::Inside};
  /// Writes the inputs of a row in one of the regions.
  std::function<void(kernels::PhiloxEngine&, Region, double* inputs)>
      draw_inputs;
  /// The distribution of the target given the inputs: its mean (location) and
  /// its noise, normal or Student's t.
  std::function<likelihood::MixtureComponent(const double* inputs)> target;
};

/// linear, sine-gap, friedman-10, friedman-30, heteroscedastic, heavy-tails.
const std::vector<SimulatedProcess>& simulated_processes();

/// Throws ArgumentError that suggests the nearest name.
const SimulatedProcess& find_process(const std::string& name);

/// Rows drawn from a process.
struct SimulatedRows {
  std::int64_t inputs_per_row = 1;
  std::vector<double> inputs;  ///< [row][input]
  std::vector<double> targets;
  /// Of each row: the distribution that its target was drawn from.
  std::vector<likelihood::MixtureComponent> truth;

  std::int64_t count() const {
    return static_cast<std::int64_t>(targets.size());
  }
  /// Columns x1, x2, ... and y.
  data::Table table() const;
};

/// Rows to train on, or rows of a region to test on; both use random numbers of
/// their own. Row i depends on (seed, i) alone, so that more rows begin with
/// the same ones. Throws ArgumentError unless 1 <= rows < 2^32 and the process
/// has the region.
SimulatedRows simulate_training(const SimulatedProcess& process,
                                std::int64_t rows, std::uint64_t seed);
SimulatedRows simulate_test(const SimulatedProcess& process, Region region,
                            std::int64_t rows, std::uint64_t seed);

}  // namespace radir::bench
