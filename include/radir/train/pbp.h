#pragma once

#include <cstdint>
#include <memory>

#include "radir/train/method.h"

namespace radir::train {

class PbpNetwork;

/// Probabilistic backpropagation (J. M. Hernandez-Lobato and R. P. Adams,
/// 2015) for networks of dense layers and ReLUs with normal weights and one
/// normal target.
///
/// A step is a pass over all examples, in the order of the batch. Each example
/// multiplies the posterior by its likelihood, and normal weights and a Gamma
/// distribution of the noise's precision are fitted to the result by their
/// moments, which are passed through the network. After the pass, the factors
/// of the weights' prior N(0, 1/(n lambda)), lambda ~ Gamma(6, 6), n the inputs
/// of a unit, are refitted one by one (expectation propagation). There are no
/// gradient steps, learning rate or random draws, and the schedules do not
/// count. Each pass counts the data again, as in the published method: 40
/// passes are usual.
///
/// The nll of a step is that of each target before its update.
template <typename T>
class Pbp final : public Method<T> {
 public:
  /// Throws UnsupportedError for any other model, ArgumentError for a prior of
  /// the noise's precision whose shape is not above 1.
  explicit Pbp(const MethodSetup& setup);
  ~Pbp() override;

  std::int64_t batch_size() const override { return data_count_; }
  TrainingState<T> initial_state(std::uint64_t seed) const override;
  /// Throws ArgumentError for a batch without all examples or a state of
  /// another model, NumericalError when the result is not finite.
  StepLoss step(TrainingState<T>& state, const Batch<T>& batch,
                const StepSettings& settings) override;

 private:
  void check(const TrainingState<T>& state, const Batch<T>& batch,
             const StepSettings& settings) const;
  /// Calls visit(place of the mean in the parameters, that of the log scale,
  /// layer, place in the layer's arrays) for each weight.
  template <typename Visit>
  void for_each_weight(const Visit& visit) const;
  void read(const std::vector<T>& parameters);
  void write(std::vector<T>& parameters) const;
  double refresh_prior(OptimizerState<T>& state);

  Model model_;
  std::int64_t data_count_;
  std::unique_ptr<PbpNetwork> network_;
};

}  // namespace radir::train
