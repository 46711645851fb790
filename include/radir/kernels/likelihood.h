#pragma once

#include <cstdint>

#include "radir/core/cpu.h"

// Losses at the end of a Network: the sum over a batch of the negative
// log-likelihood in nats, and its derivative by the network's outputs.

namespace radir::kernels {

/// Outputs of a network, [output][stride] with the first `batch` of each row
/// counting, and where the derivative of scale * loss by them goes, in the same
/// layout with zeros past the batch.
template <typename T>
struct LikelihoodData {
  const T* outputs = nullptr;
  std::int64_t num_outputs = 0;
  std::int64_t batch = 0;
  std::int64_t stride = 0;
  T* gradient = nullptr;  ///< nullptr: not wanted
  double scale = 1;
  /// Numbers of each row of the gradient that are written; 0: all of them.
  std::int64_t width = 0;
  Isa isa = active_isa();  ///< the instruction set to compute with
};

/// sum_n log sum_c exp(outputs[c][n]) - outputs[labels[n]][n]: softmax and
/// cross-entropy. Throws ArgumentError for a label that is no output's number.
template <typename T>
double categorical_loss(const LikelihoodData<T>& data,
                        const std::int64_t* labels);

/// A loss with its derivatives by the Gamma distribution of the precision;
/// these are not scaled.
struct GammaPrecisionLoss {
  double loss = 0;
  double shape_gradient = 0;
  double rate_gradient = 0;
};

/// -sum E_q[log N(y | f, 1/tau)] with q(tau) = Gamma(shape, rate), each datum
/// and output adding
///   log(2 pi)/2 + (log(rate) - digamma(shape))/2 + shape/(2 rate) (y - f)^2;
/// targets are [batch][num_outputs]. Throws DomainError unless shape and rate
/// are positive and finite.
template <typename T>
GammaPrecisionLoss gamma_precision_loss(const LikelihoodData<T>& data,
                                        const T* targets, double shape,
                                        double rate);

/// A normal distribution of deviation `scale` and one that is `ratio` times as
/// wide, whose part is `share`.
struct TwoNormals {
  double scale = 1;
  double ratio = 1;
  double share = 0.5;
};

/// A loss with its derivatives by these; they are not scaled.
struct TwoNormalsLoss {
  double loss = 0;
  double log_scale_gradient = 0;
  double log_ratio_gradient = 0;
  double logit_share_gradient = 0;
};

/// -sum log((1 - share) N(y | f, scale^2) + share N(y | f, (ratio scale)^2));
/// targets are [batch][num_outputs]. Throws DomainError unless scale and ratio
/// are positive and finite and the share is between 0 and 1.
template <typename T>
TwoNormalsLoss two_normals_loss(const LikelihoodData<T>& data, const T* targets,
                                const TwoNormals& noise);

/// Bounds of a predicted log variance: a noise from 1e-5 to 10 in the units of
/// the network. Targets are standardised, so less is below their rounding and
/// more is above all of their spread.
constexpr double kMinLogVariance = -23.025850929940456840;  // log(1e-10)
constexpr double kMaxLogVariance = 4.6051701859880913680;   // log(100)

/// The log variance that an output stands for: the output itself between the
/// bounds, the nearest bound outside, NaN for NaN. All that turns outputs into
/// noise uses it.
inline double bounded_log_variance(double output,
                                   double least = kMinLogVariance) {
  return output < least             ? least
         : output > kMaxLogVariance ? kMaxLogVariance
                                    : output;
}

/// What the second half of the outputs of a network that predicts its own noise
/// stands for: log(sigma^2), as bounded_log_variance gives it, or sigma =
/// log(1 + exp(raw)), which is zero (and the loss infinite) for raw below -86
/// in float and -708 in double.
///
/// The derivative by a log variance outside its bounds is that at the bound
/// where it leads back inside and 0 where it leads further out: a derivative of
/// 0 on both sides would leave an output outside for ever.
enum class NoiseOutput { LogVariance, SoftplusScale };

/// -sum log N(y | f, sigma^2) where the first half of the outputs are the means
/// f and the second half the noise; targets are [batch][num_outputs / 2].
/// Throws ArgumentError for an odd number of outputs.
template <typename T>
double predicted_noise_loss(const LikelihoodData<T>& data, const T* targets,
                            NoiseOutput noise);

/// Parts that a mixture may have.
constexpr std::int64_t kMostNoiseParts = 8;

/// Outputs that describe a mixture of normal distributions for each target: of
/// every part the means, [part][target], then the log variances, then the
/// logits of its share.
struct NoiseMixture {
  std::int64_t parts = 2;
  /// Lower bound of the log variances, in place of kMinLogVariance.
  double min_log_variance = kMinLogVariance;
};

/// -sum log sum_k share_k N(y | f_k, sigma_k^2); targets are [batch][targets].
/// Log variances are bounded as in predicted_noise_loss. Throws ArgumentError
/// unless there are 1 to kMostNoiseParts parts and the outputs are a multiple
/// of three times that.
template <typename T>
double noise_mixture_loss(const LikelihoodData<T>& data, const T* targets,
                          const NoiseMixture& mixture);

}  // namespace radir::kernels
