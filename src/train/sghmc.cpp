#include "radir/train/sghmc.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/math/constants.h"

namespace radir::train {
namespace {

/// Streams of random numbers, far from those of the weights and the trainer.
constexpr std::uint32_t kNoiseStream = 0x40000012;

/// Arrays of the state beside the coordinates.
constexpr const char* kMass = "mass";
constexpr const char* kMomentum = "momentum";
constexpr const char* kSquares = "squared_gradients";  // see adam_step, adapt
constexpr const char* kOwn = "likelihood";  // its own parameters, if any

/// Parts of the warm-up.
constexpr std::int64_t kParts = 5;
/// Of a step after the warm-up, at the draw that is kept.
constexpr double kLastStep = 0.1;
/// Of the noise of a step, what the gradients may bring.
constexpr double kMostGradientNoise = 0.5;
constexpr double kAdamRate = 0.01;
constexpr double kAdamDecay = 0.99;

/// The largest batch, at most that wanted, which leaves no short one at the end
/// of a pass: its gradient, scaled to all examples, would be very noisy.
std::int64_t even_batch(std::int64_t wanted, std::int64_t examples) {
  std::int64_t batch = std::min(wanted, examples);
  for (;; --batch) {
    const std::int64_t left = examples % batch;
    if (left == 0 || 4 * left >= 3 * batch) return batch;
  }
}

}  // namespace

template <typename T>
Sghmc<T>::Sghmc(const MethodSetup& setup)
    : data_count_(setup.data_count),
      batch_size_(even_batch(setup.batch_size, setup.data_count)),
      steps_per_pass_((data_count_ + batch_size_ - 1) / batch_size_),
      warm_steps_(setup.hmc.warmup * steps_per_pass_),
      adam_steps_(std::max<std::int64_t>(
          1, std::min(setup.hmc.start_steps, warm_steps_ / kParts))),
      options_(setup.hmc),
      density_(setup.model, batch_size_, setup.execution),
      own_(density_.initial_own(data_count_)),
      gradient_(static_cast<std::size_t>(density_.size())),
      noise_(gradient_.size()) {
  check_settings("sghmc", options_);
  RADIR_CHECK(options_.kept <= options_.draws, ArgumentError,
              "sghmc: cannot keep ", options_.kept, " of ", options_.draws,
              " draws");
}

template <typename T>
TrainingState<T> Sghmc<T>::initial_state(std::uint64_t seed) const {
  TrainingState<T> state;
  state.seed = seed;
  state.parameters.resize(gradient_.size());
  density_.initialize(seed, state.parameters.data());
  auto& slots = state.optimizer.slots;
  slots[kMass].assign(gradient_.size(), T(1));
  slots[kMomentum].assign(gradient_.size(), T(0));
  slots[kSquares].assign(gradient_.size(), T(0));
  const auto own = density_.initial_own(data_count_);
  if (!own.empty()) slots[kOwn].assign(own.begin(), own.end());
  return state;
}

/// The energy at the state, its gradient in gradient_; the likelihood's own
/// parameters follow the batch.
template <typename T>
typename Sghmc<T>::Energy Sghmc<T>::estimate(TrainingState<T>& state,
                                             double own_rate) {
  const auto kept = state.optimizer.slots.find(kOwn);
  if (kept != state.optimizer.slots.end()) {
    std::copy(kept->second.begin(), kept->second.end(), own_.begin());
  }
  return density_.estimate(state.parameters.data(), data_count_, own_rate, own_,
                           gradient_.data());
}

/// On the likelihood alone, the scales left where they are, as Hmc starts. The
/// momentum and the squared gradients of the state are Adam's averages.
template <typename T>
void Sghmc<T>::adam_step(TrainingState<T>& state) {
  const std::vector<bool>& is_scale = density_.is_scale();
  std::vector<T>& first = state.optimizer.slots.at(kMomentum);
  std::vector<T>& second = state.optimizer.slots.at(kSquares);
  const double left =
      1 - static_cast<double>(state.step) / static_cast<double>(adam_steps_);
  const T rate = static_cast<T>(kAdamRate * left);
  const T decay = static_cast<T>(kAdamDecay);
  for (std::size_t i = 0; i < gradient_.size(); ++i) {
    // Less the gradient of the prior.
    const T gradient =
        gradient_[i] - (is_scale[i] ? T(0) : state.parameters[i]);
    first[i] = T(0.9) * first[i] + T(0.1) * gradient;
    second[i] = decay * second[i] + (1 - decay) * gradient * gradient;
    if (is_scale[i]) continue;
    state.parameters[i] -= rate * first[i] / (std::sqrt(second[i]) + T(1e-8));
  }
}

template <typename T>
double Sghmc<T>::step_size(std::int64_t step) const {
  const double excess =
      static_cast<double>(data_count_) / static_cast<double>(batch_size_) - 1;
  const double most = 2 * kMostGradientNoise * options_.friction;
  const double size =
      excess * options_.step_size > most ? most / excess : options_.step_size;
  if (step < warm_steps_) return size;
  const std::int64_t cycle = options_.draws / options_.kept * steps_per_pass_;
  const double done = static_cast<double>((step - warm_steps_) % cycle + 1) /
                      static_cast<double>(cycle);
  const double share = (1 + std::cos(math::detail::kPi * done)) / 2;
  return size * (kLastStep + (1 - kLastStep) * share);
}

template <typename T>
void Sghmc<T>::move(TrainingState<T>& state) {
  const std::vector<T>& mass = state.optimizer.slots.at(kMass);
  std::vector<T>& momentum = state.optimizer.slots.at(kMomentum);
  const double h = step_size(state.step);
  const double kept = std::exp(-options_.friction * h);
  kernels::fill_normal(
      {state.seed, kNoiseStream, static_cast<std::uint64_t>(state.step)}, 0,
      static_cast<std::int64_t>(noise_.size()), noise_.data());
  // Of the gradients of batches, in units of the mass less that of the prior.
  const double of_gradients =
      kept * kept * h * h *
      (static_cast<double>(data_count_) / static_cast<double>(batch_size_) - 1);
  const T length = static_cast<T>(h);
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const auto m = static_cast<double>(mass[i]);
    const double variance = m * (1 - kept * kept) - (m - 1) * of_gradients;
    momentum[i] =
        static_cast<T>(kept) * (momentum[i] - length * gradient_[i]) +
        static_cast<T>(std::sqrt(std::max(0.0, variance))) * noise_[i];
    state.parameters[i] += length * momentum[i] / mass[i];
  }
}

