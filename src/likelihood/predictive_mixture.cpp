#include "radir/likelihood/predictive_mixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "likelihood/component.h"
#include "likelihood/normal.h"
#include "radir/core/error.h"
#include "radir/kernels/draw_sums.h"
#include "radir/math/predictive.h"

namespace radir::likelihood {
namespace {

/// A power of two near `value`: dividing by it changes no digit.
double power_of_two(double value) {
  return value > 0 ? std::ldexp(1.0, std::ilogb(value)) : 1;
}

/// All finite doubles in order, numbered: neighbours have neighbouring numbers,
/// and both zeros the number 0.
std::int64_t number_of(double value) {
  std::int64_t bits = 0;
  const double magnitude = std::abs(value);
  std::memcpy(&bits, &magnitude, sizeof bits);
  return std::signbit(value) ? -bits : bits;
}

double double_of(std::int64_t number) {
  const std::int64_t bits = std::abs(number);
  double magnitude = 0;
  std::memcpy(&magnitude, &bits, sizeof bits);
  return number < 0 ? -magnitude : magnitude;
}

/// From the component `first` on.
template <typename Columns>
kernels::NormalColumns from(const Columns& columns, std::size_t first = 0) {
  return {columns.locations.data() + first, columns.scales.data() + first,
          columns.weights.data() + first};
}

}  // namespace

PredictiveMixture::PredictiveMixture(std::vector<MixtureComponent> components,
                                     const TargetTransform& transform)
    : components_(std::move(components)), transform_(transform) {
  RADIR_CHECK(!components_.empty(), ArgumentError,
              "PredictiveMixture: needs at least one component");
  smallest_scale_ = std::numeric_limits<double>::infinity();
  for (const MixtureComponent& c : components_) {
    RADIR_CHECK(c.weight >= 0 && std::isfinite(c.weight), ArgumentError,
                "PredictiveMixture: a weight must be a finite number of 0 or ",
                "more, but is ", c.weight);
    total_weight_ += c.weight;
  }
  RADIR_CHECK(total_weight_ > 0 && std::isfinite(total_weight_), ArgumentError,
              "PredictiveMixture: the weights must have a positive, finite ",
              "sum, but it is ", total_weight_);
  for (const MixtureComponent& c : components_) {
    RADIR_CHECK(c.scale > 0 && std::isfinite(c.scale) &&
                    c.degrees_of_freedom > 2 && std::isfinite(c.location) &&
                    std::isfinite(c.offset),
                ArgumentError, "PredictiveMixture: a component must have a ",
                "finite location, a finite scale above 0 and more than 2 ",
                "degrees of freedom, but has ", c.location, ", ", c.scale,
                " and ", c.degrees_of_freedom);
    RADIR_CHECK(transform_.is_none() || c.offset == 0, ArgumentError,
                "PredictiveMixture: with a transform a component is a draw, ",
                "so its offset must be 0, but is ", c.offset);
    mean_ += c.location * (c.weight / total_weight_);
    smallest_scale_ = std::min(smallest_scale_, c.scale);
  }
  // Squares are summed in a unit in which they neither overflow nor vanish.
  double largest = 0;
  for (const MixtureComponent& c : components_) {
    largest = std::max({largest, c.scale, std::abs(c.offset),
                        std::abs(c.location / 2 - mean_ / 2)});
  }
  unit_ = power_of_two(largest);
  for (const MixtureComponent& c : components_) {
    MixtureComponent scaled = c;
    scaled.scale /= unit_;
    const double offset = c.offset / unit_;
    const double distance = 2 * ((c.location / 2 - mean_ / 2) / unit_) - offset;
    const double share = c.weight / total_weight_;
    aleatoric_variance_ += share * (variance_of(scaled) + offset * offset);
    epistemic_variance_ += share * distance * distance;
  }
  set_columns();
  if (!transform_.is_none()) set_own_moments();
}

void PredictiveMixture::set_columns() {
  for (const MixtureComponent& c : components_) {
    if (c.degrees_of_freedom != components_.front().degrees_of_freedom) return;
  }
  for (const MixtureComponent& c : components_) {
    columns_.locations.push_back(c.location);
    columns_.scales.push_back(c.scale);
    columns_.weights.push_back(c.weight);
  }
}

bool PredictiveMixture::is_normal() const {
  return !columns_.locations.empty() &&
         std::isinf(components_.front().degrees_of_freedom);
}

double PredictiveMixture::deviation(double variance) const {
  return std::min(unit_ * std::sqrt(variance),
                  std::numeric_limits<double>::max());
}

double PredictiveMixture::standard_deviation() const {
  if (own_) {
    return std::sqrt(own_->epistemic_variance + own_->aleatoric_variance);
  }
  return deviation(epistemic_variance_ + aleatoric_variance_);
}

double PredictiveMixture::epistemic_deviation() const {
  if (own_) return std::sqrt(own_->epistemic_variance);
  return deviation(epistemic_variance_);
}

double PredictiveMixture::aleatoric_deviation() const {
  if (own_) return std::sqrt(own_->aleatoric_variance);
  return deviation(aleatoric_variance_);
}

/// The logarithm of the weighted mean of exp(log_of(component, centre)), centre
/// being log_density_at_centre of its degrees of freedom.
template <typename LogOf>
double PredictiveMixture::log_mean(const LogOf& log_of) const {
  math::detail::LogSumExp<double> total;
  // All components have the same degrees of freedom, or nearly all.
  double degrees = components_.front().degrees_of_freedom;
  double centre = log_density_at_centre(degrees);
  for (const MixtureComponent& c : components_) {
    if (c.degrees_of_freedom != degrees) {
      degrees = c.degrees_of_freedom;
      centre = log_density_at_centre(degrees);
    }
    if (c.weight == 0) continue;
    total.add(std::log(c.weight) + log_of(c, centre));
  }
  return total.value() - std::log(total_weight_);
}

double PredictiveMixture::log_density(double value) const {
  const double place = transform_.apply(value);
  return transform_.log_slope(value) +
         log_mean([&](const MixtureComponent& c, double centre) {
           return log_density_of(c, centre, place);
         });
}

double PredictiveMixture::log_interval_density(double value,
                                               double width) const {
  const double low = transform_.apply(value - width / 2);
  const double high = transform_.apply(value + width / 2);
  const double stretch =
      transform_.is_none() ? 0 : std::log(high - low) - std::log(width);
  return stretch + log_mean([&](const MixtureComponent& c, double centre) {
           return log_mean_density_of(c, centre, low, high);
         });
}

double PredictiveMixture::cdf(double value) const {
  return cdf_and_slope(transform_.apply(value)).cdf;
}

PredictiveMixture::Slope PredictiveMixture::cdf_and_slope(double value) const {
  if (!columns_.locations.empty()) {
    const auto count = static_cast<std::int64_t>(components_.size());
    if (is_normal()) {
      const auto sums = kernels::normal_sums(from(columns_), count, value);
      return {sums.probability / total_weight_, sums.density / total_weight_};
    }
    const auto sums = kernels::student_sums(
        from(columns_), components_.front().degrees_of_freedom, count, value);
    return {sums.probability / total_weight_, sums.density / total_weight_};
  }
  Slope sum = {0, 0};
  for (const MixtureComponent& c : components_) {
    const double z = (value - c.location) / c.scale;
    sum.cdf += c.weight * normal_cdf(normal_score(z, c.degrees_of_freedom));
    sum.density += c.weight * normal_density(z) / c.scale;
  }
  return {sum.cdf / total_weight_, sum.density / total_weight_};
}

double PredictiveMixture::quantile(double probability) const {
  RADIR_CHECK(probability > 0 && probability < 1, DomainError,
              "quantile: the probability must lie between 0 and 1, but is ",
              probability);
  return transform_.invert(transformed_quantile(probability));
}

/// The result is the first point of a grid with cdf(point) >= probability. The
/// grid depends on the mixture alone, so that quantiles are in the order of
/// their probabilities however the search goes.
double PredictiveMixture::transformed_quantile(double probability) const {
  // Components of very different scales: a grid that is fine enough for the
  // narrow ones and reaches the wide ones is that of all doubles.
  constexpr double kSmallShare = 1e-6;
  const double deviation =
      this->deviation(epistemic_variance_ + aleatoric_variance_);
  const std::optional<double> found =
      smallest_scale_ > kSmallShare * deviation
          ? quantile_by_newton(probability, deviation)
          : std::nullopt;
  return found ? *found : quantile_by_bisection(probability);
}

/// On a grid of 1e-9 standard deviations around the mean; none where that is
/// no grid or the quantile lies beyond it.
std::optional<double> PredictiveMixture::quantile_by_newton(
    double probability, double deviation) const {
  constexpr int kNewtonSteps = 20;
  constexpr std::int64_t kEnd = std::int64_t{1} << 50;  // a million deviations
  const double step = std::ldexp(deviation, -30);
  if (step < std::numeric_limits<double>::min()) return std::nullopt;
  const auto point = [&](std::int64_t k) {
    return mean_ + step * static_cast<double>(k);
  };
  const auto nearest = [&](double x, std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(std::clamp(std::ceil((x - mean_) / step),
                                                static_cast<double>(low),
                                                static_cast<double>(high)));
  };
  std::int64_t low = -kEnd;  // cdf < probability, not checked at the end
  std::int64_t high = kEnd;  // cdf >= probability, likewise
  std::int64_t k =
      nearest(mean_ + deviation * rough_normal_quantile(probability), low + 1,
              high - 1);
  for (int i = 0; high - low > 1; ++i) {
    const double x = point(k);
    const Slope slope = cdf_and_slope(x);
    const double excess = slope.cdf - probability;
    (excess < 0 ? low : high) = k;
    if (high - low <= 1) break;
    // Newton's step, of limited length; a bisection where it has gone on for
    // long.
    const double reach = 4 * deviation;
    const double change = std::clamp(-excess / slope.density, -reach, reach);
    k = i < kNewtonSteps && std::isfinite(change)
            ? nearest(x + change, low + 1, high - 1)
            : low + (high - low) / 2;
  }
  if (low == -kEnd || high == kEnd) return std::nullopt;
  constexpr double kLargest = std::numeric_limits<double>::max();
  return std::clamp(point(high), -kLargest, kLargest);
}

/// On the grid of all doubles: 64 steps at most.
double PredictiveMixture::quantile_by_bisection(double probability) const {
  const double largest = std::numeric_limits<double>::max();
  std::int64_t low = number_of(-largest);
  std::int64_t high = number_of(largest);
  while (high - 1 > low) {
    // Halves first: the difference itself may overflow.
    const std::int64_t middle = low / 2 + high / 2 + (low % 2 + high % 2) / 2;
    const double here = cdf_and_slope(double_of(middle)).cdf;
    (here < probability ? low : high) = middle;
  }
  return double_of(high);
}

double PredictiveMixture::crps(double value) const {
  if (!transform_.is_none()) return transformed_crps(value);
  const std::size_t count = components_.size();
  Columns normal;
  if (is_normal()) {
    normal = columns_;
  } else {
    for (const MixtureComponent& c : components_) {
      normal.locations.push_back(c.location);
      normal.scales.push_back(std::sqrt(variance_of(c)));
      normal.weights.push_back(c.weight);
    }
  }
  const double to_value =
      kernels::normal_sums(from(normal), static_cast<std::int64_t>(count),
                           value)
          .distance /
      total_weight_;

  // Partners at evenly spread distances around the ring of draws. Components of
  // equal weight are draws of a distribution, and a pair is two of them; few
  // components of other weights are the distribution, and a pair may be one.
  constexpr std::size_t kPartners = 64;
  const std::size_t partners =
      std::min(kPartners, std::max<std::size_t>(count - 1, 1));
  const bool all =
      count <= kPartners &&
      std::any_of(components_.begin(), components_.end(), [&](const auto& c) {
        return c.weight != components_.front().weight;
      });
  kernels::NormalPairSums pairs;
  const auto add = [&](std::size_t a, std::size_t b, std::size_t number) {
    const auto sums = kernels::normal_pair_sums(
        from(normal, a), from(normal, b), static_cast<std::int64_t>(number));
    pairs.weights += sums.weights;
    pairs.distance += sums.distance;
  };
  for (std::size_t k = all ? 0 : 1; k <= partners; ++k) {
    const std::size_t apart =
        (count > kPartners ? k * (count - 1) / partners : k) % count;
    add(0, apart, count - apart);
    add(count - apart, 0, apart);
  }
  const double between =
      pairs.weights > 0 ? pairs.distance / pairs.weights : pairs.distance;
  return to_value - between / 2;
}

}  // namespace radir::likelihood
