#pragma once

#include <cstdint>

#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"

// Factorised Gaussian weights, w = loc + exp(log_scale) eps: for biases, and
// for weights that have no directions. T is float or double. With a pool the
// work is shared among its threads; the results are the same bits for any
// number of them.
//
// All throw ArgumentError when `count` is negative, or when an array is null
// and count is positive.

namespace radir::kernels {

/// Draws weight[i] = loc[i] + deviation[i], deviation[i] = exp(log_scale[i])
/// times element i of the stream's normals. The deviations are what the
/// backward pass needs.
template <typename T>
void gaussian_sample(std::int64_t count, const T* loc, const T* log_scale,
                     const RandomStream& stream, T* deviation, T* weight,
                     ThreadPool* pool = nullptr);

/// Adds the gradient of a loss through gaussian_sample, given the gradient with
/// respect to the weight: weight_gradient to loc, weight_gradient * deviation
/// to log_scale.
template <typename T>
void gaussian_backward(std::int64_t count, const T* deviation,
                       const T* weight_gradient, T* loc_gradient,
                       T* log_scale_gradient, ThreadPool* pool = nullptr);

/// Where a gradient of the KL divergence goes: everything is multiplied by
/// `scale` and added.
template <typename T>
struct GaussianKlGradient {
  double scale = 1;
  T* loc = nullptr;
  T* log_scale = nullptr;
  double* log_prior_scale = nullptr;  ///< may be null
};

/// The sum of KL(N(loc, exp(2 log_scale)) || N(0, exp(2 log_prior_scale))),
/// with its gradient added where `gradient` says (null: the value alone):
///   [expm1(d) - d + (loc / prior scale)^2] / 2,
/// d = 2 (log_scale - log_prior_scale), accurate where the two scales are
/// close. Throws DomainError unless log_prior_scale is finite.
template <typename T>
double gaussian_kl(std::int64_t count, const T* loc, const T* log_scale,
                   double log_prior_scale,
                   const GaussianKlGradient<T>* gradient = nullptr,
                   ThreadPool* pool = nullptr);

}  // namespace radir::kernels
