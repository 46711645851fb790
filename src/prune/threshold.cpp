#include "radir/prune/threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/math/constants.h"

namespace radir::prune {
namespace {

/// Smaller deviations do not count: radii within 5 % of each other.
constexpr double kSmallestDeviation = 0.05;
constexpr double kSmallestGap = math::detail::kLog2;

/// Sums of a run of scores, for the likelihood of the best normal of it.
class Sums {
 public:
  explicit Sums(const std::vector<double>& scores) {
    for (double score : scores) {
      first_.push_back(first_.back() + score);
      second_.push_back(second_.back() + score * score);
    }
  }

  /// Log-likelihood of scores [begin, end) under a normal fitted to them, less
  /// a constant per score.
  double normal(std::size_t begin, std::size_t end) const {
    const auto count = static_cast<double>(end - begin);
    const double mean = (first_[end] - first_[begin]) / count;
    const double square = (second_[end] - second_[begin]) / count;
    const double floor = kSmallestDeviation * kSmallestDeviation;
    const double spread = std::max(square - mean * mean, 0.0);
    const double variance = std::max(spread, floor);
    return -count / 2 * (std::log(variance) + spread / variance);
  }

 private:
  std::vector<double> first_{0};
  std::vector<double> second_{0};
};

ScoreSplit split_at(const std::vector<double>& scores, double threshold) {
  ScoreSplit split;
  split.threshold = threshold;
  double lowest_above = std::numeric_limits<double>::infinity();
  double highest_below = -lowest_above;
  for (double score : scores) {
    if (score >= threshold) {
      ++split.above;
      lowest_above = std::min(lowest_above, score);
    } else {
      highest_below = std::max(highest_below, score);
    }
  }
  split.found = split.above < scores.size();
  if (split.found && split.above > 0) split.gap = lowest_above - highest_below;
  return split;
}

}  // namespace

ScoreSplit split_clusters(std::vector<double> scores) {
  ScoreSplit best;
  best.threshold = -std::numeric_limits<double>::infinity();
  best.above = scores.size();
  std::sort(scores.begin(), scores.end());
  // About their middle, so that squares lose nothing.
  const double middle = scores.empty() ? 0 : scores[scores.size() / 2];
  for (double& score : scores) score -= middle;
  const Sums sums(scores);
  const auto count = static_cast<double>(scores.size());
  double likelihood = scores.empty() ? 0 : sums.normal(0, scores.size());
  likelihood += 1.5 * std::log(count);  // of three more numbers
  for (std::size_t i = 1; i < scores.size(); ++i) {
    const double gap = scores[i] - scores[i - 1];
    if (gap < kSmallestGap) continue;
    const auto below = static_cast<double>(i);
    const auto above = count - below;
    const double split = sums.normal(0, i) + sums.normal(i, scores.size()) +
                         below * std::log(below / count) +
                         above * std::log(above / count);
    if (split <= likelihood) continue;
    likelihood = split;
    best.found = true;
    best.gap = gap;
    best.threshold = (scores[i] + scores[i - 1]) / 2 + middle;
    best.above = scores.size() - i;
  }
  return best;
}

std::vector<ScoreSplit> split_clusters(const Scores& scores) {
  std::vector<ScoreSplit> result;
  for (const auto& layer : scores) result.push_back(split_clusters(layer));
  return result;
}

std::vector<ScoreSplit> split(const Scores& scores,
                              std::optional<double> threshold) {
  if (!threshold) return split_clusters(scores);
  std::vector<ScoreSplit> result;
  for (const auto& layer : scores)
    result.push_back(split_at(layer, *threshold));
  return result;
}

}  // namespace radir::prune
