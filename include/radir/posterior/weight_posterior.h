#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"

namespace radir::posterior {

/// The variational posterior of one weight tensor and its prior, of any family,
/// as a function of raw parameter arrays that somebody else owns: a flat buffer
/// in the compiled step, tensors in a user's own network.
///
/// T is float or double. Holds the work space of its operations, so calls on
/// one object must not overlap.
template <typename T>
class WeightPosterior {
 public:
  /// Throws ArgumentError for an impossible shape or option. A family may
  /// replace options that its shape does not allow (see
  /// RadialDirectionalOptions); describe() says so.
  WeightPosterior(const network::WeightShape& shape, const Options& options);
  ~WeightPosterior();
  WeightPosterior(WeightPosterior&&) noexcept;
  WeightPosterior& operator=(WeightPosterior&&) noexcept;

  const network::WeightShape& shape() const;
  /// The options in force.
  const Options& options() const;
  const std::vector<ParameterBlock>& parameter_blocks() const;
  std::int64_t parameter_count() const;

  /// "radial-directional, double grouping, prior concentration row 1.2e4 ...".
  std::string describe() const;

  /// Writes starting values: weights of the given gain, of moderate noise.
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

  /// KL(posterior || prior) in nats, or the family's penalty in its place.
  double kl(const Arrays<const T>& parameters);
  /// Adds `scale` times its gradient, except of what after_step() applies.
  /// Cheaper than the value.
  void kl_backward(const Arrays<const T>& parameters, double scale,
                   const Arrays<T>& gradients);

  /// Writes E[W] and Var[W] of each weight (either may be null).
  void moments(const Arrays<const T>& parameters, T* mean, T* variance);
  /// Writes the weight of one deterministic pass.
  void point(const Arrays<const T>& parameters, kernels::PointWeight kind,
             T* weight);

  /// Radial-directional: log-mode of the radius of each row and column, where
  /// the grouping gives it one (math::radius_log_mode). Gates: see
  /// posterior/gates.h. Others: log of the root mean square of the mean weights
  /// of each.
  UnitScores unit_scores(const Arrays<const T>& parameters);

  /// Writes the parameters of `target`, the posterior of the part of this
  /// weight that `kept` names, such that its mean is that part of this one's
  /// mean. Normal weights are copied. Of a direction a part is kept: its
  /// length goes into the radius, and the concentration becomes the one that
  /// keeps the variance across the direction (the root mean square over the
  /// groups, where they share one).
  ///
  /// Throws ArgumentError when `target` has another shape, family or arrays
  /// than that part of this posterior, or the weight has several groups.
  void restrict_to(const KeptUnits& kept, const Arrays<const T>& parameters,
                   const WeightPosterior& target,
                   const Arrays<T>& target_parameters) const;

  /// Where a training step draws the noise.
  Noise noise() const;
  /// See FamilyPosterior.
  double dropout_rate() const;
  /// See FamilyPosterior.
  void step_moments(const Arrays<const T>& parameters,
                    const kernels::RandomStream& stream, T* mean, T* variance);
  /// Adds the gradient through the last step_moments(), given those of mean and
  /// variance.
  /// Throws UnsupportedError unless the noise is Noise::Activations or
  /// Noise::Inputs.
  void moments_backward(const Arrays<const T>& parameters,
                        const T* mean_gradient, const T* variance_gradient,
                        const Arrays<T>& gradients);

  /// See FamilyPosterior.
  bool has_after_step() const;
  void after_step(double rate, const Arrays<T>& parameters);

 private:
  std::unique_ptr<FamilyPosterior<T>> family_;
};

}  // namespace radir::posterior
