#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace radir::workflows {

/// How much of a search by successive halving is done.
struct SearchPlan {
  static constexpr std::int64_t kRounds = 3;
  /// Each round keeps one candidate in so many and trains it so many times as
  /// long.
  static constexpr std::int64_t kHalving = 3;

  std::int64_t candidates = 0;  ///< the first so many are tried
  std::int64_t divisor = 1;     ///< every training is so many times shorter

  /// Candidates that a round leaves of so many.
  static std::size_t left_of(std::size_t candidates);
  /// How many times shorter the training of a round, from 1, is than that of
  /// the candidate.
  std::int64_t divisor_of(std::int64_t round) const;
  /// Trials of all rounds.
  std::int64_t trials() const;
};

/// Seconds that a trial of a candidate takes.
struct TrialCost {
  double epoch = 0;         ///< of its training
  std::int64_t epochs = 1;  ///< at full length; shorter ones have at least one
  double scoring = 0;       ///< whatever the length
};

/// Seconds that the search takes at most in so many threads, if the most
/// expensive candidates stay to the end: in every round the sum of its trials
/// is divided among the threads, and the longest begins last.
double search_seconds(const std::vector<TrialCost>& costs,
                      const SearchPlan& plan, int threads);

/// The largest search that ends within `budget` seconds of which `used` are
/// gone: with all candidates, at full length, half or a quarter of it; else at
/// a quarter with fewer of them, the first ones. Throws ArgumentError, which
/// says what would be enough, where not even two fit.
SearchPlan plan_search(const std::vector<TrialCost>& costs, int threads,
                       double budget, double used = 0);

/// As a run keeps it.
std::string to_json(const SearchPlan& plan);
/// Throws IoError when the text is invalid.
SearchPlan plan_from_json(const std::string& text);

}  // namespace radir::workflows
