#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "radir/core/settings.h"
#include "radir/kernels/adam.h"

namespace radir::train {

/// How gradients become updates of the parameters.
struct Optimizer {
  enum class Kind { Adam };
  Kind kind = Kind::Adam;
  /// Of all kinds; schedules multiply it.
  double learning_rate = 1e-3;
  double beta1 = 0.9;       ///< Adam: decay of the mean of the gradients
  double beta2 = 0.999;     ///< Adam: decay of the mean of their squares
  double epsilon = 1e-8;    ///< Adam: added to the root of that mean
  double weight_decay = 0;  ///< adds weight_decay * parameter to the gradient
};

/// Lists the fields, see radir/core/settings.h.
void describe(SettingsVisitor& visit, Optimizer& optimizer);

/// What an optimiser remembers between two steps: arrays as long as the
/// parameters, by name. Adam: "first_moment" and "second_moment".
template <typename T>
struct OptimizerState {
  std::map<std::string, std::vector<T>, std::less<>> slots;
};

/// The state before the first step.
template <typename T>
OptimizerState<T> fresh_state(const Optimizer& optimizer,
                              std::size_t parameter_count);

/// Whether two states have the same slots of the same lengths.
template <typename T>
bool have_same_slots(const OptimizerState<T>& a, const OptimizerState<T>& b);

/// The arrays of one update.
template <typename T>
struct UpdateArrays {
  std::size_t count = 0;
  T* parameters = nullptr;
  const T* gradient = nullptr;
  /// Multiplies the learning rate element by element; null: all ones.
  const T* rate_multiplier = nullptr;
};

/// One update of all parameters, range by range. Elements are independent, so
/// ranges may be updated in any order, by several threads.
template <typename T>
class OptimizerPass {
 public:
  /// `step` counts from 1. Throws ArgumentError when `state` is not that of
  /// the optimiser and as many parameters.
  OptimizerPass(const Optimizer& optimizer, std::int64_t step,
                OptimizerState<T>& state, const UpdateArrays<T>& arrays,
                double gradient_scale = 1);

  /// Updates parameters [begin, begin + count).
  void operator()(std::int64_t begin, std::int64_t count) const;

 private:
  kernels::AdamOptions options_;
  kernels::AdamBuffers<T> buffers_;
  std::int64_t step_;
  double gradient_scale_;
};

}  // namespace radir::train
