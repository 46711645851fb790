#pragma once

#include <cstdint>
#include <vector>

namespace radir::train {

/// How well several chains agree on one quantity.
struct ChainAgreement {
  /// Split R-hat (Gelman et al., "Bayesian Data Analysis", 2013): spread over
  /// all draws against the spread within half chains. 1 where the chains
  /// cannot be told apart, above 1.05 where they do not agree yet.
  double r_hat = 1;
  /// Independent draws that would give the mean as precisely.
  double effective_draws = 0;
};

/// From values[chain][draw], at least four draws each, all chains equally long.
/// Throws ArgumentError for fewer. A quantity that never changes agrees.
ChainAgreement chain_agreement(const std::vector<std::vector<double>>& values);

}  // namespace radir::train
