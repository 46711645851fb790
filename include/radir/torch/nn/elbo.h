#pragma once

#include <torch/types.h>

#include <cstdint>
#include <iosfwd>

#include "radir/train/schedule.h"

namespace radir::nn {

using train::KlSchedule;

/// The parts of a loss in nats per example, scalars through which gradients
/// flow: loss = nll + kl_weight * kl.
struct ElboTerms {
  torch::Tensor loss;
  torch::Tensor nll;  ///< mean negative log-likelihood of the batch
  torch::Tensor kl;   ///< the whole KL divergence over the number of examples
  double kl_weight = 1;
};

/// The negative evidence lower bound, per example, from a batch:
///
///   Elbo elbo(50000, KlSchedule::warmup(0.3));
///   ...
///   const ElboTerms terms =
///       elbo(likelihood->nll(net->forward(x), y), kl(*net), progress);
///   terms.loss.backward();
class Elbo {
 public:
  /// `data_count` is N, the number of examples in the whole training set, over
  /// which the one KL is spread. Throws ArgumentError unless it is positive.
  explicit Elbo(std::int64_t data_count,
                const KlSchedule& schedule = KlSchedule::constant());

  /// `nll` in nats per example, as a likelihood's nll() gives it; `kl` in nats,
  /// as nn::kl does; `progress` is the share of the training already done, from
  /// which the schedule takes the weight of the KL.
  ///
  /// Throws ArgumentError unless both are scalars, NumericalError when one is
  /// not finite.
  ElboTerms operator()(const torch::Tensor& nll, const torch::Tensor& kl,
                       double progress = 1) const;

  std::int64_t data_count() const { return data_count_; }
  const KlSchedule& schedule() const { return schedule_; }
  void pretty_print(std::ostream& stream) const;

 private:
  std::int64_t data_count_;
  KlSchedule schedule_;
};

/// Same as pretty_print.
std::ostream& operator<<(std::ostream& stream, const Elbo& elbo);

}  // namespace radir::nn
