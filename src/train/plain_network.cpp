#include "radir/train/plain_network.h"

#include <cmath>

#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "train/posterior_set.h"

namespace radir::train {

template <typename T>
PlainNetwork<T> plain_network(const Model& model,
                              const std::vector<T>& parameters,
                              kernels::PointWeight kind) {
  RADIR_CHECK(
      static_cast<std::int64_t>(parameters.size()) == model.parameter_count(),
      ArgumentError, "plain_network: the model has ", model.parameter_count(),
      " parameters, but got ", parameters.size());
  PosteriorSet<T> posteriors(model);
  posteriors.point(parameters.data(), kind);
  PlainNetwork<T> result{model.spec().network, {}};
  const kernels::Weights<T>* weights = posteriors.weights();
  for (const WeightedLayer& layer : model.layers()) {
    const T* weight = weights->weight;
    const T* bias = weights->bias;
    result.layers.push_back({{weight, weight + layer.shape.size()}, {}});
    if (layer.bias_size > 0) {
      result.layers.back().bias.assign(bias, bias + layer.bias_size);
    }
    ++weights;
  }
  return result;
}

template <typename T>
void balance(PlainNetwork<T>& network) {
  const auto scale = [](std::vector<T>& values, double factor) {
    for (T& value : values) {
      value = static_cast<T>(static_cast<double>(value) * factor);
    }
  };
  std::vector<std::int64_t> units;  // of the layers with weights
  for (const kernels::LayerSpec& layer : network.spec.layers) {
    if (const auto* dense = std::get_if<kernels::Dense>(&layer)) {
      units.push_back(dense->outputs);
    } else if (const auto* conv = std::get_if<kernels::Conv2d>(&layer)) {
      units.push_back(conv->outputs);
    }
  }
  double factor = 1;  // of what the layer reads
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    PlainLayer<T>& layer = network.layers[l];
    scale(layer.weight, 1 / factor);
    if (l + 1 == network.layers.size()) return;
    double squares = 0;
    for (T value : layer.weight) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    if (squares == 0) return;
    // Root mean square times sqrt(inputs of a unit) = sqrt(squares / units).
    factor = std::sqrt(2 * static_cast<double>(units[l]) / squares);
    scale(layer.weight, factor);
    scale(layer.bias, factor);
  }
}

template <typename T>
std::vector<T> run(const PlainNetwork<T>& network, const T* rows,
                   std::int64_t count, ThreadPool* pool) {
  kernels::NetworkOptions options;
  options.max_batch = 0;  // the kernel's choice
  options.pool = pool;
  kernels::SampledPrediction<T> prediction(network.spec.input,
                                           network.spec.layers, options);
  const std::vector<kernels::WeightSize>& sizes = prediction.weight_sizes();
  RADIR_CHECK(network.layers.size() == sizes.size(), ArgumentError,
              "plain network: the description has ", sizes.size(),
              " layers with weights, but there are numbers for ",
              network.layers.size());
  std::vector<kernels::Weights<T>> weights;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const PlainLayer<T>& layer = network.layers[i];
    const auto weight_size = static_cast<std::int64_t>(layer.weight.size());
    const auto bias_size = static_cast<std::int64_t>(layer.bias.size());
    RADIR_CHECK(weight_size == sizes[i].weight && bias_size == sizes[i].bias,
                ArgumentError, "plain network: layer ", i + 1,
                " with weights needs ", sizes[i].weight, " weights and ",
                sizes[i].bias, " biases, but has ", weight_size, " and ",
                bias_size);
    weights.push_back({layer.weight.data(), layer.bias.data()});
  }
  const auto shapes =
      kernels::layer_shapes(network.spec.input, network.spec.layers);
  std::vector<T> outputs(
      static_cast<std::size_t>(count * shapes.back().size()));
  if (count > 0) prediction.run(rows, count, weights.data(), 1, outputs.data());
  return outputs;
}

template PlainNetwork<float> plain_network(const Model&,
                                           const std::vector<float>&,
                                           kernels::PointWeight);
template PlainNetwork<double> plain_network(const Model&,
                                            const std::vector<double>&,
                                            kernels::PointWeight);
template void balance(PlainNetwork<float>&);
template void balance(PlainNetwork<double>&);
template std::vector<float> run(const PlainNetwork<float>&, const float*,
                                std::int64_t, ThreadPool*);
template std::vector<double> run(const PlainNetwork<double>&, const double*,
                                 std::int64_t, ThreadPool*);

}  // namespace radir::train
