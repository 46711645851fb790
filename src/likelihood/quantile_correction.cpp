#include "radir/likelihood/quantile_correction.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// Of ranks: 20 * 0.05 is 1 however it is rounded.
constexpr double kSlack = 1e-9;

}  // namespace

QuantileCorrection::QuantileCorrection(std::vector<double> probabilities)
    : probabilities_(std::move(probabilities)) {
  RADIR_CHECK(!probabilities_.empty(), ArgumentError,
              "QuantileCorrection: needs a probability at least");
  for (double& probability : probabilities_) {
    RADIR_CHECK(probability >= 0 && probability <= 1, DomainError,
                "QuantileCorrection: a probability must lie between 0 and 1, ",
                "but is ", probability);
    probability = std::clamp(probability, kLeast, 1 - kLeast);
  }
  std::sort(probabilities_.begin(), probabilities_.end());
}

double QuantileCorrection::operator()(double probability) const {
  if (is_none()) return probability;
  const auto count = static_cast<double>(probabilities_.size());
  const double rank = (count + 1) * probability;
  double result = 0;
  if (rank < 1 - kSlack) {
    result = probabilities_.front() * rank;
  } else if (rank > count + kSlack) {
    result = 1 - (1 - probabilities_.back()) * (count + 1 - rank);
  } else {
    const double k = probability < 0.5 ? std::floor(rank + kSlack)
                                       : std::ceil(rank - kSlack);
    result = probabilities_[static_cast<std::size_t>(k) - 1];
  }
  return std::clamp(result, kLeast, 1 - kLeast);
}

bool QuantileCorrection::is_guaranteed(double probability) const {
  const auto count = static_cast<double>(probabilities_.size());
  const double rank = (count + 1) * probability;
  return !is_none() && rank >= 1 - kSlack && rank <= count + kSlack;
}

}  // namespace radir::likelihood
