#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihood/component.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/math/gauss_legendre.h"

// What a predictive mixture says of a number whose transform it describes.

namespace radir::likelihood {

double PredictiveMixture::draw_mean(const MixtureComponent& component) const {
  if (transform_.is_none()) return component.location - component.offset;
  return transform_
      .moments(component.location, std::sqrt(variance_of(component)))
      .mean;
}

/// t components count as normal distributions of the same variance.
void PredictiveMixture::set_own_moments() {
  OwnMoments own;
  std::vector<double> means;
  means.reserve(components_.size());
  for (const MixtureComponent& c : components_) {
    const TargetTransform::Moments moments =
        transform_.moments(c.location, std::sqrt(variance_of(c)));
    const double share = c.weight / total_weight_;
    means.push_back(moments.mean);
    own.mean += share * moments.mean;
    own.aleatoric_variance += share * moments.variance;
  }
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double away = means[i] - own.mean;
    own.epistemic_variance +=
        components_[i].weight / total_weight_ * away * away;
  }
  own_ = own;
}

/// The integral of F^2 below the value and of (1 - F)^2 above it, between
/// points that follow the distribution and the bends of the transform.
double PredictiveMixture::transformed_crps(double value) const {
  constexpr double kProbabilities[] = {1e-7, 1e-3, 0.05,  0.25,    0.5,
                                       0.75, 0.95, 0.999, 1 - 1e-7};
  constexpr int kPoints = 16;
  const double place = transform_.apply(value);
  std::vector<double> ends = {place};
  for (const double probability : kProbabilities) {
    ends.push_back(transformed_quantile(probability));
  }
  const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
  const double low = *first, high = *last;
  for (const double bend : {0.0, transform_.apply(transform_.end())}) {
    if (low < bend && bend < high) ends.push_back(bend);
  }
  std::sort(ends.begin(), ends.end());
  double sum = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double from = ends[i];
    const double length = ends[i + 1] - from;
    if (!(length > 0)) continue;
    const bool above = from >= place;
    sum += length * math::detail::integrate<kPoints, double>([&](double share) {
             const double z = from + share * length;
             const double below = cdf_and_slope(z).cdf;
             const double distance = above ? 1 - below : below;
             const double step =
                 std::exp(-transform_.log_slope(transform_.invert(z)));
             return distance * distance * step;
           });
  }
  return sum;
}

}  // namespace radir::likelihood
