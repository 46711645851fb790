#pragma once

#include <vector>

#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"

namespace radir::workflows {

/// The arrays of a layer's weight in the flat parameters of a network.
inline posterior::Arrays<const float> weight_arrays(
    const train::Model& model, const train::WeightedLayer& layer,
    const posterior::WeightPosterior<float>& posterior,
    const std::vector<float>& parameters) {
  posterior::Arrays<const float> arrays;
  for (std::size_t i = 0; i < posterior.parameter_blocks().size(); ++i) {
    arrays.push_back(
        parameters.data() +
        model.parameters()[layer.first_weight_parameter + i].offset);
  }
  return arrays;
}

}  // namespace radir::workflows
