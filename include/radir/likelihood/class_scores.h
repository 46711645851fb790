#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "radir/likelihood/class_prediction.h"

namespace radir::likelihood {

/// Predictions whose highest probability is in one range, and how often the
/// class they name was right.
struct ConfidenceBin {
  double lower = 0;  ///< of the range
  double upper = 0;
  std::int64_t count = 0;
  double confidence = 0;  ///< mean of the highest probability
  double accuracy = 0;    ///< share that was right
};

/// Scores of predicted classes, gathered one by one.
class ClassScores {
 public:
  /// With more classes there is neither AUC nor confusion matrix: their memory
  /// grows with the classes, the matrix with their square.
  static constexpr std::size_t kMostClasses = 1000;

  /// Throws NumericalError for a prediction that is not defined.
  void add(const ClassPrediction& prediction, std::int64_t label);

  std::int64_t count() const { return count_; }

  /// Means so far: log_likelihood, nll, error (share in a wrong class), brier
  /// (sum over classes), ece (15 equal bins of the highest probability),
  /// accuracy and, where auc() is defined, auc.
  /// Throws ArgumentError without a prediction.
  std::vector<std::pair<std::string, double>> metrics() const;

  /// Probability that a row of a class has a higher probability of it than a
  /// row of another, ties counting half; the mean over the classes that some
  /// rows have and some have not, none where there is no such class. The
  /// log-odds are counted in bins of 0.01, which moves it by less than 1e-3.
  std::optional<double> auc() const;

  /// confusion()[actual][predicted]: numbers of rows. Empty without a
  /// prediction or beyond kMostClasses.
  const std::vector<std::vector<std::int64_t>>& confusion() const {
    return confusion_;
  }

  /// The bins of ece that have predictions.
  std::vector<ConfidenceBin> calibration() const;

 private:
  struct Bin {
    std::int64_t count = 0;
    double confidence = 0;
    double correct = 0;
  };
  /// Rows of a class and of all others, by the log-odds of the class.
  struct Ranking {
    std::vector<std::int64_t> own;
    std::vector<std::int64_t> others;
  };

  void rank(const std::vector<double>& probabilities, std::size_t right);

  std::int64_t count_ = 0;
  double log_likelihood_ = 0;
  double errors_ = 0;
  double brier_ = 0;
  std::array<Bin, 15> bins_;
  std::vector<std::vector<std::int64_t>> confusion_;
  std::vector<Ranking> rankings_;
};

}  // namespace radir::likelihood
