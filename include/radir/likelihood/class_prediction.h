#pragma once

#include <cstdint>
#include <vector>

namespace radir::likelihood {

/// The predictive distribution of a class: the mean over draws of the weights
/// of the softmax of the outputs.
struct ClassPrediction {
  std::vector<double> probabilities;
  /// Entropy of the probabilities, in nats: all of the uncertainty.
  double entropy = 0;
  /// Mutual information of class and weights: the epistemic part of it.
  double mutual_information = 0;

  /// Whether there is a distribution: false where an output was not finite
  /// (it overflowed); all numbers are NaN then.
  bool is_defined() const;
  std::int64_t most_likely() const;
};

/// From the outputs (logits) of `draws` draws, [draw][class], `stride` numbers
/// from one draw to the next. Not defined where one of them is not finite.
ClassPrediction predict_class(const float* logits, std::int64_t draws,
                              std::int64_t classes, std::int64_t stride);

/// The mixture of predictions, restarts of a network: with these weights, whose
/// sum is 1, or equal ones where there are none. Not defined where one of them
/// is not.
ClassPrediction mixture_of(const std::vector<ClassPrediction>& predictions,
                           const std::vector<double>& weights = {});

}  // namespace radir::likelihood
