#pragma once

#include <cstdint>

// Adam (D. Kingma, J. Ba, ICLR 2015) on flat buffers, with the update rule and
// the defaults of PyTorch's torch::optim::Adam. T is float or double.

namespace radir::kernels {

struct AdamOptions {
  double learning_rate = 1e-3;  ///< >= 0
  double beta1 = 0.9;           ///< in [0, 1)
  double beta2 = 0.999;         ///< in [0, 1)
  double epsilon = 1e-8;        ///< > 0
  double weight_decay = 0;      ///< >= 0; adds weight_decay * parameter to the
                                ///< gradient (L2, not decoupled)
};

/// What one pass reads and writes: arrays of the same length, not overlapping.
/// Both moments are zero before the first step.
template <typename T>
struct AdamBuffers {
  T* parameter = nullptr;
  const T* gradient = nullptr;
  T* first_moment = nullptr;
  T* second_moment = nullptr;
  /// Multiplies the learning rate element by element; may be null: all ones.
  const T* rate_multiplier = nullptr;

  /// The same arrays from element `begin` on.
  AdamBuffers from(std::int64_t begin) const {
    return {parameter + begin, gradient + begin, first_moment + begin,
            second_moment + begin,
            rate_multiplier == nullptr ? nullptr : rate_multiplier + begin};
  }
};

/// Step t = 1, 2, ... of Adam in one pass over `count` elements:
///
///   g = gradient_scale * gradient + weight_decay * parameter
///   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///   parameter -= rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) +
///   epsilon)
///
/// Elements are independent, so a buffer may be cut at any place. Throws
/// DomainError for options outside their ranges or a gradient_scale that is not
/// finite, ArgumentError for step < 1, count < 0 or null buffers.
template <typename T>
void adam_step(const AdamOptions& options, std::int64_t step,
               std::int64_t count, const AdamBuffers<T>& buffers,
               double gradient_scale = 1);

/// What step t of adam_step makes of its options.
struct AdamRates {
  double rate = 0;           ///< learning_rate / (1 - beta1^t)
  double moment_factor = 1;  ///< 1 / sqrt(1 - beta2^t)
};

AdamRates adam_rates(const AdamOptions& options, std::int64_t step);

/// x[0]^2 + ... + x[count - 1]^2, summed in double in an order that depends on
/// `count` alone. Throws ArgumentError for count < 0, or null x with count > 0.
template <typename T>
double squared_norm(std::int64_t count, const T* x);

/// The gradient_scale that keeps the norm of a gradient at or below max_norm:
/// min(1, max_norm / (norm + 10^-6)), as torch::nn::utils::clip_grad_norm_ has
/// it. Throws NumericalError when the norm is not finite, DomainError unless
/// max_norm > 0.
double clipping_scale(double squared_norm, double max_norm);

}  // namespace radir::kernels
