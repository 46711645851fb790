#include "radir/train/hmc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/train/trainer.h"

namespace radir::train {
namespace {

/// Streams of random numbers, far from those of the weights and the trainer.
constexpr std::uint32_t kMomentumStream = 0x40000010;
constexpr std::uint32_t kChoiceStream = 0x40000011;

/// Arrays of the state beside the coordinates.
constexpr const char* kMass = "mass";
constexpr const char* kSquares = "squared_gradients";  // sums of a window
constexpr const char* kAdaptation = "adaptation";

/// What stands where in the array kAdaptation.
constexpr std::size_t kLogStep = 0;      // of the warm-up
constexpr std::size_t kMeanLogStep = 1;  // its average, used after the warm-up
constexpr std::size_t kMeanError = 2;    // of the acceptance, average
constexpr std::size_t kCount = 3;        // iterations of these averages
constexpr std::size_t kGradientCount = 4;  // gradients in kSquares
constexpr std::size_t kAcceptanceSum = 5;  // after the warm-up
constexpr std::size_t kDivergences = 6;    // after the warm-up
constexpr std::size_t kAdaptationSize = 7;

/// Rate of Adam, which finds a start; the examples that judge it are one in so
/// many, after every so many steps.
constexpr double kStartRate = 0.01;
constexpr std::int64_t kStartPart = 5;
constexpr std::int64_t kStartLook = 20;
/// Added to the seed of the shuffle that sets these examples aside.
constexpr std::uint64_t kStartSeed = 0x7374617274u;

constexpr double kFirstStep = 0.005;
/// A larger error of the energy is a divergence.
constexpr double kLargestError = 1000;

/// Dual averaging as in Hoffman and Gelman (2014), section 3.2.1.
template <typename T>
void adapt_step(double error, T* values) {
  constexpr double kShrinkage = 0.05;
  constexpr double kDelay = 10;
  constexpr double kDecay = 0.75;
  const double target = std::log(10 * kFirstStep);
  const double count = static_cast<double>(values[kCount]) + 1;
  double mean_error = static_cast<double>(values[kMeanError]);
  mean_error += (error - mean_error) / (count + kDelay);
  const double log_step = target - std::sqrt(count) / kShrinkage * mean_error;
  const double share = std::pow(count, -kDecay);
  const double mean = static_cast<double>(values[kMeanLogStep]);
  values[kCount] = static_cast<T>(count);
  values[kMeanError] = static_cast<T>(mean_error);
  values[kLogStep] = static_cast<T>(log_step);
  values[kMeanLogStep] = static_cast<T>(share * log_step + (1 - share) * mean);
}

/// The averages start again, for other masses.
template <typename T>
void restart(T* values) {
  values[kLogStep] = values[kMeanLogStep] =
      static_cast<T>(std::log(10 * kFirstStep));
  values[kMeanError] = T(0);
  values[kCount] = T(0);
}

template <typename T>
double kinetic_energy(const std::vector<T>& momentum,
                      const std::vector<T>& mass) {
  double sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const auto p = static_cast<double>(momentum[i]);
    sum += p * p / static_cast<double>(mass[i]);
  }
  return sum / 2;
}

}  // namespace

void describe(SettingsVisitor& visit, HmcOptions& options) {
  visit.integer({"warmup", "Iterations of a chain before its draws count",
                 between(10, 1e9)},
                options.warmup);
  visit.integer(
      {"draws", "Iterations of a chain after the warm-up", between(1, 1e9)},
      options.draws);
  visit.integer({"kept", "Draws of a chain that are kept", between(1, 1e6)},
                options.kept);
  visit.integer({"leapfrog_steps", "Gradients of an iteration of a chain",
                 between(1, 1e6)},
                options.leapfrog_steps);
  visit.number({"acceptance",
                "Share of accepted proposals that the step size is adapted to",
                inside(0, 1)},
               options.acceptance);
  visit.integer(
      {"start_steps", "Most steps of Adam that find where a chain starts",
       between(0, 1e9)},
      options.start_steps);
  visit.number({"step_size",
                "Longest step of the method sghmc, in units of the deviation "
                "of a coordinate",
                inside(0, 1)},
               options.step_size);
  visit.number({"friction",
                "Friction of the method sghmc: a higher one allows longer "
                "steps, which then go less far",
                above(0)},
               options.friction);
}

template <typename T>
Hmc<T>::Hmc(const MethodSetup& setup)
    : data_count_(setup.data_count),
      options_(setup.hmc),
      density_(setup.model, setup.data_count, setup.execution),
      position_(static_cast<std::size_t>(density_.size())),
      momentum_(position_.size()),
      gradient_(position_.size()),
      squares_(position_.size()) {
  check_settings("hmc", options_);
  RADIR_CHECK(options_.kept <= options_.draws, ArgumentError,
              "hmc: cannot keep ", options_.kept, " of ", options_.draws,
              " draws");
}

