#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/example_order.h"
#include "kernels/cuda/layer_step.h"
#include "kernels/cuda/loss_step.h"
#include "kernels/cuda/quad.h"
#include "kernels/cuda/weight_gradient.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/precision_step.h"
#include "radir/kernels/training_plan.h"

// The training of one network by one team, step by step as train::fit and
// train::CompiledStep do it. The same source runs on the CPU (SerialTeam), as a
// block of a CUDA kernel (BlockTeam) and as several (GridTeam).

namespace radir::kernels {
inline namespace RADIR_ISA {

/// One network of a TrainingRequest, in the memory of the team's device.
template <typename T>
struct NetworkView {
  const StepNumbers* numbers;
  const T* inputs;
  const T* targets;
  std::uint64_t seed;
  NetworkMemory<T> memory;
  T* first_moment;
  T* second_moment;
  ExampleOrder order;
  bool order_is_kept;  ///< from the run that ended where this one begins
  EpochLoss* reports;
  TrainingOutcome* outcome;
};

/// Adds one, whichever member of the team calls.
RADIR_HOST_DEVICE inline void count_up(std::int64_t* counter) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull);
#else
  ++*counter;
#endif
}

template <typename T, typename Team>
class NetworkTraining {
 public:
  RADIR_HOST_DEVICE NetworkTraining(const Team& team, const TrainingPlan& plan,
                                    const NetworkView<T>& network)
      : team_(team), plan_(plan), network_(network), memory_(network.memory) {}

  /// The steps [begin, end), counted from 0, or as far as the numbers stay
  /// finite.
  RADIR_HOST_DEVICE void run(std::int64_t begin, std::int64_t end) {
    if (network_.outcome->failed_step != 0) return;
    epoch_ = begin / plan_.batches + 1;
    int batch = static_cast<int>(begin % plan_.batches);
    team_.task(0, [&] {
      at(memory_, OfStep::EpochNll) = network_.outcome->epoch_nll;
    });
    // A copy: what a function is given the address of leaves the registers.
    const ExampleOrder order = network_.order;
    if (!network_.order_is_kept) {
      order.shuffle(team_, epoch_, plan_.batches);
      network_.order.turn(team_);
      order.shuffle(team_, epoch_ + 1, batch);
    }
    if (begin < end) next_ = network_.numbers[begin];
    for (std::int64_t step = begin; step < end; ++step) {
      now_ = next_;
      // Asked for long before it is needed.
      if (step + 1 < end) next_ = network_.numbers[step + 1];
      if (!take_step(step, batch)) return;
      if (++batch < plan_.batches) continue;
      batch = 0;
      ++epoch_;
      network_.order.turn(team_);
    }
    if (begin >= end) return;
    team_.task(0, [&] {
      network_.outcome->nll = at(memory_, OfStep::Loss);
      network_.outcome->epoch_nll = at(memory_, OfStep::EpochNll);
    });
  }

 private:
  /// Tasks of long work meet the warps that short loops leave idle: the last
  /// ones.
  static constexpr int kTasks = 8;
  static constexpr int kLastTask = kTasks - 1;

  RADIR_HOST_DEVICE bool take_step(std::int64_t step, int batch) {
    const int rest = plan_.rows - batch * plan_.batch;
    examples_ = rest < plan_.batch ? rest : plan_.batch;
    stream_ = {network_.seed, 0, static_cast<std::uint64_t>(step)};
    prepare(batch);
    team_.sync();
    draw(batch);
    forward(batch);
    backward(batch);
    finish_gradient();
    return update(step, batch);
  }

  /// body(weight) for all weights and biases.
  template <typename Body>
  RADIR_HOST_DEVICE static void for_each_weight(const TrainingPlan& plan,
                                                const Body& body) {
    // One loop, so that the body is compiled once.
    RADIR_NOT_UNROLLED
    for (int i = 0; i < 2 * plan.layers; ++i) {
      const LayerPlan& layer = plan.layer[i / 2];
      if (i % 2 == 1 && !layer.has_bias) continue;
      body(i % 2 == 0 ? layer.weight : layer.bias);
    }
  }

  template <typename Body>
  RADIR_HOST_DEVICE void for_each_side_of_all(const Body& body) const {
    for_each_weight(plan_, [&](const WeightPlan& weight) {
      for_each_side(weight, memory_, body);
    });
  }

