#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/options.h"

// What a family of posteriors implements. Those who use a posterior hold a
// WeightPosterior (weight_posterior.h).

namespace radir::posterior {

/// What an array of parameters has a number for.
enum class Extent { Weight, Rows, Columns, One };

/// One array of variational parameters (or of a learnt prior's).
struct ParameterBlock {
  std::string name;  ///< such as "row_direction"
  std::int64_t size = 0;
  Extent extent = Extent::One;  ///< Weight: shaped like it
  /// False for what gets no gradient, such as a prior's fixed mean directions.
  bool trainable = true;
  /// A scale, such as the location of a log radius or a gate: a number on which
  /// the prior pulls steadily and weakly, and the data noisily. Larger steps
  /// suit it, so that it may have its own factor of the learning rate.
  bool is_scale = false;
  /// Of rows or columns: the array is [copies][units][per_unit].
  std::int64_t copies = 1;
  std::int64_t per_unit = 1;

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
  /// A unit needs both its row and its column, each by its own score, such as
  /// two gates in a line; otherwise the two are factors of one length.
  bool are_gates = false;
};

/// The rows and columns of a weight that stay, by increasing index.
struct KeptUnits {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
};

/// Where a training step draws the noise of a posterior.
enum class Noise {
  None,         ///< nowhere: the weights are numbers
  Weights,      ///< sample() and backward()
  Activations,  ///< in the units, from moments(), with moments_backward()
  Inputs,       ///< in the inputs, which are dropped at dropout_rate()
};

/// Stream numbers one posterior draws from, at most.
constexpr std::uint32_t kStreamsPerPosterior = kernels::kRdpStreams;

/// The posterior of one weight tensor and its prior, in one family, as a
/// function of raw parameter arrays that somebody else owns. T is float or
/// double. May hold the work space of its operations.
///
/// A family derives from it, adds its blocks in the constructor, and implements
/// what is pure here; the rest has defaults that fit most families.
template <typename T>
class FamilyPosterior {
 public:
  FamilyPosterior(const network::WeightShape& shape, Options options)
      : shape_(shape), options_(std::move(options)) {}
  virtual ~FamilyPosterior() = default;
  FamilyPosterior(const FamilyPosterior&) = delete;
  FamilyPosterior& operator=(const FamilyPosterior&) = delete;

  const network::WeightShape& shape() const { return shape_; }
  /// The options in force, where the family had to change those it was given.
  const Options& options() const { return options_; }
  const std::vector<ParameterBlock>& parameter_blocks() const {
    return blocks_;
  }
  /// Where the options were changed: what the caller asked for and why it is
  /// not so. Follows the description.
  const std::string& note() const { return note_; }
  void set_note(std::string note) { note_ = std::move(note); }

  /// Family, options and prior in a line.
  virtual std::string describe() const = 0;

  /// Writes starting values of all arrays.
  virtual void initialize(const kernels::RandomStream& stream,
                          const Arrays<T>& parameters) = 0;

  /// Draws the weight. The same stream gives the same bits for any pool.
  virtual void sample(const Arrays<const T>& parameters,
                      const kernels::RandomStream& stream, T* weight,
                      ThreadPool* pool) = 0;
  /// Adds the gradient through the last draw, given that of the weight. `loss`
  /// serves estimators that need the value.
  virtual void backward(const Arrays<const T>& parameters, const T* weight,
                        const T* weight_gradient, const Arrays<T>& gradients,
                        double loss, ThreadPool* pool) = 0;

  /// KL(posterior || prior) in nats, or a penalty in its place; >= 0.
  virtual double kl(const Arrays<const T>& parameters) = 0;
  /// Adds `scale` times its gradient, except of what after_step() applies.
  virtual void kl_backward(const Arrays<const T>& parameters, double scale,
                           const Arrays<T>& gradients) = 0;

  /// Writes E[W] and Var[W] of each weight (either may be null).
  virtual void moments(const Arrays<const T>& parameters, T* mean,
                       T* variance) = 0;
  /// Writes the weight of one deterministic pass; E[W] unless overridden.
  virtual void point(const Arrays<const T>& parameters,
                     kernels::PointWeight kind, T* weight);
  /// Log of the root mean square of the mean weights of each row and column,
  /// unless overridden.
  virtual UnitScores unit_scores(const Arrays<const T>& parameters);

  /// What the posterior of a part of the weight has beyond the kept part of
  /// each array, which is copied already. `target` is of the same class, and
  /// its shape fits.
  virtual void finish_restriction(
      const KeptUnits& /*kept*/, const Arrays<const T>& /*parameters*/,
      const FamilyPosterior& /*target*/,
      const Arrays<T>& /*target_parameters*/) const {}

  virtual Noise noise() const { return Noise::Weights; }
  /// Of Noise::Inputs: the probability with which a training step drops an
  /// input channel of an example (kernels::NetworkOptions::dropout), using the
  /// mean of the weights. A draw drops columns with the same probability, and
  /// divides the others by that of being kept.
  virtual double dropout_rate() const { return 0; }
  /// Of Noise::Activations and Noise::Inputs: writes what a training step takes
  /// for E[W] and Var[W] (null for Noise::Inputs), which may depend on numbers
  /// that the family draws once per step. These are of the streams after the
  /// given one, which the activations use. moments() unless overridden.
  virtual void step_moments(const Arrays<const T>& parameters,
                            const kernels::RandomStream& stream, T* mean,
                            T* variance);
  /// Adds the gradient through the last step_moments(), given those of mean and
  /// variance (the latter null for Noise::Inputs). Families with
  /// Noise::Activations or Noise::Inputs have it; the others throw
  /// UnsupportedError.
  virtual void moments_backward(const Arrays<const T>& parameters,
                                const T* mean_gradient,
                                const T* variance_gradient,
                                const Arrays<T>& gradients);

  /// Whether after_step() does anything.
  virtual bool has_after_step() const { return false; }
  /// Called after each step of the optimiser. `rate` is the learning rate times
  /// the factor of kl() in the loss per example: a step of plain gradient
  /// descent on it would be -rate times the gradient of kl().
  virtual void after_step(double /*rate*/, const Arrays<T>& /*parameters*/) {}

 protected:
  /// Appends a block and returns its index.
  std::size_t add_block(std::string name, Extent extent, bool trainable = true,
                        bool is_scale = false);
  /// The same for an array [copies][rows or columns][per_unit].
  std::size_t add_unit_block(std::string name, Extent extent,
                             std::int64_t copies, std::int64_t per_unit);
  /// Standard deviation of weights whose variance times the number of inputs of
  /// a unit is `gain`.
  double spread_of(double gain) const;
  /// Draws normal weights of that deviation, to start from.
  void draw_start(const kernels::RandomStream& stream, double gain,
                  T* weight) const;

 private:
  network::WeightShape shape_;
  Options options_;
  std::vector<ParameterBlock> blocks_;
  std::string note_;
};

}  // namespace radir::posterior
