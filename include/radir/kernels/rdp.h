#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp_parameters.h"
#include "radir/network/weight_shape.h"

// The weights of one radial-directional layer: W = r_i x_ij (rows), c_j y_ij
// (columns), or their elementwise product (both). x_i is a von Mises-Fisher
// direction of the row's length, r_i a log-normal radius; likewise y_j and c_j
// for the columns. Everything a training step asks of such a weight is here, on
// raw buffers, with analytic gradients.

namespace radir::kernels {

/// What one side (the rows, or the columns) of a layer learns.
struct RdpSideLayout {
  /// One concentration for the layer, or one per group.
  bool shared_concentration = true;
  /// Whether the radii share a layer-wide random factor.
  bool global_radius = true;
};

/// The shape of a layer's weight and the sides it is made of: at least one.
struct RdpLayout {
  network::WeightShape shape;
  std::optional<RdpSideLayout> row;
  std::optional<RdpSideLayout> column;
};

/// Weights that stand for the posterior in one deterministic pass.
enum class PointWeight {
  Mean,    ///< E[W]
  Median,  ///< median of the radii times the mean directions
  Mode,    ///< mode of the radii times the mean directions
};

/// Consecutive stream numbers that one RdpKernel::sample draws from, beginning
/// with the one it is given: normals of the row directions (element = index in
/// the weight), of the column directions (likewise), of the radii (rows,
/// columns, global factor of the rows, of the columns), and the acceptance of
/// the cosines (rows, then columns).
constexpr std::uint32_t kRdpStreams = 4;

template <typename T>
struct RdpState;

/// The operations of one layer's weight, with all the memory they need: a
/// training step allocates nothing. T is float or double.
///
/// Calls on one object must not overlap, for backward() uses what sample()
/// left. With a pool the work on a large weight is shared among its threads;
/// the results are the same bits for any number of them.
template <typename T>
class RdpKernel {
 public:
  /// Throws ArgumentError when an extent is not positive, the weight has 2^32
  /// elements or more, no side is present, or a side's groups have length 1 (a
  /// direction of one dimension is a sign, which has no gradient).
  explicit RdpKernel(const RdpLayout& layout);
  ~RdpKernel();
  RdpKernel(RdpKernel&&) noexcept;
  RdpKernel& operator=(RdpKernel&&) noexcept;

  const RdpLayout& layout() const;

  /// Draws `weight` [groups][out][in][kernel] from the posterior.
  ///
  /// Throws ArgumentError when an array is missing, NumericalError when a
  /// direction has no length or a parameter is not finite.
  void sample(const RdpSides<const T>& parameters, const RandomStream& stream,
              T* weight, ThreadPool* pool = nullptr);

  /// Adds the gradient with respect to the parameters, through the last draw,
  /// given the weight that sample() wrote and the gradient of the loss with
  /// respect to it. The parameters are those of the draw.
  ///
  /// Directions by the rotation rule, concentrations by `options.estimator`.
  /// Throws ArgumentError when an array is missing or nothing was drawn.
  void backward(const RdpSides<const T>& parameters, const T* weight,
                const T* weight_gradient, const RdpSides<T>& gradients,
                const RdpBackwardOptions& options = {},
                ThreadPool* pool = nullptr);

  /// KL(posterior || prior), summed over the groups. Radii are compared through
  /// their factors (a || Gamma(1/2, scale^2), b || inverse Gamma(n/2, n)), an
  /// upper bound of the KL between the distributions of the radii; the global
  /// factors count once.
  ///
  /// Throws ArgumentError when an array is missing, DomainError when a number
  /// of the prior is outside its domain.
  double kl(const RdpSides<const T>& parameters, const RdpPrior<T>& prior);

  /// Adds the gradient of kl(), without the cost of its value; throws likewise.
  void kl_backward(const RdpSides<const T>& parameters,
                   const RdpPrior<T>& prior, const RdpKlGradient<T>& gradient);

  /// Writes the mean and variance of each element (either may be null);
  /// allocates.
  void moments(const RdpSides<const T>& parameters, T* mean, T* variance);

  /// Writes the weight of one deterministic pass; allocates.
  void point(const RdpSides<const T>& parameters, PointWeight kind, T* weight);

 private:
  std::unique_ptr<RdpState<T>> state_;
};

}  // namespace radir::kernels
