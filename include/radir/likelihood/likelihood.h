#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "radir/kernels/likelihood.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/draw_columns.h"
#include "radir/likelihood/options.h"
#include "radir/likelihood/predictive_mixture.h"

namespace radir::likelihood {

/// What was observed: numbers, [example][target], or a class per example.
template <typename T>
struct Targets {
  const T* values = nullptr;
  const std::int64_t* labels = nullptr;
};

/// Outputs of a network for one example under several draws of the weights.
template <typename T>
struct Draws {
  const T* outputs = nullptr;
  std::int64_t num_outputs = 0;
  std::int64_t count = 0;
  std::int64_t stride = 0;  ///< numbers from one draw to the next
};

/// What Likelihood::own_step knows of a training step.
struct OwnStep {
  double examples = 0;  ///< of the training set
  double numbers = 0;   ///< in all of its targets
  double kl_weight = 1;
  /// Share of the way to the optimum for this batch, from 0 to 1.
  double rate = 0;
};

/// A normal prior.
struct OwnPrior {
  double mean = 0;
  double deviation = 1;
};

/// The distribution of targets given the outputs of a network. It may have
/// parameters of its own that are trained with the weights: wherever `own`
/// stands, it is an array of them in the order of parameter_names().
class Likelihood {
 public:
  virtual ~Likelihood() = default;

  /// Whether targets are classes (labels), not numbers.
  virtual bool has_labels() const { return false; }
  /// Numbers per example in the targets (a label counts as one) of a network
  /// with so many outputs. Throws ArgumentError where these do not fit.
  virtual std::int64_t target_size(std::int64_t outputs) const = 0;
  /// Outputs that a network needs for so many numbers, or for so many classes.
  virtual std::int64_t output_size(std::int64_t targets) const = 0;
  /// What the outputs are, a noun phrase; `target` says what a target is.
  virtual std::string describe_outputs(const std::string& target) const = 0;

  virtual std::vector<const char*> parameter_names() const { return {}; }
  /// Where training starts, for so many numbers in all of the targets.
  virtual void initialize(std::int64_t numbers, double* own) const;
  /// KL divergence of their posterior from their prior, in nats.
  virtual double kl(const double* own) const;
  /// Adds the derivative of scale * kl.
  virtual void kl_backward(const double* own, double scale,
                           double* own_gradient) const;

  /// A step of the own parameters in place of the optimiser's, where their
  /// optimum for given outputs is known. `own_gradient` is the derivative of
  /// the loss per example, nll + kl_weight * kl / examples, that kl_backward
  /// and loss give. Returns false where there is no such step.
  virtual bool own_step(const double* own_gradient, const OwnStep& step,
                        double* own) const;

  /// Priors of the own parameters, where marginal_loss cannot integrate them
  /// out and a chain has to draw them together with the weights; none
  /// otherwise.
  virtual std::vector<OwnPrior> own_priors() const;

  /// Multiplies the variance of the noise that the own parameters describe.
  /// Returns false, and does nothing, where they describe none.
  virtual bool scale_noise(double factor, double* own) const;

  /// Sum over a batch of the expected negative log-likelihood, in nats; writes
  /// the derivatives of data.scale times it by the outputs and, added to what
  /// is there, by the own parameters. Allocates nothing.
  virtual double loss(const kernels::LikelihoodData<float>& data,
                      const Targets<float>& targets, const double* own,
                      double* own_gradient) const = 0;
  virtual double loss(const kernels::LikelihoodData<double>& data,
                      const Targets<double>& targets, const double* own,
                      double* own_gradient) const = 0;

  /// The negative log-likelihood of all examples of a data set at once, the own
  /// parameters integrated out under their prior, in nats; writes its
  /// derivatives by the outputs (data.scale is ignored) and the posterior of
  /// the own parameters given the outputs. Outputs that are too large give
  /// infinity or NaN, and no derivatives. Allocates nothing. Throws
  /// UnsupportedError where there are own_priors().
  virtual double marginal_loss(kernels::LikelihoodData<float> data,
                               const Targets<float>& targets,
                               double* own) const = 0;
  virtual double marginal_loss(kernels::LikelihoodData<double> data,
                               const Targets<double>& targets,
                               double* own) const = 0;

  /// log p(target | outputs) of one example under each draw, in nats and in
  /// the units of the network; own parameters are integrated out.
  virtual void log_likelihoods(const Draws<float>& draws,
                               const Targets<float>& target, const double* own,
                               double* result) const = 0;
  virtual void log_likelihoods(const Draws<double>& draws,
                               const Targets<double>& target, const double* own,
                               double* result) const = 0;

  /// Appends what each draw says of the first target, in the units of the
  /// network. Throws UnsupportedError where targets are labels.
  virtual void add_components(const Draws<float>& draws, const double* own,
                              std::vector<MixtureComponent>& components) const;
  /// The same in columns. False where columns cannot hold it, together with
  /// what is in them; they are then not defined.
  virtual bool add_columns(const Draws<float>& draws, const double* own,
                           DrawColumns& columns) const;
  /// Throws UnsupportedError where targets are numbers.
  virtual ClassPrediction predict_class(const Draws<float>& draws) const;
};

/// Throws ArgumentError for an impossible option.
std::unique_ptr<const Likelihood> make_likelihood(const Options& options);

}  // namespace radir::likelihood