  RADIR_HOST_DEVICE static bool is_normal(const WeightPlan& weight) {
    return weight.groups() == 0;
  }

  /// All that needs nothing but the parameters.
  RADIR_HOST_DEVICE void prepare(int batch) {
    const double kl_scale = now_.kl_weight / plan_.rows;
    int turn = 0;
    // The longest loops first; the others fill the gaps that they leave.
    for_each_weight(plan_, [&](const WeightPlan& weight) {
      draw_noise(team_, weight, memory_, stream_, turn);
      if (!is_normal(weight)) return;
      start_normal_gradient(team_, weight, memory_, kl_scale, turn);
      turn = team_.turn_after(turn, weight.size());
    });
    for_each_side_of_all([&](const SideMemory<T>& side) {
      start_gradient(team_, side, kl_scale, turn);
      turn = team_.turn_after(turn, side.groups + side.concentrations());
    });
    network_.order.pick(team_, epoch_ + 1, batch, turn);
    gather(batch, team_.turn_after(turn, plan_.batch));
  }

  /// The examples of the batch, a few numbers of one an item; zeros up to a
  /// whole number of quads.
  RADIR_HOST_DEVICE void gather(int batch, int turn) const {
    constexpr int kAtOnce = 8;
    const int width = plan_.inputs + plan_.targets;
    const int padded = quads_of(examples_) * kQuad;
    T* const input = memory_.scratch + plan_.input;
    T* const target = memory_.scratch + plan_.target;
    const auto copy = [&](int item) {
      const int part = item / padded;
      const int example = item - part * padded;
      const bool is_there = example < examples_;
      const std::int64_t row =
          is_there ? network_.order.current.get(batch * plan_.batch + example)
                   : 0;
      const T* const inputs = network_.inputs + row * plan_.inputs;
      const T* const targets = network_.targets + row * plan_.targets;
      const int first = part * kAtOnce;
      T found[kAtOnce];  // all are asked for before the first is stored
      for (int k = 0; k < kAtOnce; ++k) {
        const int column = first + k;
        found[k] = 0;
        if (!is_there || column >= width) continue;
        found[k] = column < plan_.inputs ? inputs[column]
                                         : targets[column - plan_.inputs];
      }
      for (int k = 0; k < kAtOnce; ++k) {
        const int column = first + k;
        if (column < plan_.inputs) {
          input[column * plan_.stride + example] = found[k];
        } else if (column < width) {
          target[(column - plan_.inputs) * plan_.stride + example] = found[k];
        }
      }
    };
    team_.for_each(padded * ((width + kAtOnce - 1) / kAtOnce), copy, turn);
  }

  RADIR_HOST_DEVICE void draw(int batch) {
    int task = 0;
    bool is_short = false;
    exchange(batch, 0, kLastTask);
    int turn = 0;
    for_each_side_of_all([&](const SideMemory<T>& side) {
      draw_global_radius(team_, side, task++ % kTasks);
      sum_pairs(team_, side, turn);
      turn = team_.turn_after_sums(turn, side.groups, side.length);
      is_short = is_short || side.length < kShortDirection;
    });
    turn = 0;
    for_each_weight(plan_, [&](const WeightPlan& weight) {
      if (!is_normal(weight)) return;
      combine(team_, weight, memory_, turn);
      turn = team_.turn_after(turn, weight.size());
    });
    team_.sync();
    if (is_short) {
      for_each_side_of_all([&](const SideMemory<T>& side) {
        if (side.length < kShortDirection) sum_residuals(team_, side);
      });
      team_.sync();
    }
    exchange(batch, 1, kLastTask - 1);
    if (plan_.likelihood == TrainedLikelihood::Gaussian) {
      team_.task(kLastTask, [&] {
        prepare_loss(plan_, memory_, now_.kl_weight / plan_.rows);
      });
    }
    turn = 0;
    for_each_side_of_all([&](const SideMemory<T>& side) {
      draw_groups(team_, side, stream_, turn,
                  [&] { count_up(&network_.outcome->unaccepted); });
      turn = team_.turn_after(turn, side.groups);
    });
    team_.sync();
    turn = 0;
    for_each_weight(plan_, [&](const WeightPlan& weight) {
      if (is_normal(weight)) return;
      combine(team_, weight, memory_, turn);
      turn = team_.turn_after(turn, weight.size());
    });
    team_.sync();
  }

