#include "radir/bench/calibration_scores.h"

#include <cmath>

#include "radir/core/error.h"

namespace radir::bench {
namespace {

/// Gneiting and Raftery (2007), section 6.2.
double interval_score(const likelihood::PredictiveMixture& prediction,
                      double target) {
  constexpr double kOutside = 0.1;  // probability outside the interval
  const double low = prediction.quantile(kOutside / 2);
  const double high = prediction.quantile(1 - kOutside / 2);
  double score = high - low;
  if (target < low) score += 2 / kOutside * (low - target);
  if (target > high) score += 2 / kOutside * (target - high);
  return score;
}

/// Deviations from the mean to the ends of its 90 % interval.
constexpr double kReach = 1.6448536269514722;

double square(double value) { return value * value; }

}  // namespace

std::vector<std::pair<std::string, double>> CalibrationScores::metrics() const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t l = 0; l < coverage.size(); ++l) {
    result.emplace_back(
        "coverage_" + std::to_string(likelihood::kIntervalLevels[l]),
        coverage[l]);
  }
  result.emplace_back("interval_score", interval_score);
  result.emplace_back("log_likelihood", log_likelihood);
  result.emplace_back("divergence", divergence);
  result.emplace_back("rmse", rmse);
  result.emplace_back("mean_error", mean_error);
  result.emplace_back("epistemic_sd", epistemic_sd);
  result.emplace_back("mean_coverage_90", mean_coverage);
  return result;
}

void CalibrationSums::add(const likelihood::PredictiveMixture& prediction,
                          double target,
                          const likelihood::MixtureComponent& truth) {
  ++count_;
  const double probability = prediction.cdf(target);
  for (std::size_t l = 0; l < sums_.coverage.size(); ++l) {
    const double tail = (1 - likelihood::kIntervalLevels[l] / 100.0) / 2;
    if (probability >= tail && probability <= 1 - tail) sums_.coverage[l] += 1;
  }
  sums_.interval_score += interval_score(prediction, target);
  const double log_density = prediction.log_density(target);
  sums_.log_likelihood += log_density;
  sums_.divergence +=
      likelihood::PredictiveMixture({truth}).log_density(target) - log_density;
  sums_.rmse += square(target - prediction.mean());
  const double error = truth.location - prediction.mean();
  const double deviation = prediction.epistemic_deviation();
  sums_.mean_error += square(error);
  sums_.epistemic_sd += square(deviation);
  if (std::fabs(error) <= kReach * deviation) sums_.mean_coverage += 1;
}

CalibrationScores CalibrationSums::scores() const {
  RADIR_CHECK(count_ > 0, ArgumentError,
              "there are no predictions to evaluate");
  const auto count = static_cast<double>(count_);
  CalibrationScores result = sums_;
  for (double& share : result.coverage) share /= count;
  result.mean_coverage /= count;
  result.interval_score /= count;
  result.log_likelihood /= count;
  result.divergence /= count;
  for (double* squares :
       {&result.rmse, &result.mean_error, &result.epistemic_sd}) {
    *squares = std::sqrt(*squares / count);
  }
  return result;
}

}  // namespace radir::bench
