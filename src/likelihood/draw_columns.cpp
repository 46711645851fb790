#include "radir/likelihood/draw_columns.h"

#include <cmath>
#include <utility>

namespace radir::likelihood {

PredictiveMixture DrawColumns::mixture() const {
  std::vector<MixtureComponent> components;
  components.reserve(locations.size());
  for (std::size_t i = 0; i < locations.size(); ++i) {
    components.push_back(
        {locations[i], std::exp(log_scales[i]), degrees_of_freedom});
  }
  return PredictiveMixture(std::move(components));
}

std::optional<DrawColumns> columns_of(const PredictiveMixture& mixture) {
  if (!mixture.transform().is_none()) return std::nullopt;
  const std::vector<MixtureComponent>& components = mixture.components();
  const MixtureComponent& first = components.front();
  DrawColumns columns;
  columns.degrees_of_freedom = first.degrees_of_freedom;
  columns.locations.reserve(components.size());
  columns.log_scales.reserve(components.size());
  double scale = first.scale;
  double log_scale = std::log(scale);
  for (const MixtureComponent& c : components) {
    if (c.degrees_of_freedom != first.degrees_of_freedom ||
        c.weight != first.weight) {
      return std::nullopt;
    }
    if (c.scale != scale) {  // most often that of the draw before
      scale = c.scale;
      log_scale = std::log(scale);
    }
    columns.locations.push_back(c.location);
    columns.log_scales.push_back(log_scale);
  }
  return columns;
}

}  // namespace radir::likelihood
