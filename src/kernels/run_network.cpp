#include "radir/core/error.h"
#include "radir/kernels/network.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"

namespace radir::kernels {

template <typename T>
std::vector<T> run_network(const network::PlainNetwork<T>& network,
                           const T* rows, std::int64_t count,
                           ThreadPool* pool) {
  NetworkOptions options;
  options.max_batch = 0;  // the kernel's choice
  options.pool = pool;
  SampledPrediction<T> prediction(network.spec.input, network.spec.layers,
                                  options);
  const std::vector<WeightSize>& sizes = prediction.weight_sizes();
  RADIR_CHECK(network.layers.size() == sizes.size(), ArgumentError,
              "plain network: the description has ", sizes.size(),
              " layers with weights, but there are numbers for ",
              network.layers.size());
  std::vector<Weights<T>> weights;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const network::PlainLayer<T>& layer = network.layers[i];
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
      network::layer_shapes(network.spec.input, network.spec.layers);
  std::vector<T> outputs(
      static_cast<std::size_t>(count * shapes.back().size()));
  if (count > 0) prediction.run(rows, count, weights.data(), 1, outputs.data());
  return outputs;
}

template std::vector<float> run_network(const network::PlainNetwork<float>&,
                                        const float*, std::int64_t,
                                        ThreadPool*);
template std::vector<double> run_network(const network::PlainNetwork<double>&,
                                         const double*, std::int64_t,
                                         ThreadPool*);

}  // namespace radir::kernels
