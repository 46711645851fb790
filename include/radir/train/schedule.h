#pragma once

#include <cstdint>
#include <string>

namespace radir::train {

/// Weight of the KL term of the ELBO during training.
struct KlSchedule {
  enum class Kind { Constant, Warmup, Cyclic };

  Kind kind = Kind::Constant;
  /// Warmup: share of the training (0 to 1) with weight 0, before the rise.
  double delay = 0;
  /// Warmup: share of the training over which the weight rises from 0 to
  /// `weight`. Cyclic: length of one cycle, in whose first half it rises.
  double period = 0;
  /// The final weight; 1 is the ELBO.
  double weight = 1;

  static KlSchedule constant(double weight = 1);
  static KlSchedule warmup(double period, double delay = 0, double weight = 1);
  static KlSchedule cyclic(double period, double weight = 1);

  /// Weight at `progress`, the share of the training already done.
  double operator()(double progress) const;
};

/// Factor on the learning rate during training.
struct LearningRateSchedule {
  enum class Kind { Constant, Cosine, Linear };

  Kind kind = Kind::Constant;
  /// Share of the training over which the rate rises from 0.
  double warmup = 0;
  /// Factor at the end of the training (Cosine, Linear).
  double final_factor = 0;

  double operator()(double progress) const;
};

std::string to_string(const KlSchedule& schedule);
std::string to_string(const LearningRateSchedule& schedule);

}  // namespace radir::train
