#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "radir/likelihood/class_prediction.h"

namespace radir::likelihood {

/// Scores of predicted classes, gathered one by one.
class ClassScores {
 public:
  /// Throws NumericalError for a prediction that is not defined.
  void add(const ClassPrediction& prediction, std::int64_t label);

  std::int64_t count() const { return count_; }

  /// Means so far: log_likelihood, nll, error (share in a wrong class), brier
  /// (sum over classes) and ece (15 equal bins of the highest probability).
  /// Throws ArgumentError without a prediction.
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  struct Bin {
    double confidence = 0;
    double correct = 0;
  };

  std::int64_t count_ = 0;
  double log_likelihood_ = 0;
  double errors_ = 0;
  double brier_ = 0;
  std::array<Bin, 15> bins_;
};

}  // namespace radir::likelihood