  RADIR_HOST_DEVICE void forward(int batch) {
    RADIR_NOT_UNROLLED
    for (int i = 0; i < plan_.layers; ++i) {
      exchange_with_layer(batch, i);
      forward_layer(team_, plan_, memory_, i, examples_);
      team_.sync();
    }
    loss();
    team_.sync();
  }

  RADIR_HOST_DEVICE void loss() {
    T* const outputs =
        memory_.scratch + plan_.layer[plan_.layers - 1].activations;
    switch (plan_.likelihood) {
      case TrainedLikelihood::Gaussian:
        gaussian_loss(team_, plan_, memory_, outputs, examples_);
        break;
      case TrainedLikelihood::PredictedNoise:
        predicted_noise_loss(team_, plan_, memory_, outputs, examples_);
        break;
      case TrainedLikelihood::Categorical:
        categorical_loss(team_, plan_, memory_, outputs, examples_);
        break;
    }
  }

  RADIR_HOST_DEVICE void backward(int batch) {
    RADIR_NOT_UNROLLED
    for (int i = plan_.layers - 1; i >= 0; --i) {
      exchange_with_layer(batch, 2 * plan_.layers - 1 - i);
      backward_layer(team_, plan_, memory_, i, examples_);
    }
  }

  /// Parts of the exchanges of a step: two while the weights are drawn, one
  /// with each layer of a large network's two passes, one with each pass of a
  /// small one's.
  RADIR_HOST_DEVICE int exchange_parts() const {
    return 2 + 2 * (trains_as_large<Team>(plan_) ? plan_.layers : 1);
  }

  RADIR_HOST_DEVICE void exchange(int batch, int part, int task) const {
    network_.order.exchange(team_, batch, part, exchange_parts(), task);
  }

  /// Layers are counted through both passes.
  RADIR_HOST_DEVICE void exchange_with_layer(int batch, int layer) const {
    if (trains_as_large<Team>(plan_)) {
      exchange(batch, 2 + layer, kLastTask);
    } else if (layer % plan_.layers == 0) {
      exchange(batch, 2 + layer / plan_.layers, kLastTask);
    }
  }

  RADIR_HOST_DEVICE void finish_gradient() {
    int turn = 0;
    for_each_side_of_all([&](const SideMemory<T>& side) {
      sum_gradients(team_, side, turn);
      turn = team_.turn_after_sums(turn, side.groups, side.length);
    });
    turn = 0;
    for_each_weight(plan_, [&](const WeightPlan& weight) {
      if (!is_normal(weight)) return;
      finish_normal(team_, weight, memory_, turn);
      turn = team_.turn_after(turn, weight.size());
    });
    team_.sync();
    turn = 0;
    for_each_side_of_all([&](const SideMemory<T>& side) {
      finish_groups(team_, side, turn);
      turn = team_.turn_after(turn, side.groups);
    });
    team_.sync();
    turn = 0;
    for_each_side_of_all([&](const SideMemory<T>& side) {
      finish_side(team_, side, turn);
      turn = team_.turn_after(team_.turn_after(turn, 1), side.weight.size());
    });
    team_.sync();
  }

  /// Rare, and much code. Takes values: an object that a function is given the
  /// address of leaves the registers.
  RADIR_HOST_DEVICE RADIR_OUT_OF_LINE static double kl(
      Team team, const TrainingPlan& plan, NetworkMemory<T> memory) {
    double sum = likelihood_kl(plan, memory);
    for_each_weight(plan, [&](const WeightPlan& weight) {
      if (is_normal(weight)) {
        sum += normal_kl(team, weight, memory);
        return;
      }
      for_each_side(weight, memory, [&](const SideMemory<T>& side) {
        sum += side_kl(team, side);
      });
    });
    return sum / plan.rows;
  }

