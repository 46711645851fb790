#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/model.h"
#include "radir/train/step.h"

namespace radir::train {

/// The network and likelihood of a model with fixed weights: what one draw from
/// its posterior is.
ModelSpec spec_of_draws(const ModelSpec& spec);

/// The draws that a chain kept (TrainerProgress::parameters), each a set of
/// parameters of a model of spec_of_draws(spec).
template <typename T>
std::vector<std::vector<T>> separate_draws(const ModelSpec& spec,
                                           const std::vector<T>& kept);

/// The exact posterior of a model's weights given data, under the priors of its
/// families, as a density that can be sampled. Its coordinates are those of
/// posterior::WeightPrior, layer by layer, weights before biases. Own
/// parameters of the likelihood are integrated out or, where that is not
/// possible, the last coordinates.
///
/// T is float or double. Holds the work space, so calls must not overlap.
template <typename T>
class PosteriorDensity {
 public:
  /// In nats: the negative log-likelihood of all data, and the negative log
  /// density of the prior less its constant.
  struct Energy {
    double nll = 0;
    double prior = 0;

    double total() const { return nll + prior; }
  };

  /// Throws UnsupportedError for a family without a prior that can be sampled.
  PosteriorDensity(const Model& model, std::int64_t max_examples,
                   Execution execution = {});
  ~PosteriorDensity();
  PosteriorDensity(PosteriorDensity&&) noexcept;
  PosteriorDensity& operator=(PosteriorDensity&&) noexcept;

  /// Number of coordinates.
  std::int64_t size() const;
  /// For each coordinate whether it is a scale; all others are standard normal
  /// under the prior.
  const std::vector<bool>& is_scale() const;

  /// A place to start from; see posterior::WeightPrior::initialize.
  void initialize(std::uint64_t seed, T* coordinates) const;

  /// The data, all of it or a batch, which must stay where it is.
  void set_data(const Batch<T>& data);

  /// The energy and its gradient.
  Energy gradient(const T* coordinates, T* gradient);

  /// Own parameters of the likelihood before anything is known of its
  /// `data_count` examples.
  std::vector<double> initial_own(std::int64_t data_count) const;
  /// The energy of `data_count` examples and its gradient, estimated from the
  /// data, a batch of them, given the posterior of the likelihood's own
  /// parameters. This moves a share `own_rate` of the way to the one that the
  /// batch suggests.
  Energy estimate(const T* coordinates, std::int64_t data_count,
                  double own_rate, std::vector<double>& own, T* gradient);

  /// Parameters of a model of spec_of_draws() at the coordinates of the last
  /// call of gradient() or estimate().
  const std::vector<T>& parameters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::train
