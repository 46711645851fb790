#include "radir/train/plain_network.h"

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
template std::vector<float> run(const PlainNetwork<float>&, const float*,
                                std::int64_t, ThreadPool*);
template std::vector<double> run(const PlainNetwork<double>&, const double*,
                                 std::int64_t, ThreadPool*);

}  // namespace radir::train