  /// The optimiser's step; false where the loss is not finite, with nothing
  /// changed.
  RADIR_HOST_DEVICE bool update(std::int64_t step, int batch) {
    const double squared_norm = team_.sum(plan_.parameters, [&](int i) {
      const double g = static_cast<double>(memory_.gradient[i]);
      return g * g;
    });
    const double loss = at(memory_, OfStep::Loss);
    const double zero = 0 * (loss + squared_norm);
    if (!(zero == 0)) {
      team_.task(0, [&] {
        network_.outcome->failed_step = step + 1;
        network_.outcome->nll = loss;
      });
      return false;
    }
    report(batch, loss);
    double gradient_scale = 1;
    if (plan_.max_gradient_norm > 0) {
      const double scale =
          plan_.max_gradient_norm / (std::sqrt(squared_norm) + 1e-6);
      gradient_scale = scale < 1 ? scale : 1;
    }
    adam(gradient_scale);
    team_.sync();
    return true;
  }

  RADIR_HOST_DEVICE void report(int batch, double loss) {
    const bool is_last = batch + 1 == plan_.batches;
    const bool is_reported =
        is_last && (epoch_ % plan_.report_every == 0 || epoch_ == plan_.epochs);
    const double kl_value = is_reported ? kl(team_, plan_, memory_) : 0;
    team_.task(0, [&] {
      double& nll = at(memory_, OfStep::EpochNll);
      nll += static_cast<double>(examples_) / plan_.rows * loss;
      if (is_reported) {
        network_.reports[(epoch_ - 1) / plan_.report_every] = {nll, kl_value};
      }
      if (is_last) nll = 0;
    });
  }

  RADIR_HOST_DEVICE void adam(double gradient_scale) {
    const T beta1 = static_cast<T>(plan_.beta1);
    const T beta2 = static_cast<T>(plan_.beta2);
    const T rest1 = static_cast<T>(1 - plan_.beta1);
    const T rest2 = static_cast<T>(1 - plan_.beta2);
    const T rate = static_cast<T>(now_.adam_rate);
    const T factor = static_cast<T>(now_.moment_factor);
    const T epsilon = static_cast<T>(plan_.epsilon);
    const T decay = static_cast<T>(plan_.weight_decay);
    const T scale = static_cast<T>(gradient_scale);
    // The likelihood's own parameters, which come last, have a step of theirs.
    struct Change {
      T first;
      T second;
      T parameter;
    };
    const auto changed = [&](int i) {
      const T parameter = memory_.parameters[i];
      const T g = memory_.gradient[i] * scale + parameter * decay;
      Change to;
      to.first = network_.first_moment[i] * beta1 + g * rest1;
      to.second = network_.second_moment[i] * beta2 + g * g * rest2;
      to.parameter = parameter - rate * to.first /
                                     (std::sqrt(to.second) * factor + epsilon);
      return to;
    };
    const auto store_moments = [&](int i, const Change& to) {
      network_.first_moment[i] = to.first;
      network_.second_moment[i] = to.second;
    };
    team_.transform(plan_.likelihood_offset, changed,
                    [&](int i, const Change& to) {
                      store_moments(i, to);
                      memory_.parameters[i] = to.parameter;
                    });
    if (plan_.likelihood != TrainedLikelihood::Gaussian) return;
    team_.task(kLastTask, [&] {
      for (int i = plan_.likelihood_offset; i < plan_.parameters; ++i) {
        store_moments(i, changed(i));
      }
      const double share = plan_.own_step_rate * now_.learning_rate;
      PrecisionStep step;
      step.examples = plan_.rows;
      step.numbers = static_cast<double>(plan_.rows) * plan_.targets;
      step.kl_weight = now_.kl_weight;
      step.rate = gradient_scale * (share < 1 ? share : 1);
      step.log_rate_gradient =
          static_cast<double>(memory_.gradient[plan_.likelihood_offset + 1]);
      const GammaPrecision next = precision_step(
          {plan_.prior_shape, plan_.prior_rate},
          {at(memory_, OfStep::Shape), at(memory_, OfStep::Rate)}, step);
      T* const own = memory_.parameters + plan_.likelihood_offset;
      own[0] = static_cast<T>(std::log(next.shape));
      own[1] = static_cast<T>(std::log(next.rate));
    });
  }

  Team team_;
  const TrainingPlan& plan_;
  const NetworkView<T>& network_;
  NetworkMemory<T> memory_;
  StepNumbers now_;
  StepNumbers next_;        // of the step after it
  std::int64_t epoch_ = 0;  // counted from 1
  RandomStream stream_;
  int examples_ = 0;
};

}  // namespace RADIR_ISA
}  // namespace radir::kernels
