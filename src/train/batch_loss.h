#pragma once

#include <cstdint>
#include <vector>

#include "radir/kernels/network.h"
#include "radir/train/model.h"
#include "radir/train/step.h"

namespace radir::train {

/// The likelihood of a batch behind a network, all at once or in shards.
template <typename T>
class BatchLoss {
 public:
  BatchLoss(const Model& model, std::int64_t max_batch,
            std::int64_t max_shards);

  /// Takes the targets of a batch, whose inputs the network has.
  void take(const Batch<T>& batch);

  /// Sum of the NLL over the batch; leaves the derivative of `scale` times it
  /// by the outputs in the network, and adds that by the likelihood's own
  /// parameters to `own_gradient`.
  double all(kernels::Network<T>& network, const T* outputs, double scale,
             const std::vector<double>& own, double* own_gradient) const {
    return part(network, outputs, 0, network.batch(), scale, own, own_gradient);
  }

  /// The same in shards, which end at `ends`: writes the derivatives by the own
  /// parameters and `scale` times the loss, both added along a binary tree.
  void in_shards(kernels::Network<T>& network, const T* outputs,
                 const std::vector<std::int64_t>& ends, double scale,
                 const std::vector<double>& own, T* sum);

 private:
  double part(kernels::Network<T>& network, const T* outputs,
              std::int64_t begin, std::int64_t end, double scale,
              const std::vector<double>& own, double* own_gradient) const;

  Model model_;
  std::vector<T> targets_;
  std::vector<std::int64_t> labels_;
  std::vector<double> own_gradient_;  // of a shard
  std::vector<T> sums_;               // [shard][own parameter, loss]
};

}  // namespace radir::train
