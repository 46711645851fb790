#pragma once

#include <cstdint>
#include <vector>

#include "radir/train/hmc_options.h"
#include "radir/train/method.h"
#include "radir/train/posterior_density.h"

namespace radir::train {

/// One chain of stochastic-gradient Hamiltonian Monte Carlo (T. Chen, E. B. Fox
/// and C. Guestrin, 2014) on the posterior of a network, for data that are too
/// large for Hmc. Its draws are biased: there is no acceptance test, and the
/// noise of the gradients is corrected for by an estimate.
///
/// A step moves the coordinates x and their momentum p by the gradient of a
/// batch, scaled to all N examples,
///   p <- a (p - h gradient) + noise,  x <- x + h p / mass,  a = exp(-friction
///   h),
/// where the noise has the variance mass (1 - a^2) less what the gradients
/// bring. An iteration is a pass over the examples. The warm-up begins with
/// Adam on the likelihood. The mass of a coordinate is the mean squared
/// gradient of batches of B examples times B / N, which estimates the
/// curvature, plus the 1 of the prior. The step h is HmcOptions::step_size, or
/// where gradients are noisier as much as makes their noise half of all. After
/// the warm-up it falls along half a cosine before each draw that is kept, to a
/// tenth.
///
/// One noise level follows the squared residuals of the last pass; the gradient
/// is that of Hmc, with the level integrated out, where they are exact.
///
/// The state's parameters are the coordinates of a PosteriorDensity.
template <typename T>
class Sghmc final : public Method<T> {
 public:
  explicit Sghmc(const MethodSetup& setup);

  std::int64_t batch_size() const override { return batch_size_; }
  TrainingState<T> initial_state(std::uint64_t seed) const override;
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) override;
  bool is_sampler() const override { return true; }
  void keep_draw(const TrainingState<T>& state, std::vector<T>& kept) override;

 private:
  using Energy = typename PosteriorDensity<T>::Energy;

  Energy estimate(TrainingState<T>& state, double own_rate);
  void adam_step(TrainingState<T>& state);
  void move(TrainingState<T>& state);
  void adapt(TrainingState<T>& state) const;
  void set_mass(TrainingState<T>& state, T squares_count) const;
  double step_size(std::int64_t step) const;

  std::int64_t data_count_;
  std::int64_t batch_size_;
  std::int64_t steps_per_pass_;
  std::int64_t warm_steps_;
  std::int64_t adam_steps_;
  HmcOptions options_;
  PosteriorDensity<T> density_;
  std::vector<double> own_;  // parameters of the likelihood's own
  std::vector<T> gradient_;
  std::vector<T> noise_;
};

}  // namespace radir::train
