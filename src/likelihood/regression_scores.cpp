#include "radir/likelihood/regression_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "likelihood/compressed_mixture.h"
#include "likelihood/finite_metrics.h"
#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// Probability on either side of the central interval.
double tail_of(int level) { return (1 - level / 100.0) / 2; }

/// 0.05, 0.1, ... 0.95.
double calibration_quantile(std::size_t i) {
  return 0.05 * static_cast<double>(i + 1);
}

double median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The few points are accurate for probabilities in between alone.
constexpr double kLeastCompressed = 0.001;

void set_widths(const PredictiveMixture& prediction,
                const std::optional<CompressedMixture>& few,
                const QuantileCorrection& correction, RegressionScore& score) {
  for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
    const double tail = tail_of(kIntervalLevels[l]);
    const double lower = correction(tail);
    const double upper = correction(1 - tail);
    const bool central =
        lower >= kLeastCompressed && upper <= 1 - kLeastCompressed;
    score.widths[l] =
        few && central
            ? few->quantile(upper) - few->quantile(lower)
            : prediction.quantile(upper) - prediction.quantile(lower);
  }
}

}  // namespace

/// A few points stand for all draws of the weights where they can.
RegressionScore score(const PredictiveMixture& prediction, double target,
                      const QuantileCorrection& correction, double resolution) {
  using Accuracy = CompressedMixture::Accuracy;
  // Farther out, the error of the density is no longer a small part of it.
  constexpr double kCentre = 2;
  RegressionScore result;
  result.residual = target - prediction.mean();
  const auto fine = CompressedMixture::of(prediction, Accuracy::Fine);
  const bool is_central =
      std::abs(result.residual) < kCentre * prediction.standard_deviation();
  result.log_density = fine && is_central ? std::log(fine->density(target))
                                          : prediction.log_density(target);
  if (resolution > 0) {
    result.log_interval_density =
        prediction.log_interval_density(target, resolution);
  }
  result.probability = fine ? fine->cdf(target) : prediction.cdf(target);
  set_widths(prediction, fine, correction, result);
  constexpr std::size_t kFewPoints = 8;
  const auto rough = fine && fine->size() <= kFewPoints
                         ? fine
                         : CompressedMixture::of(prediction, Accuracy::Rough);
  result.crps = rough ? rough->crps(target) : prediction.crps(target);
  return result;
}

bool RegressionScore::is_finite() const {
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(log_density) && finite(log_interval_density.value_or(0)) &&
         finite(residual * residual) && finite(crps) && finite(probability) &&
         std::all_of(widths.begin(), widths.end(), finite);
}

RegressionScores::RegressionScores(const QuantileCorrection& correction) {
  for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
    const double tail = tail_of(kIntervalLevels[l]);
    intervals_[l].lower = correction(tail);
    intervals_[l].upper = correction(1 - tail);
  }
  for (std::size_t i = 0; i < quantiles_.size(); ++i) {
    quantiles_[i] = correction(calibration_quantile(i));
  }
}

void RegressionScores::add(const RegressionScore& score) {
  ++count_;
  log_likelihood_ += score.log_density;
  if (score.log_interval_density) {
    interval_log_likelihood_ += *score.log_interval_density;
    ++intervals_known_;
  }
  squares_ += score.residual * score.residual;
  absolutes_.push_back(std::abs(score.residual));
  crps_ += score.crps;
  for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
    const bool inside = score.probability >= intervals_[l].lower &&
                        score.probability <= intervals_[l].upper;
    intervals_[l].inside += inside ? 1 : 0;
    intervals_[l].width += score.widths[l];
  }
  for (std::size_t i = 0; i < below_.size(); ++i) {
    if (score.probability <= quantiles_[i]) ++below_[i];
  }
}

std::vector<std::pair<std::string, double>> RegressionScores::metrics() const {
  RADIR_CHECK(count_ > 0, ArgumentError,
              "there are no predictions to evaluate");
  const auto count = static_cast<double>(count_);
  std::vector<std::pair<std::string, double>> result = {
      {"log_likelihood", log_likelihood_ / count}};
  if (intervals_known_ == count_) {
    result.emplace_back("interval_log_likelihood",
                        interval_log_likelihood_ / count);
  }
  result.emplace_back("rmse", std::sqrt(squares_ / count));
  result.emplace_back(
      "mae",
      std::accumulate(absolutes_.begin(), absolutes_.end(), 0.0) / count);
  result.emplace_back("median_absolute_error", median(absolutes_));
  result.emplace_back("crps", crps_ / count);
  for (std::size_t l = 0; l < intervals_.size(); ++l) {
    result.emplace_back("coverage_" + std::to_string(kIntervalLevels[l]),
                        intervals_[l].inside / count);
  }
  for (std::size_t l = 0; l < intervals_.size(); ++l) {
    result.emplace_back("width_" + std::to_string(kIntervalLevels[l]),
                        intervals_[l].width / count);
  }
  double error = 0;
  for (std::size_t i = 0; i < below_.size(); ++i) {
    error += std::abs(static_cast<double>(below_[i]) / count -
                      calibration_quantile(i));
  }
  result.emplace_back("calibration_error",
                      error / static_cast<double>(below_.size()));
  return finite_metrics(std::move(result));
}

}  // namespace radir::likelihood
