#include "radir/train/point_network.h"

#include <algorithm>
#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "train/posterior_set.h"

namespace radir::train {
namespace {

template <typename T>
bool all_finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](T value) { return std::isfinite(value); });
}

}  // namespace

template <typename T>
network::PlainNetwork<T> point_network(const Model& model,
                                       const std::vector<T>& parameters,
                                       kernels::PointWeight kind) {
  RADIR_CHECK(
      static_cast<std::int64_t>(parameters.size()) == model.parameter_count(),
      ArgumentError, "point_network: the model has ", model.parameter_count(),
      " parameters, but got ", parameters.size());
  PosteriorSet<T> posteriors(model);
  posteriors.point(parameters.data(), kind);
  network::PlainNetwork<T> result{model.spec().network, {}};
  const kernels::Weights<T>* weights = posteriors.weights();
  for (const WeightedLayer& layer : model.layers()) {
    const T* weight = weights->weight;
    const T* bias = weights->bias;
    result.layers.push_back({{weight, weight + layer.shape.size()}, {}});
    if (layer.bias_size > 0) {
      result.layers.back().bias.assign(bias, bias + layer.bias_size);
    }
    RADIR_CHECK(all_finite(result.layers.back().weight) &&
                    all_finite(result.layers.back().bias),
                NumericalError, "point_network: the weights of ", layer.name,
                " are not finite");
    ++weights;
  }
  return result;
}

template network::PlainNetwork<float> point_network(const Model&,
                                                    const std::vector<float>&,
                                                    kernels::PointWeight);
template network::PlainNetwork<double> point_network(const Model&,
                                                     const std::vector<double>&,
                                                     kernels::PointWeight);

}  // namespace radir::train