/// From the mean of so many squared gradients. The momentum starts again.
template <typename T>
void Sghmc<T>::set_mass(TrainingState<T>& state, T squares_count) const {
  auto& slots = state.optimizer.slots;
  const T share =
      static_cast<T>(batch_size_) / static_cast<T>(data_count_) / squares_count;
  std::vector<T>& squares = slots.at(kSquares);
  for (std::size_t i = 0; i < squares.size(); ++i) {
    slots.at(kMass)[i] = share * squares[i] + T(1);
  }
  std::fill(squares.begin(), squares.end(), T(0));
  std::fill(slots.at(kMomentum).begin(), slots.at(kMomentum).end(), T(0));
}

/// The warm-up has five equal parts, the first of them with Adam. At the end of
/// each of the next three the masses follow the gradients of that part.
template <typename T>
void Sghmc<T>::adapt(TrainingState<T>& state) const {
  const std::int64_t done = state.step + 1;
  const std::int64_t part = warm_steps_ / kParts;
  std::vector<T>& squares = state.optimizer.slots.at(kSquares);
  if (state.step >= part) {
    for (std::size_t i = 0; i < squares.size(); ++i) {
      squares[i] += gradient_[i] * gradient_[i];
    }
  }
  if (done == adam_steps_) {
    const double count = static_cast<double>(adam_steps_);
    set_mass(state, static_cast<T>(1 - std::pow(kAdamDecay, count)));
  }
  if (done % part == 0 && done > part && done <= (kParts - 1) * part) {
    set_mass(state, static_cast<T>(part));
  }
}

template <typename T>
StepLoss Sghmc<T>::step(TrainingState<T>& state, const Batch<T>& batch,
                        const StepSettings& settings) {
  RADIR_CHECK(state.parameters.size() == gradient_.size(), ArgumentError,
              "sghmc: the state has ", state.parameters.size(),
              " coordinates, the model ", gradient_.size());
  RADIR_CHECK(settings.data_count == data_count_, ArgumentError,
              "sghmc: samples the posterior of ", data_count_,
              " examples, but the step is one of ", settings.data_count);
  density_.set_data(batch);
  // The noise level is that of about the last pass.
  const Energy energy = estimate(state, static_cast<double>(batch.count) /
                                            static_cast<double>(data_count_));
  RADIR_CHECK(std::isfinite(energy.total()), NumericalError,
              "sghmc: the density is not finite at step ", state.step + 1,
              " (seed ", state.seed, "); take a smaller step_size, and ",
              "standardise the inputs first");
  const auto own = state.optimizer.slots.find(kOwn);
  if (own != state.optimizer.slots.end()) {
    std::transform(own_.begin(), own_.end(), own->second.begin(),
                   [](double value) { return static_cast<T>(value); });
  }
  if (state.step < adam_steps_) {
    adam_step(state);
  } else {
    move(state);
  }
  if (state.step < warm_steps_) adapt(state);
  ++state.step;
  const auto examples = static_cast<double>(data_count_);
  return {energy.nll / examples, energy.prior / examples};
}

template <typename T>
void Sghmc<T>::keep_draw(const TrainingState<T>& state, std::vector<T>& kept) {
  if (state.step % steps_per_pass_ != 0 ||
      !options_.keeps(state.step / steps_per_pass_)) {
    return;
  }
  TrainingState<T> copy = state;
  estimate(copy, 0);
  kept.insert(kept.end(), density_.parameters().begin(),
              density_.parameters().end());
}

template class Sghmc<float>;
template class Sghmc<double>;

}  // namespace radir::train
