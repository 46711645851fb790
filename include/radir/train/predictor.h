#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "radir/core/device.h"
#include "radir/kernels/rdp.h"
#include "radir/network/plain_network.h"
#include "radir/train/model.h"

namespace radir::train {

/// Predictions of a trained network: outputs under many draws of its weights.
///
/// The draws are made once and kept, so that predicting row after row costs
/// the network alone. The same seed gives the same draws.
template <typename T>
class Predictor {
 public:
  /// Draws `samples` sets of weights. Throws ArgumentError unless samples > 0
  /// and `parameters` fits the model.
  Predictor(const Model& model, const std::vector<T>& parameters,
            std::int64_t samples, std::uint64_t seed, Execution execution = {});
  /// Draws `samples` sets of weights of each of several networks, one network
  /// after another.
  Predictor(const Model& model, const std::vector<std::vector<T>>& networks,
            std::int64_t samples, std::uint64_t seed, Execution execution = {});
  /// One set of weights that stands for the posterior.
  Predictor(const Model& model, const std::vector<T>& parameters,
            kernels::PointWeight kind, Execution execution = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Sets of weights, of all networks.
  std::int64_t samples() const;
  std::int64_t output_size() const;
  /// A set of weights, from 0, as a network of plain numbers.
  network::PlainNetwork<T> plain_network(std::int64_t sample) const;

  /// Writes outputs[sample][row][output] for rows[count][input_size].
  void run(const T* rows, std::int64_t count, T* outputs);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::train
