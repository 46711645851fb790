#include "radir/likelihood/regression_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

/// Gives the prediction with all its draws, which is made where it is needed.
using Exact = std::function<const PredictiveMixture&()>;

}  // namespace

class RegressionScorer::Impl {
 public:
  Impl(const QuantileCorrection& correction, double resolution)
      : resolution_(resolution) {
    for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
      const double tail = tail_of(kIntervalLevels[l]);
      lower_[l] = QuantileLevel(correction(tail));
      upper_[l] = QuantileLevel(correction(1 - tail));
    }
  }

  /// A few points stand for all draws of the weights where they can; never
  /// where `draws` is null.
  RegressionScore score(const DrawColumns* draws, const Exact& exact,
                        double target) const {
    using Accuracy = CompressedMixture::Accuracy;
    const auto compressed = [&](Accuracy accuracy) {
      return draws == nullptr ? std::nullopt
                              : CompressedMixture::of(*draws, accuracy);
    };
    const auto fine = compressed(Accuracy::Fine);
    constexpr std::size_t kFewPoints = 8;
    const auto rough =
        fine && fine->size() <= kFewPoints ? fine : compressed(Accuracy::Rough);
    RegressionScore result;
    if (fine) {
      set_scores(*fine, exact, target, result);
    } else {
      set_scores(exact(), target, result);
    }
    result.crps = rough ? rough->crps(target) : exact().crps(target);
    return result;
  }

 private:
  void set_scores(const PredictiveMixture& prediction, double target,
                  RegressionScore& score) const {
    score.residual = target - prediction.mean();
    score.log_density = prediction.log_density(target);
    if (resolution_ > 0) {
      score.log_interval_density =
          prediction.log_interval_density(target, resolution_);
    }
    score.probability = prediction.cdf(target);
    set_interval(prediction, target, score);
    for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
      score.widths[l] = width(prediction, l);
    }
  }

  void set_scores(const CompressedMixture& few, const Exact& exact,
                  double target, RegressionScore& score) const {
    // Farther out, the error of the density is no longer a small part of it.
    constexpr double kCentre = 2.5;
    const double reach = kCentre * few.standard_deviation();
    score.residual = target - few.mean();
    score.log_density = std::abs(score.residual) < reach
                            ? std::log(few.density(target))
                            : exact().log_density(target);
    if (resolution_ > 0) {
      score.log_interval_density =
          std::abs(score.residual) + resolution_ / 2 < reach
              ? std::log(few.interval_density(target, resolution_))
              : exact().log_interval_density(target, resolution_);
    }
    score.probability = few.cdf(target);
    set_interval(few, target, score);
    for (std::size_t l = 0; l < kIntervalLevels.size(); ++l) {
      const bool central = lower_[l].probability >= kLeastCompressed &&
                           upper_[l].probability <= 1 - kLeastCompressed;
      score.widths[l] = central
                            ? few.quantile(upper_[l]) - few.quantile(lower_[l])
                            : width(exact(), l);
    }
  }

  /// The interval that the target stands for, after all else of it.
  template <typename Prediction>
  void set_interval(const Prediction& prediction, double target,
                    RegressionScore& score) const {
    if (!score.log_interval_density) return;
    const double inside = std::exp(*score.log_interval_density) * resolution_;
    // The density hardly changes in an interval of little probability, so half
    // of that lies below the target, to a thousandth.
    constexpr double kLittle = 0.01;
    const double tail = std::min(score.probability, 1 - score.probability);
    score.interval_probability = inside;
    score.probability_below = inside < kLittle * tail
                                  ? score.probability - inside / 2
                                  : prediction.cdf(target - resolution_ / 2);
  }

  double width(const PredictiveMixture& prediction, std::size_t level) const {
    return prediction.quantile(upper_[level].probability) -
           prediction.quantile(lower_[level].probability);
  }

  double resolution_;
  std::array<QuantileLevel, kIntervalLevels.size()> lower_;
  std::array<QuantileLevel, kIntervalLevels.size()> upper_;
};

RegressionScorer::RegressionScorer(const QuantileCorrection& correction,
                                   double resolution)
    : impl_(std::make_unique<Impl>(correction, resolution)) {}
RegressionScorer::~RegressionScorer() = default;
RegressionScorer::RegressionScorer(RegressionScorer&&) noexcept = default;
RegressionScorer& RegressionScorer::operator=(RegressionScorer&&) noexcept =
    default;

RegressionScore RegressionScorer::operator()(
    const PredictiveMixture& prediction, double target) const {
  const auto draws = columns_of(prediction);
  return impl_->score(
      draws ? &*draws : nullptr,
      [&]() -> const PredictiveMixture& { return prediction; }, target);
}

RegressionScore RegressionScorer::operator()(const DrawColumns& draws,
                                             double target) const {
  std::optional<PredictiveMixture> mixture;
  const auto exact = [&]() -> const PredictiveMixture& {
    if (!mixture) mixture = draws.mixture();
    return *mixture;
  };
  return impl_->score(&draws, exact, target);
}

RegressionScore score(const PredictiveMixture& prediction, double target,
                      const QuantileCorrection& correction, double resolution) {
  return RegressionScorer(correction, resolution)(prediction, target);
}

bool RegressionScore::is_inside(double lower, double upper) const {
  return probability >= lower && probability <= upper;
}

double RegressionScore::share_inside(double lower, double upper) const {
  // Sums with a probability near 1 lose the digits of less.
  constexpr double kLeast = 1e-12;
  if (interval_probability < kLeast) return is_inside(lower, upper) ? 1 : 0;
  const double end = probability_below + interval_probability;
  const double inside =
      std::min(end, upper) - std::max(probability_below, lower);
  return std::clamp(inside / interval_probability, 0.0, 1.0);
}

RegressionScore RegressionScore::scaled(double factor) const {
  RegressionScore result = *this;
  const double log_factor = std::log(factor);
  result.log_density -= log_factor;
  if (result.log_interval_density) *result.log_interval_density -= log_factor;
  result.residual *= factor;
  result.crps *= factor;
  for (double& width : result.widths) width *= factor;
  return result;
}

bool RegressionScore::is_finite() const {
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(log_density) && finite(log_interval_density.value_or(0)) &&
         finite(residual * residual) && finite(crps) && finite(probability) &&
         finite(interval_probability) && finite(probability_below) &&
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
    Interval& interval = intervals_[l];
    interval.inside += score.is_inside(interval.lower, interval.upper) ? 1 : 0;
    interval.share_inside += score.share_inside(interval.lower, interval.upper);
    interval.width += score.widths[l];
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
  const auto add_levels = [&](const std::string& name, double Interval::*sum) {
    for (std::size_t l = 0; l < intervals_.size(); ++l) {
      result.emplace_back(name + std::to_string(kIntervalLevels[l]),
                          intervals_[l].*sum / count);
    }
  };
  add_levels("coverage_", &Interval::inside);
  if (intervals_known_ == count_) {
    add_levels("interval_coverage_", &Interval::share_inside);
  }
  add_levels("width_", &Interval::width);
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
