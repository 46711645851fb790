#include "radir/likelihood/class_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihood/finite_metrics.h"
#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// Log-odds are counted from -kMostLogOdds to kMostLogOdds.
constexpr double kMostLogOdds = 20;
constexpr std::size_t kRankBins = 4000;

std::size_t rank_bin(double probability) {
  const double odds = std::log(probability) - std::log1p(-probability);
  const double at =
      (std::clamp(odds, -kMostLogOdds, kMostLogOdds) / (2 * kMostLogOdds) +
       0.5) *
      static_cast<double>(kRankBins);
  return std::min(kRankBins - 1, static_cast<std::size_t>(at));
}

}  // namespace

void ClassScores::add(const ClassPrediction& prediction, std::int64_t label) {
  RADIR_CHECK(prediction.is_defined(), NumericalError, "scores: example ",
              count_ + 1, " has no prediction, because an ",
              "output of the network is not finite; are its inputs scaled as ",
              "those of the training?");
  const auto& p = prediction.probabilities;
  const auto right = static_cast<std::size_t>(label);
  const auto likely = static_cast<std::size_t>(prediction.most_likely());
  const bool correct = likely == right;
  ++count_;
  log_likelihood_ +=
      std::log(std::max(p[right], std::numeric_limits<double>::min()));
  errors_ += correct ? 0 : 1;
  for (std::size_t c = 0; c < p.size(); ++c) {
    const double miss = p[c] - (c == right ? 1 : 0);
    brier_ += miss * miss;
  }
  const auto bins = static_cast<double>(bins_.size());
  Bin& bin = bins_[std::min(bins_.size() - 1,
                            static_cast<std::size_t>(p[likely] * bins))];
  ++bin.count;
  bin.confidence += p[likely];
  bin.correct += correct ? 1 : 0;
  if (p.size() > kMostClasses) return;
  confusion_.resize(p.size(), std::vector<std::int64_t>(p.size()));
  ++confusion_[right][likely];
  rank(p, right);
}

void ClassScores::rank(const std::vector<double>& probabilities,
                       std::size_t right) {
  rankings_.resize(probabilities.size());
  for (std::size_t c = 0; c < probabilities.size(); ++c) {
    Ranking& ranking = rankings_[c];
    ranking.own.resize(kRankBins);
    ranking.others.resize(kRankBins);
    auto& counts = c == right ? ranking.own : ranking.others;
    ++counts[rank_bin(std::min(probabilities[c], 1.0))];
  }
}

std::optional<double> ClassScores::auc() const {
  double sum = 0;
  std::int64_t classes = 0;
  for (const Ranking& ranking : rankings_) {
    double own = 0, others = 0, above = 0;
    for (std::size_t bin = 0; bin < kRankBins; ++bin) {
      const auto here = static_cast<double>(ranking.own[bin]);
      const auto there = static_cast<double>(ranking.others[bin]);
      above += here * (others + there / 2);
      own += here;
      others += there;
    }
    if (own == 0 || others == 0) continue;
    sum += above / (own * others);
    ++classes;
  }
  if (classes == 0) return std::nullopt;
  return sum / static_cast<double>(classes);
}

std::vector<ConfidenceBin> ClassScores::calibration() const {
  std::vector<ConfidenceBin> result;
  const auto bins = static_cast<double>(bins_.size());
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    if (bins_[i].count == 0) continue;
    const auto count = static_cast<double>(bins_[i].count);
    result.push_back({static_cast<double>(i) / bins,
                      static_cast<double>(i + 1) / bins, bins_[i].count,
                      bins_[i].confidence / count, bins_[i].correct / count});
  }
  return result;
}

std::vector<std::pair<std::string, double>> ClassScores::metrics() const {
  RADIR_CHECK(count_ > 0, ArgumentError,
              "there are no predictions to evaluate");
  const auto count = static_cast<double>(count_);
  double ece = 0;
  for (const Bin& bin : bins_) {
    ece += std::abs(bin.correct - bin.confidence) / count;
  }
  std::vector<std::pair<std::string, double>> result = {
      {"log_likelihood", log_likelihood_ / count},
      {"nll", -log_likelihood_ / count},
      {"error", errors_ / count},
      {"brier", brier_ / count},
      {"ece", ece},
      {"accuracy", 1 - errors_ / count}};
  if (const auto area = auc()) result.emplace_back("auc", *area);
  return finite_metrics(std::move(result));
}

}  // namespace radir::likelihood
