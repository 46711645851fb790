#pragma once

#include "radir/kernels/radius_factors.h"
#include "radir/math/vmf_sampling.h"

// The arrays and numbers that RdpKernel (rdp.h) reads and writes: plain
// pointers and values.

namespace radir::kernels {

/// The arrays of one side: P is `const T` for parameters, `T` for gradients.
template <typename P>
struct RdpSide {
  /// Mean direction times any positive length, in the layout of the weight for
  /// both sides: the weight's rows, or its columns, are the groups.
  P* direction = nullptr;
  P* log_concentration = nullptr;  ///< [1] if shared, else [number of groups]
  RadiusFactors<P> local;          ///< [number of groups]
  RadiusFactors<P> global;         ///< [1], or null without a global radius
};

/// The arrays of a layer; those of a side the layout lacks are not read.
template <typename P>
struct RdpSides {
  RdpSide<P> row;
  RdpSide<P> column;
};

struct RdpBackwardOptions {
  /// How the gradient passes through a sampled cosine to the concentration.
  /// Implicit is exact up to length 29, and from 30 on its closed form u1
  /// (relative error 0.23 / length^2) without a correction; the others add
  /// their correction, c(w) times the loss.
  math::VmfEstimator estimator = math::VmfEstimator::Implicit;
  /// The loss whose gradient is passed, at this draw, less any constant
  /// baseline. Not read by VmfEstimator::Implicit; with the others 0 leaves out
  /// the correction, at a bias (of about 0.7 / length for Rejection).
  double loss = 0;
};

/// The prior of one side: radii half-t (half-Cauchy with one degree of freedom)
/// times a half-Cauchy factor of the layer, directions von Mises-Fisher.
template <typename T>
struct RdpSidePrior {
  /// Log of the prior's concentration; -infinity is the uniform distribution.
  double log_concentration = 0;
  /// The prior's mean directions times any positive length, laid out as
  /// RdpSide::direction; null stands for the posterior's own (a prior that does
  /// not prefer any direction, only a concentration).
  const T* direction = nullptr;
  double log_local_scale = 0;     ///< log of the scale of each radius
  double log_global_scale = 0;    ///< and of the layer-wide factor
  double degrees_of_freedom = 1;  ///< of each radius
};

template <typename T>
struct RdpPrior {
  RdpSidePrior<T> row;
  RdpSidePrior<T> column;
};

/// Derivatives of a KL divergence with respect to the numbers of a prior.
struct RdpSidePriorGradient {
  double log_concentration = 0;
  double log_local_scale = 0;
  double log_global_scale = 0;
};

struct RdpPriorGradient {
  RdpSidePriorGradient row;
  RdpSidePriorGradient column;
};

/// Where the gradient of a KL divergence goes: everything is multiplied by
/// `scale` and added.
template <typename T>
struct RdpKlGradient {
  double scale = 1;
  RdpSides<T> parameters;
  RdpPriorGradient* prior = nullptr;  ///< may be null
};

}  // namespace radir::kernels
