#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "radir/bench/sbc.h"
#include "radir/core/settings.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"
#include "radir/network/plain_network.h"
#include "radir/train/hmc_options.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

// Simulation-based calibration of small networks.

namespace radir::bench {

/// A network with its prior, and what is asked of its posterior.
struct SbcProblem {
  /// One output, Gaussian likelihood.
  train::ModelSpec spec;
  std::int64_t rows = 50;  ///< of a data set; inputs are uniform on [-1, 1]
  /// Inputs at which the value of the network is a quantity, [probe][input].
  std::vector<float> probes;
  std::int64_t draws = 99;  ///< from the posterior

  std::int64_t probe_count() const;
  /// "f(0.5, -0.5)", ..., "noise": the quantities. The last one is the standard
  /// deviation of the noise.
  std::vector<std::string> quantities() const;
};

/// A simulated data set.
struct SbcData {
  std::vector<float> inputs;   ///< [row][input]
  std::vector<float> targets;  ///< [row]

  train::DataView<float> view() const;
};

/// Fits a model to data and returns draws of the quantities from its posterior,
/// [quantity][draw], SbcProblem::draws of each and independent.
using SbcFit = std::function<std::vector<std::vector<double>>(
    const SbcProblem& problem, const SbcData& data, std::uint64_t seed)>;

/// A fit by train::fit with these options (their seed is not read); draws from
/// the variational posterior.
SbcFit variational_fit(const train::TrainerOptions& options);

/// Samples the exact posterior by one chain (train/hmc.h). HmcOptions::draws
/// are the iterations between two draws.
SbcFit sampled_fit(const train::HmcOptions& options);

/// A draw of all weights and biases from the prior. Throws UnsupportedError for
/// a family other than the Gaussian or the radial-directional one, and for a
/// prior that is no distribution: learnt from the data, or with directions
/// around those of the posterior or of the start.
network::PlainNetwork<float> draw_prior(const train::Model& model,
                                        kernels::PhiloxEngine& random);

/// Simulation number `index`: draws a network and a noise from the prior, data
/// from both, and fits.
SbcSimulation simulate(const SbcProblem& problem, const SbcFit& fit,
                       std::uint64_t seed, std::int64_t index);

/// A posterior to be tested: a problem and how it is fitted.
struct SbcMethod {
  std::string name;         ///< "gaussian"
  std::string description;  ///< a noun phrase
  SbcProblem problem;
  SbcFit fit;
};

struct BenchSbcOptions {
  std::vector<std::string> methods;  ///< empty: all
  std::int64_t simulations = 200;
  std::int64_t rows = 50;  ///< of each data set
  std::int64_t bins = 10;  ///< of the histogram of the ranks
  std::int64_t steps = 5000;
  std::uint64_t seed = 0;
};

void describe(SettingsVisitor& visit, BenchSbcOptions& options);

/// Networks of 2 inputs and 5 hidden units with a normal prior of the weights,
/// or a uniform one of their directions: fitted (gaussian, rdp) and sampled
/// (hmc-gaussian, hmc).
std::vector<SbcMethod> sbc_methods(const BenchSbcOptions& options);

struct BenchSbcResult {
  std::string method;
  std::vector<SbcQuantity> quantities;
};

/// Throws ArgumentError for an unknown method or a number outside its range.
std::vector<BenchSbcResult> bench_sbc(const BenchSbcOptions& options,
                                      ThreadPool* pool = nullptr);

}  // namespace radir::bench
