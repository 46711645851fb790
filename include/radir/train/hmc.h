#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "radir/train/hmc_options.h"
#include "radir/train/method.h"
#include "radir/train/posterior_density.h"

namespace radir::train {

/// One chain of Hamiltonian Monte Carlo on the exact posterior of a network
/// (R. M. Neal, "MCMC using Hamiltonian dynamics", 2011), for data that fit
/// into one step.
///
/// A step is one iteration: a new momentum, leapfrog steps, and a proposal that
/// is accepted or not. The first finds a start by Adam, with as many steps
/// as are best for examples that it does not see. In the warm-up the step size
/// is adapted by dual averaging (Hoffman and Gelman, 2014), and the mass of
/// each coordinate is the mean of its squared gradient, whose expectation is
/// the curvature of the energy. After it, evenly spaced draws are kept, each a
/// set of parameters of a model of spec_of_draws().
///
/// The state's parameters are the coordinates of a PosteriorDensity.
template <typename T>
class Hmc final : public Method<T> {
 public:
  explicit Hmc(const MethodSetup& setup);

  std::int64_t batch_size() const override { return data_count_; }
  TrainingState<T> initial_state(std::uint64_t seed) const override;
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) override;
  bool is_sampler() const override { return true; }
  void keep_draw(const TrainingState<T>& state, std::vector<T>& kept) override;

 private:
  using Energy = typename PosteriorDensity<T>::Energy;

  /// One proposal.
  struct Trajectory {
    Energy energy;          // where the chain is after it
    double acceptance = 0;  // probability that it is taken
    bool accepted = false;
    bool diverged = false;
  };

  void find_start(const Batch<T>& batch, TrainingState<T>& state);
  void descend(const Batch<T>& data, std::int64_t steps,
               std::vector<T>& coordinates,
               const std::function<void(std::int64_t)>& look);
  Trajectory propose(const TrainingState<T>& state, double step_size,
                     std::vector<T>* squared_gradients);
  void adapt(TrainingState<T>& state, double acceptance) const;

  std::int64_t data_count_;
  HmcOptions options_;
  PosteriorDensity<T> density_;
  std::vector<T> position_;  // of the proposal
  std::vector<T> momentum_;
  std::vector<T> gradient_;
  std::vector<T> squares_;  // sums over a trajectory
};

/// What a chain did after its warm-up.
struct ChainStatistics {
  /// Mean probability; none of a method without an acceptance test.
  std::optional<double> acceptance;
  std::int64_t divergences = 0;  ///< proposals whose energy error ran away
  double step_size = 0;
};

/// Of a chain of the method "hmc"; nothing is known of another.
template <typename T>
ChainStatistics chain_statistics(const TrainingState<T>& state,
                                 const HmcOptions& options);

}  // namespace radir::train
