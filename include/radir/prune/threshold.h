#pragma once

#include <optional>
#include <vector>

#include "radir/prune/selection.h"

namespace radir::prune {

/// The two clusters that scores fall into: units that matter, and units whose
/// radius the prior has taken over.
struct ScoreSplit {
  bool found = false;     ///< whether there are two
  double threshold = 0;   ///< middle of the gap; -infinity where there is none
  std::size_t above = 0;  ///< how many scores are not below it
  double gap = 0;         ///< between the lowest above and the highest below
};

/// Splits scores, in any order, where two normal distributions with their own
/// means and deviations, each score belonging to one, have the highest
/// likelihood; found only when they explain the scores better than one normal
/// does (Bayesian information criterion: three more numbers), and the gap is at
/// least log 2, a factor of two in the radius.
ScoreSplit split_clusters(std::vector<double> scores);

/// The split of each layer; layers without scores get one that keeps all.
std::vector<ScoreSplit> split_clusters(const Scores& scores);

/// The split of every layer at one threshold, found where something is below
/// it; without a threshold as split_clusters.
std::vector<ScoreSplit> split(const Scores& scores,
                              std::optional<double> threshold);

}  // namespace radir::prune
