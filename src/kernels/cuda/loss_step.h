#pragma once

#include <cmath>

#include "kernels/cuda/quad.h"
#include "kernels/cuda/weight_step.h"
#include "radir/core/config.h"
#include "radir/kernels/likelihood.h"
#include "radir/kernels/precision_step.h"
#include "radir/kernels/training_plan.h"
#include "radir/math/constants.h"
#include "radir/math/gamma.h"
#include "radir/math/radial_kl.h"

// The likelihoods of radir/kernels/likelihood.h at the end of a network, shared
// among the members of a team.

namespace radir::kernels {
inline namespace RADIR_ISA {

/// The doubles of a step.
enum class OfStep {
  Loss,      ///< mean NLL of the batch
  Constant,  ///< of the NLL of one number
  Trigamma,
  ShapeGradient,  ///< by the log shape, of the KL
  RateGradient,
  Shape,  ///< of the precision's posterior
  Rate,
  EpochNll,  ///< of the epoch so far
  Count,
};
static_assert(static_cast<int>(OfStep::Count) <= kStepDoubles);

template <typename T>
RADIR_HOST_DEVICE inline double& at(const NetworkMemory<T>& memory,
                                    OfStep what) {
  return memory.doubles[static_cast<int>(what)];
}

/// The posterior of the precision of one noise level, from its parameters.
template <typename T>
RADIR_HOST_DEVICE inline GammaPrecision precision_of(
    const TrainingPlan& plan, const NetworkMemory<T>& memory) {
  const T* const own = memory.parameters + plan.likelihood_offset;
  return {std::exp(static_cast<double>(own[0])),
          std::exp(static_cast<double>(own[1]))};
}

/// What the likelihood's own parameters give, whatever the outputs.
template <typename T>
RADIR_HOST_DEVICE RADIR_OUT_OF_LINE inline void prepare_loss(
    const TrainingPlan& plan, NetworkMemory<T> memory, double kl_scale) {
  const GammaPrecision q = precision_of(plan, memory);
  at(memory, OfStep::Shape) = q.shape;
  at(memory, OfStep::Rate) = q.rate;
  // In T: one thread does this while others wait.
  const T shape = static_cast<T>(q.shape);
  const T log_rate = memory.parameters[plan.likelihood_offset + 1];
  at(memory, OfStep::Constant) =
      math::detail::kHalfLog2Pi +
      static_cast<double>(log_rate - math::detail::digamma(shape)) / 2;
  at(memory, OfStep::Trigamma) =
      static_cast<double>(math::detail::trigamma(shape));
  const auto gradient = math::kl_gamma_gradient(
      shape, static_cast<T>(q.rate), static_cast<T>(plan.prior_shape),
      static_cast<T>(plan.prior_rate));
  at(memory, OfStep::ShapeGradient) =
      kl_scale * q.shape * static_cast<double>(gradient.q1);
  at(memory, OfStep::RateGradient) =
      kl_scale * q.rate * static_cast<double>(gradient.q2);
}

/// KL of the likelihood's own parameters.
template <typename T>
RADIR_HOST_DEVICE inline double likelihood_kl(const TrainingPlan& plan,
                                              const NetworkMemory<T>& memory) {
  if (plan.likelihood != TrainedLikelihood::Gaussian) return 0;
  const GammaPrecision q = precision_of(plan, memory);
  return math::kl_gamma(q.shape, q.rate, plan.prior_shape, plan.prior_rate);
}

/// No gradient by the examples that fill up the last quad.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void clear_padding(const Team& team,
                                            const TrainingPlan& plan,
                                            T* outputs, int rows,
                                            int examples) {
  const int count = quads_of(examples) * kQuad - examples;
  team.for_each(rows * count, [&](int item) {
    const int row = item / count;
    outputs[row * plan.stride + examples + item - row * count] = 0;
  });
}

/// Replaces the outputs by the gradient of the mean NLL by them; leaves the
/// loss, and the gradient by the precision's parameters.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void gaussian_loss(const Team& team,
                                            const TrainingPlan& plan,
                                            const NetworkMemory<T>& memory,
                                            T* outputs, int examples) {
  const T* const targets = memory.scratch + plan.target;
  const GammaPrecision q = {at(memory, OfStep::Shape),
                            at(memory, OfStep::Rate)};
  const double scale = 1.0 / examples;
  const T slope = static_cast<T>(scale * q.shape / q.rate);
  clear_padding(team, plan, outputs, plan.targets, examples);
  team.template sum_each<1, double>(
      1, examples * plan.targets,
      [&](int, int k, double* sums) {
        const int place = k / examples * plan.stride + k % examples;
        const T residual = outputs[place] - targets[place];
        outputs[place] = residual * slope;
        sums[0] += static_cast<double>(residual * residual);
      },
      [&](int, const double* sums) {
        const double count = static_cast<double>(examples) * plan.targets;
        const double half_squares = sums[0] / 2;
        const double tau = q.shape / q.rate;
        at(memory, OfStep::Loss) =
            scale * (count * at(memory, OfStep::Constant) + tau * half_squares);
        const double by_shape =
            half_squares / q.rate - count * at(memory, OfStep::Trigamma) / 2;
        const double by_rate = (count / 2 - tau * half_squares) / q.rate;
        T* const own = memory.gradient + plan.likelihood_offset;
        own[0] = static_cast<T>(scale * q.shape * by_shape) +
                 static_cast<T>(at(memory, OfStep::ShapeGradient));
        own[1] = static_cast<T>(scale * q.rate * by_rate) +
                 static_cast<T>(at(memory, OfStep::RateGradient));
      });
}

