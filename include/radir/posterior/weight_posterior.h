#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"

namespace radir::posterior {

/// What an array of parameters has a number for.
enum class Extent { Weight, Rows, Columns, One };

/// One array of variational parameters (or of a learnt prior's).
struct ParameterBlock {
  std::string name;  ///< such as "row_direction"
  std::int64_t size = 0;
  Extent extent = Extent::One;  ///< Weight: shaped like it
  /// False for a prior's fixed mean directions, which get no gradient.
  bool trainable = true;
  /// The locations of log radii: scalars on which the prior pulls steadily and
  /// weakly, and the data noisily. Larger steps suit them.
  bool radius_location = false;

  bool weight_shaped() const { return extent == Extent::Weight; }
};

/// Pointers to the arrays of parameter_blocks(), in that order: P is `const T`
/// for parameters, `T` for gradients.
template <typename P>
using Arrays = std::vector<P*>;

/// How much each row (output) and each column (input) of a weight matters, as
/// logarithms of lengths. A side that has none is empty.
struct UnitScores {
  std::vector<double> rows;
  std::vector<double> columns;
};

/// The rows and columns of a weight that stay, by increasing index.
struct KeptUnits {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
};

/// Stream numbers one posterior draws from.
constexpr std::uint32_t kStreamsPerPosterior = kernels::kRdpStreams;

/// The variational posterior of one weight tensor and its prior, as a function
/// of raw parameter arrays that somebody else owns: a flat buffer in the
/// compiled step, tensors in a user's own network.
///
/// T is float or double. Holds the work space of its operations, so calls on
/// one object must not overlap.
template <typename T>
class WeightPosterior {
 public:
  /// Throws ArgumentError for an impossible shape or option. Where a group
  /// would have length 1, which has no direction, the other grouping takes its
  /// place, or the Gaussian family where neither has one; describe() says so.
  WeightPosterior(const network::WeightShape& shape, const Options& options);
  ~WeightPosterior();
  WeightPosterior(WeightPosterior&&) noexcept;
  WeightPosterior& operator=(WeightPosterior&&) noexcept;

  const network::WeightShape& shape() const;
  /// The options in force: family and grouping after the fallback above.
  const Options& options() const;
  const std::vector<ParameterBlock>& parameter_blocks() const;
  std::int64_t parameter_count() const;

  /// "radial-directional, double grouping, prior concentration row 1.2e4 ...".
  std::string describe() const;

  /// Writes starting values: weights of the given gain, directions uniform,
  /// concentrations at the prior's, radii of moderate noise.
  void initialize(const kernels::RandomStream& stream,
                  const Arrays<T>& parameters);

  /// Draws the weight. See kernels::RdpKernel::sample.
  void sample(const Arrays<const T>& parameters,
              const kernels::RandomStream& stream, T* weight,
              ThreadPool* pool = nullptr);

  /// Adds the gradient through the last draw, given that of the weight. `loss`
  /// is read by the rejection estimator alone.
  void backward(const Arrays<const T>& parameters, const T* weight,
                const T* weight_gradient, const Arrays<T>& gradients,
                double loss = 0, ThreadPool* pool = nullptr);

  /// KL(posterior || prior) in nats.
  double kl(const Arrays<const T>& parameters);
  /// Adds `scale` times its gradient. Cheaper than the value.
  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients);

  /// Writes E[W] and Var[W] of each weight (either may be null).
  void moments(const Arrays<const T>& parameters, T* mean, T* variance);
  /// Writes the weight of one deterministic pass.
  void point(const Arrays<const T>& parameters, kernels::PointWeight kind,
             T* weight);

  /// Radial-directional: log-mode of the radius of each row and column, where
  /// the grouping gives it one (math::radius_log_mode). Gaussian: log of the
  /// root mean square of the mean weights of each.
  UnitScores unit_scores(const Arrays<const T>& parameters);

  /// Writes the parameters of `target`, the posterior of the part of this
  /// weight that `kept` names, such that its mean is that part of this one's
  /// mean. Normal weights are copied. Of a direction a part is kept: its
  /// length goes into the radius, and the concentration becomes the one that
  /// keeps the variance across the direction (the root mean square over the
  /// groups, where they share one).
  ///
  /// Throws ArgumentError when `target` has another shape, family or grouping
  /// than that part of this posterior, or the weight has several groups.
  void restrict_to(const KeptUnits& kept, const Arrays<const T>& parameters,
                   const WeightPosterior& target,
                   const Arrays<T>& target_parameters) const;

 private:
  class Impl;
  class RadialDirectional;
  class Gaussian;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::posterior
