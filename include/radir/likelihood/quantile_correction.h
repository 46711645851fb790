#pragma once

#include <vector>

namespace radir::likelihood {

/// Split-conformal correction of predicted quantiles (Vovk, Gammerman and
/// Shafer, Algorithmic Learning in a Random World, 2005, in the form of
/// Romano, Patterson and Candes, NeurIPS 2019).
///
/// It holds u_1 <= ... <= u_n: the probabilities that a model predicted for at
/// most the target, of n rows that it was not fitted to. The quantile of
/// probability p is read at u_k instead, with k = (n + 1) p rounded away from
/// 1/2. If these rows and a new one are exchangeable, then for k from 1 to n
///
///   P(target < quantile) <= p               for p < 1/2,
///   P(target <= quantile) >= p              for p >= 1/2,
///
/// and both differ from p by less than 1/(n + 1) where no two u are equal. So a
/// central interval of probability c has a new target with probability c at
/// least, and less than c + 2/(n + 1). Nothing is assumed of the model.
class QuantileCorrection {
 public:
  /// The nearest a probability comes to 0 and to 1: farther out, distribution
  /// functions in double no longer tell values apart.
  static constexpr double kLeast = 1e-15;

  /// No correction.
  QuantileCorrection() = default;
  /// In any order. Throws ArgumentError without a probability, DomainError for
  /// one below 0 or above 1.
  explicit QuantileCorrection(std::vector<double> probabilities);

  bool is_none() const { return probabilities_.empty(); }
  /// u_1 <= ... <= u_n.
  const std::vector<double>& probabilities() const { return probabilities_; }

  /// The probability at which to read the quantile of `probability`, which is
  /// above 0 and below 1; it does not fall as that rises. Beyond u_1 and u_n,
  /// where nothing is guaranteed, it goes linearly to 0 and to 1.
  double operator()(double probability) const;

  /// Whether the quantile of the probability is covered by the guarantee: from
  /// 1/(n + 1) to n/(n + 1).
  bool is_guaranteed(double probability) const;

 private:
  std::vector<double> probabilities_;
};

}  // namespace radir::likelihood