/// The same for a network that predicts its log variance.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void predicted_noise_loss(
    const Team& team, const TrainingPlan& plan, const NetworkMemory<T>& memory,
    T* outputs, int examples) {
  const T* const targets = memory.scratch + plan.target;
  const double scale = 1.0 / examples;
  const T factor = static_cast<T>(scale);
  clear_padding(team, plan, outputs, 2 * plan.targets, examples);
  team.template sum_each<1, double>(
      1, examples * plan.targets,
      [&](int, int k, double* sums) {
        const int place = k / examples * plan.stride + k % examples;
        const T residual = outputs[place] - targets[place];
        T& noise = outputs[plan.targets * plan.stride + place];
        const T low = static_cast<T>(kMinLogVariance);
        const T high = static_cast<T>(kMaxLogVariance);
        const T raw = noise;
        const T bounded = raw < low ? low : raw > high ? high : raw;
        const T precision = std::exp(-bounded);
        const T square = residual * residual * precision;
        const T slope = T(0.5) * (1 - square);
        // Outside the bounds only what leads back inside counts.
        const bool leads_out =
            (raw < low && slope > 0) || (raw > high && slope < 0);
        outputs[place] = residual * precision * factor;
        noise = leads_out ? T(0) : slope * factor;
        sums[0] += static_cast<double>(T(0.5) * (bounded + square));
      },
      [&](int, const double* sums) {
        const double count = static_cast<double>(examples) * plan.targets;
        at(memory, OfStep::Loss) =
            scale * (math::detail::kHalfLog2Pi * count + sums[0]);
      });
}

/// The same for classes, by the softmax of the outputs.
template <typename T, typename Team>
RADIR_HOST_DEVICE inline void categorical_loss(const Team& team,
                                               const TrainingPlan& plan,
                                               const NetworkMemory<T>& memory,
                                               T* outputs, int examples) {
  const T* const labels = memory.scratch + plan.target;
  const int classes = plan.layer[plan.layers - 1].outputs;
  const int stride = plan.stride;
  const double scale = 1.0 / examples;
  clear_padding(team, plan, outputs, classes, examples);
  team.template sum_each<1, double>(
      1, examples,
      [&](int, int example, double* sums) {
        T* const logit = outputs + example;
        const int label = static_cast<int>(labels[example]);
        const T of_label = logit[label * stride];
        T largest = logit[0];
        for (int c = 1; c < classes; ++c) {
          const T value = logit[c * stride];
          largest = value > largest ? value : largest;
        }
        T total = 0;
        for (int c = 0; c < classes; ++c) {
          const T share = std::exp(logit[c * stride] - largest);
          logit[c * stride] = share;
          total += share;
        }
        const T factor = static_cast<T>(scale) / total;
        for (int c = 0; c < classes; ++c) logit[c * stride] *= factor;
        logit[label * stride] -= static_cast<T>(scale);
        sums[0] += static_cast<double>(std::log(total) + (largest - of_label));
      },
      [&](int, const double* sums) {
        at(memory, OfStep::Loss) = scale * sums[0];
      });
}

}  // namespace RADIR_ISA
}  // namespace radir::kernels