template <typename T>
TrainingState<T> Hmc<T>::initial_state(std::uint64_t seed) const {
  TrainingState<T> state;
  state.seed = seed;
  state.parameters.resize(position_.size());
  density_.initialize(seed, state.parameters.data());
  auto& slots = state.optimizer.slots;
  slots[kMass].assign(position_.size(), T(1));
  slots[kSquares].assign(position_.size(), T(0));
  std::vector<T>& values = slots[kAdaptation];
  values.assign(kAdaptationSize, T(0));
  values[kLogStep] = values[kMeanLogStep] =
      static_cast<T>(std::log(kFirstStep));
  return state;
}

/// Adam on the likelihood alone, the scales left where they are: from a random
/// start a chain may lose small effects to the prior before it sees them. A
/// chain does not find its way back from weights that fit noise, so Adam takes
/// as many steps as are best for examples that it does not see.
template <typename T>
void Hmc<T>::find_start(const Batch<T>& batch, TrainingState<T>& state) {
  std::vector<std::int64_t> rows =
      shuffled(data_count_, state.seed + kStartSeed, 0);
  for (std::int64_t& row : rows) row = batch.row(row);
  Batch<T> judges = batch;
  judges.indices = rows.data();
  judges.count = data_count_ / kStartPart;
  Batch<T> fitted = batch;
  fitted.indices = rows.data() + judges.count;
  fitted.count = data_count_ - judges.count;

  std::int64_t best = options_.start_steps;
  double least = std::numeric_limits<double>::infinity();
  std::vector<T> trial = state.parameters;
  if (judges.count > 0) {
    descend(fitted, options_.start_steps, trial, [&](std::int64_t steps) {
      density_.set_data(judges);
      const double nll = density_.gradient(trial.data(), gradient_.data()).nll;
      density_.set_data(fitted);
      if (!(nll < least)) return;
      least = nll;
      best = steps;
    });
  }
  descend(batch, best, state.parameters, nullptr);
}

/// So many steps of Adam, whose rate falls to 0 at the end of all that are
/// allowed. `look` is called now and then, and at the end.
template <typename T>
void Hmc<T>::descend(const Batch<T>& data, std::int64_t steps,
                     std::vector<T>& coordinates,
                     const std::function<void(std::int64_t)>& look) {
  const std::vector<bool>& is_scale = density_.is_scale();
  std::vector<T> first(coordinates.size(), T(0));
  std::vector<T> second(coordinates.size(), T(0));
  density_.set_data(data);
  for (std::int64_t step = 0; step < steps; ++step) {
    density_.gradient(coordinates.data(), gradient_.data());
    const double left = 1 - static_cast<double>(step) /
                                static_cast<double>(options_.start_steps);
    const T rate = static_cast<T>(kStartRate * left);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      if (is_scale[i]) continue;
      // Less the gradient of the prior.
      const T gradient = gradient_[i] - coordinates[i];
      first[i] = T(0.9) * first[i] + T(0.1) * gradient;
      second[i] = T(0.99) * second[i] + T(0.01) * gradient * gradient;
      coordinates[i] -= rate * first[i] / (std::sqrt(second[i]) + T(1e-8));
    }
    const bool looks = (step + 1) % kStartLook == 0 || step + 1 == steps;
    if (look && looks) look(step + 1);
  }
}

template <typename T>
typename Hmc<T>::Trajectory Hmc<T>::propose(const TrainingState<T>& state,
                                            double step_size,
                                            std::vector<T>* squares) {
  const std::vector<T>& mass = state.optimizer.slots.at(kMass);
  const std::size_t size = mass.size();
  const auto step = static_cast<std::uint64_t>(state.step);
  kernels::fill_normal({state.seed, kMomentumStream, step}, 0,
                       static_cast<std::int64_t>(size), momentum_.data());
  double choice[2];  // of the step size, of the proposal
  kernels::fill_uniform({state.seed, kChoiceStream, step}, 0, 2, choice);
  for (std::size_t i = 0; i < size; ++i) momentum_[i] *= std::sqrt(mass[i]);
  // Steps of one length could go round in circles.
  const T length = static_cast<T>(step_size * (0.8 + 0.4 * choice[0]));

  Trajectory result;
  position_ = state.parameters;
  result.energy = density_.gradient(position_.data(), gradient_.data());
  const double before = result.energy.total() + kinetic_energy(momentum_, mass);
  Energy energy;
  for (std::int64_t leap = 0; leap < options_.leapfrog_steps; ++leap) {
    for (std::size_t i = 0; i < size; ++i) {
      momentum_[i] -= length / 2 * gradient_[i];
      position_[i] += length * momentum_[i] / mass[i];
    }
    energy = density_.gradient(position_.data(), gradient_.data());
    if (!std::isfinite(energy.total())) break;
    for (std::size_t i = 0; i < size; ++i) {
      momentum_[i] -= length / 2 * gradient_[i];
    }
    if (squares == nullptr) continue;
    for (std::size_t i = 0; i < size; ++i) {
      (*squares)[i] += gradient_[i] * gradient_[i];
    }
  }
  const double error =
      energy.total() + kinetic_energy(momentum_, mass) - before;
  result.diverged = !(error < kLargestError);
  result.acceptance = result.diverged ? 0 : std::exp(std::min(0.0, -error));
  result.accepted = choice[1] < result.acceptance;
  if (result.accepted) result.energy = energy;
  return result;
}

