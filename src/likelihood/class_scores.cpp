#include "radir/likelihood/class_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihood/finite_metrics.h"
#include "radir/core/error.h"

namespace radir::likelihood {

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
  bin.confidence += p[likely];
  bin.correct += correct ? 1 : 0;
}

std::vector<std::pair<std::string, double>> ClassScores::metrics() const {
  RADIR_CHECK(count_ > 0, ArgumentError,
              "there are no predictions to evaluate");
  const auto count = static_cast<double>(count_);
  double ece = 0;
  for (const Bin& bin : bins_) {
    ece += std::abs(bin.correct - bin.confidence) / count;
  }
  return finite_metrics({{"log_likelihood", log_likelihood_ / count},
                         {"nll", -log_likelihood_ / count},
                         {"error", errors_ / count},
                         {"brier", brier_ / count},
                         {"ece", ece}});
}

}  // namespace radir::likelihood