template <typename T>
StepLoss Hmc<T>::step(TrainingState<T>& state, const Batch<T>& batch,
                      const StepSettings& settings) {
  RADIR_CHECK(state.parameters.size() == position_.size(), ArgumentError,
              "hmc: the state has ", state.parameters.size(),
              " coordinates, the model ", position_.size());
  RADIR_CHECK(batch.count == data_count_ && settings.data_count == data_count_,
              ArgumentError, "hmc: a step needs all ", data_count_,
              " examples, but the batch has ", batch.count, " of ",
              settings.data_count);
  density_.set_data(batch);
  TrainingState<T> next = state;
  if (next.step == 0) find_start(batch, next);

  const bool warm = next.step < options_.warmup;
  std::vector<T>& values = next.optimizer.slots.at(kAdaptation);
  std::fill(squares_.begin(), squares_.end(), T(0));
  const double step_size =
      std::exp(static_cast<double>(values[warm ? kLogStep : kMeanLogStep]));
  const Trajectory trajectory =
      propose(next, step_size, warm ? &squares_ : nullptr);
  RADIR_CHECK(std::isfinite(trajectory.energy.total()), NumericalError,
              "hmc: the density is not finite at iteration ", next.step + 1,
              " (seed ", next.seed, "); standardise the inputs first");
  if (trajectory.accepted) next.parameters = position_;
  if (warm) {
    adapt(next, trajectory.acceptance);
  } else {
    values[kAcceptanceSum] += static_cast<T>(trajectory.acceptance);
    if (trajectory.diverged) values[kDivergences] += T(1);
  }
  ++next.step;
  state = std::move(next);
  const auto examples = static_cast<double>(data_count_);
  return {trajectory.energy.nll / examples, trajectory.energy.prior / examples};
}

/// The warm-up has five equal parts. The first finds the bulk of the posterior;
/// at the end of each of the next three the masses become the mean squared
/// gradients of that part.
template <typename T>
void Hmc<T>::adapt(TrainingState<T>& state, double acceptance) const {
  auto& slots = state.optimizer.slots;
  std::vector<T>& values = slots.at(kAdaptation);
  std::vector<T>& sums = slots.at(kSquares);
  adapt_step(options_.acceptance - acceptance, values.data());
  bool finite = true;
  for (T square : squares_) finite = finite && std::isfinite(square);
  if (finite) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += squares_[i];
    values[kGradientCount] += static_cast<T>(options_.leapfrog_steps);
  }
  const std::int64_t part = options_.warmup / 5;
  const std::int64_t done = state.step + 1;
  if (done % part != 0 || done / part > 4) return;
  if (done > part && values[kGradientCount] > T(0)) {
    std::vector<T>& mass = slots.at(kMass);
    for (std::size_t i = 0; i < mass.size(); ++i) {
      // 1 is the precision of the prior.
      mass[i] = sums[i] / values[kGradientCount] + T(1);
    }
    restart(values.data());
  }
  std::fill(sums.begin(), sums.end(), T(0));
  values[kGradientCount] = T(0);
}

template <typename T>
void Hmc<T>::keep_draw(const TrainingState<T>& state, std::vector<T>& kept) {
  if (!options_.keeps(state.step)) return;
  density_.gradient(state.parameters.data(), gradient_.data());
  kept.insert(kept.end(), density_.parameters().begin(),
              density_.parameters().end());
}

template <typename T>
ChainStatistics chain_statistics(const TrainingState<T>& state,
                                 const HmcOptions& options) {
  ChainStatistics result;
  const auto found = state.optimizer.slots.find(kAdaptation);
  if (found == state.optimizer.slots.end()) return result;
  const std::vector<T>& values = found->second;
  const std::int64_t draws = state.step - options.warmup;
  if (draws > 0) {
    result.acceptance = static_cast<double>(values[kAcceptanceSum]) /
                        static_cast<double>(draws);
  }
  result.divergences = static_cast<std::int64_t>(values[kDivergences]);
  result.step_size = std::exp(static_cast<double>(values[kMeanLogStep]));
  return result;
}

template class Hmc<float>;
template class Hmc<double>;
template ChainStatistics chain_statistics(const TrainingState<float>&,
                                          const HmcOptions&);
template ChainStatistics chain_statistics(const TrainingState<double>&,
                                          const HmcOptions&);

}  // namespace radir::train
