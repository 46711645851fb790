#include "radir/kernels/network.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "kernels/layer.h"
#include "radir/core/error.h"

namespace radir::kernels {
namespace {

template <typename T>
NetworkTables<T> tables_of(Isa isa);

template <>
NetworkTables<float> tables_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) {
    return {isa_avx512::gemm_float, isa_avx512::winograd_float,
            isa_avx512::lanes_float};
  }
  if (isa == Isa::Avx2) {
    return {isa_avx2::gemm_float, isa_avx2::winograd_float,
            isa_avx2::lanes_float};
  }
#endif
  static_cast<void>(isa);
  return {isa_generic::gemm_float, isa_generic::winograd_float,
          isa_generic::lanes_float};
}

template <>
NetworkTables<double> tables_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) {
    return {isa_avx512::gemm_double, isa_avx512::winograd_double,
            isa_avx512::lanes_double};
  }
  if (isa == Isa::Avx2) {
    return {isa_avx2::gemm_double, isa_avx2::winograd_double,
            isa_avx2::lanes_double};
  }
#endif
  static_cast<void>(isa);
  return {isa_generic::gemm_double, isa_generic::winograd_double,
          isa_generic::lanes_double};
}

template <typename T>
struct MakeLayer {
  const LayerContext<T>& context;
  const network::Shape& input;
  const network::Shape& output;
  bool noisy;  // NetworkOptions::activation_noise of the layer

  LayerPointer<T> operator()(const network::Dense& spec) const {
    auto layer = make_dense<T>(context, input, spec);
    if (!noisy) return layer;
    return make_noisy<T>(context, std::move(layer),
                         make_dense<T>(context, input, spec));
  }
  LayerPointer<T> operator()(const network::Conv2d& spec) const {
    auto layer = make_conv<T>(context, input, output, spec);
    if (!noisy) return layer;
    return make_noisy<T>(context, std::move(layer),
                         make_direct_conv<T>(context, input, output, spec));
  }
  LayerPointer<T> operator()(const network::MaxPool2d& spec) const {
    return make_pool<T>(context, input, output, spec);
  }
  LayerPointer<T> operator()(network::Relu) const {
    return make_relu<T>(context, input);
  }
  LayerPointer<T> operator()(network::Flatten) const { return nullptr; }
  LayerPointer<T> operator()(const network::Select& spec) const {
    return make_select<T>(context, input, output, spec);
  }
};

}  // namespace

template <typename T>
struct Network<T>::Plan {
  explicit Plan(const network::Shape& input, const NetworkOptions& options)
      : context{tables_of<T>(options.isa), options.pool, options.max_batch,
                options.gradients,         &shards,      options.max_shards},
        activation_noise(options.activation_noise),
        dropout(options.dropout),
        input_shape(input),
        output_shape(input) {
    RADIR_CHECK(options.max_batch > 0, ArgumentError,
                "Network: max_batch must be positive, but is ",
                options.max_batch);
    RADIR_CHECK(options.max_shards >= 1 &&
                    options.max_shards <= std::int64_t{1} << kMostPartLevels,
                ArgumentError, "Network: max_shards must be from 1 to ",
                std::int64_t{1} << kMostPartLevels, ", but is ",
                options.max_shards);
  }

  AlignedBuffer<T> buffer(const network::Shape& shape) const {
    return AlignedBuffer<T>(shape.size() * context.max_stride());
  }

  void add(const network::LayerSpec& spec, const network::Shape& output) {
    const network::Shape input = std::exchange(output_shape, output);
    if (std::holds_alternative<network::Flatten>(spec)) return;
    if (std::holds_alternative<network::Relu>(spec) && !layers.empty() &&
        layers.back()->fuse_relu()) {
      return;
    }
    const bool noisy = weight_sizes.size() < activation_noise.size() &&
                       activation_noise[weight_sizes.size()];
    LayerPointer<T> layer =
        std::visit(MakeLayer<T>{context, input, output, noisy}, spec);
    if (layer->weight_size().weight > 0 &&
        weight_sizes.size() < dropout.size() &&
        dropout[weight_sizes.size()] > 0) {
      layer =
          make_dropout(context, std::move(layer), dropout[weight_sizes.size()]);
    }
    layers.push_back(std::move(layer));
    if (layers.size() > 1) layers.back()->follow(*layers[layers.size() - 2]);
    activations.push_back(buffer(output));
    const WeightSize size = layers.back()->weight_size();
    if (size.weight == 0) return;
    if (weight_sizes.empty()) first_weights = layers.size() - 1;
    weight_sizes.push_back(size);
  }

  // Gradients by the activations: those by the outputs in one buffer, those of
  // the layers before alternately in two.
  void allocate_gradients() {
    std::int64_t largest = 0;
    for (const auto& layer : layers) {
      largest = std::max(largest, layer->input().size());
    }
    const std::int64_t count = largest * context.max_stride();
    output_gradient = buffer(output_shape);
    gradients[0] = AlignedBuffer<T>(count);
    gradients[1] = AlignedBuffer<T>(count);
  }

  LayerContext<T> context;
  std::vector<bool> activation_noise;
  std::vector<double> dropout;
  network::Shape input_shape;
  network::Shape output_shape;
  std::vector<LayerPointer<T>> layers;
  std::vector<WeightSize> weight_sizes;
  std::size_t first_weights = 0;  // the layer where the backward pass ends
  std::vector<AlignedBuffer<T>> activations;  // input, then of each layer
  AlignedBuffer<T> output_gradient;
  AlignedBuffer<T> gradients[2];
  std::int64_t batch = 0;
  std::int64_t stride = 0;
  NetworkShards shards;
};

template <typename T>
Network<T>::Network(const network::Shape& input,
                    const std::vector<network::LayerSpec>& layers,
                    const NetworkOptions& options)
    : plan_(new Plan(input, options)) {
  RADIR_CHECK(options.isa <= active_isa(), ArgumentError,
              "Network: instruction set ", to_string(options.isa),
              " is not available; the best one here is ",
              to_string(active_isa()));
  const std::vector<network::Shape> shapes =
      network::layer_shapes(input, layers);
  plan_->activations.push_back(plan_->buffer(input));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    plan_->add(layers[i], shapes[i + 1]);
  }
  RADIR_CHECK(options.activation_noise.empty() ||
                  options.activation_noise.size() == weight_sizes().size(),
              ArgumentError, "Network: activation_noise has ",
              options.activation_noise.size(), " entries, but there are ",
              weight_sizes().size(), " layers with weights");
  RADIR_CHECK(options.dropout.empty() ||
                  options.dropout.size() == weight_sizes().size(),
              ArgumentError, "Network: dropout has ", options.dropout.size(),
              " entries, but there are ", weight_sizes().size(),
              " layers with weights");
  for (double rate : options.dropout) {
    RADIR_CHECK(rate >= 0 && rate < 1, ArgumentError,
                "Network: dropout must be at least 0 and below 1, but is ",
                rate);
  }
  if (options.gradients) plan_->allocate_gradients();
}

template <typename T>
Network<T>::~Network() = default;
template <typename T>
Network<T>::Network(Network&&) noexcept = default;
template <typename T>
Network<T>& Network<T>::operator=(Network&&) noexcept = default;

template <typename T>
network::Shape Network<T>::input_shape() const {
  return plan_->input_shape;
}

template <typename T>
network::Shape Network<T>::output_shape() const {
  return plan_->output_shape;
}

template <typename T>
const std::vector<WeightSize>& Network<T>::weight_sizes() const {
  return plan_->weight_sizes;
}

template <typename T>
std::int64_t Network<T>::batch() const {
  return plan_->batch;
}

template <typename T>
std::int64_t Network<T>::stride() const {
  return plan_->stride;
}

template <typename T>
void Network<T>::set_input(const T* rows, std::int64_t batch,
                           const std::int64_t* indices) {
  Plan& plan = *plan_;
  RADIR_CHECK(batch >= 1 && batch <= plan.context.max_batch, ArgumentError,
              "Network: batch must be between 1 and max_batch = ",
              plan.context.max_batch, ", but is ", batch);
  if (batch != plan.batch) {
    plan.batch = batch;
    plan.stride = round_up(batch, kWidestLanes<T>);
    for (const auto& layer : plan.layers) layer->set_batch(batch);
  }
  plan.shards.batch.first = 0;
  plan.shards.batch.ends.assign(1, batch);
  plan.shards.lane_ends.assign(1, plan.stride);
  constexpr std::int64_t kColumns = 128;  // of a task
  const std::int64_t columns = plan.input_shape.size();
  run_tasks(plan.context.pool, (columns + kColumns - 1) / kColumns,
            [&](std::int64_t task) {
              const std::int64_t column = task * kColumns;
              Transposition<T> transposition;
              transposition.from = rows + column;
              transposition.from_row = columns;
              transposition.indices = indices;
              transposition.rows = batch;
              transposition.columns = std::min(kColumns, columns - column);
              transposition.to =
                  plan.activations.front().data() + column * plan.stride;
              transposition.to_row = plan.stride;
              transposition.to_columns = plan.stride;
              plan.context.tables.lanes.transpose(transposition);
            });
}

template <typename T>
void Network<T>::set_shards(const BatchShards& shards) {
  Plan& plan = *plan_;
  const auto count = static_cast<std::int64_t>(shards.ends.size());
  bool valid = count >= 1 && count <= plan.context.max_shards &&
               (count & (count - 1)) == 0 && shards.first >= 0 &&
               shards.ends.back() == plan.batch;
  for (std::size_t i = 0; valid && i + 1 < shards.ends.size(); ++i) {
    valid = shards.ends[i] % kShardRows == 0 &&
            shards.ends[i] >= (i == 0 ? 0 : shards.ends[i - 1]) &&
            shards.ends[i] <= shards.ends[i + 1];
  }
  RADIR_CHECK(valid, ArgumentError, "Network: ", count,
              " shards do not fit a batch of ", plan.batch,
              "; they end at multiples of ", kShardRows,
              " and the last at its end, and are at most max_shards = ",
              plan.context.max_shards);
  plan.shards.batch = shards;
  plan.shards.lane_ends = shards.ends;
  plan.shards.lane_ends.back() = plan.stride;
}

template <typename T>
const T* Network<T>::forward(const Weights<T>* weights) {
  Plan& plan = *plan_;
  RADIR_CHECK(plan.batch > 0, ArgumentError,
              "Network: forward() needs an input; call set_input() first");
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    LayerData<T> data;
    data.input = plan.activations[i].data();
    data.output = plan.activations[i + 1].data();
    if (plan.layers[i]->weight_size().weight > 0) data.weights = *weights++;
    plan.layers[i]->forward(data);
  }
  return plan.activations.back().data();
}

template <typename T>
T* Network<T>::output_gradient() {
  return plan_->output_gradient.data();
}

template <typename T>
void Network<T>::backward(const Weights<T>* weights,
                          const WeightGradients<T>* gradients) {
  Plan& plan = *plan_;
  RADIR_CHECK(plan.context.gradients, ArgumentError,
              "Network: backward() needs a network made with "
              "NetworkOptions::gradients");
  weights += plan.weight_sizes.size();
  gradients += plan.weight_sizes.size();
  T* output_gradient = plan.output_gradient.data();
  for (std::size_t i = plan.layers.size(); i-- > plan.first_weights;) {
    LayerData<T> data;
    data.input = plan.activations[i].data();
    data.output = plan.activations[i + 1].data();
    data.output_gradient = output_gradient;
    if (i > plan.first_weights) {
      data.input_gradient = plan.gradients[i % 2].data();
    }
    if (plan.layers[i]->weight_size().weight > 0) {
      data.weights = *--weights;
      data.gradients = *--gradients;
    }
    plan.layers[i]->backward(data);
    output_gradient = data.input_gradient;
  }
}

template <typename T>
void Network<T>::copy_outputs(T* rows) const {
  const Plan& plan = *plan_;
  if (plan.output_shape.size() == 1) {
    std::copy_n(plan.activations.back().data(), plan.batch, rows);
    return;
  }
  Transposition<T> transposition;
  transposition.from = plan.activations.back().data();
  transposition.from_row = plan.stride;
  transposition.rows = plan.output_shape.size();
  transposition.columns = plan.batch;
  transposition.to = rows;
  transposition.to_row = plan.output_shape.size();
  transposition.to_columns = plan.output_shape.size();
  plan.context.tables.lanes.transpose(transposition);
}

namespace {

// Rows of a block: enough for full tiles of matrix products, few enough for
// the activations of a small network to stay in the first-level cache. 13-50-1
// runs equally fast from 96 to 512 rows.
constexpr std::int64_t kBlockRows = 128;

}  // namespace

template <typename T>
SampledPrediction<T>::SampledPrediction(
    const network::Shape& input, const std::vector<network::LayerSpec>& layers,
    NetworkOptions options)
    : pool_(options.pool),
      block_(options.max_batch > 0 ? options.max_batch : kBlockRows) {
  options.max_batch = block_;
  options.gradients = false;
  options.pool = nullptr;
  const int threads = pool_ != nullptr ? pool_->size() : 1;
  for (int i = 0; i < threads; ++i)
    networks_.emplace_back(input, layers, options);
}

template <typename T>
void SampledPrediction<T>::run(const T* rows, std::int64_t count,
                               const Weights<T>* weights, std::int64_t samples,
                               T* outputs) {
  const std::int64_t row_size = networks_[0].input_shape().size();
  const std::int64_t output_size = networks_[0].output_shape().size();
  const auto layers =
      static_cast<std::int64_t>(networks_[0].weight_sizes().size());
  std::atomic<std::int64_t> next_row{0};
  const auto work = [&](std::int64_t thread) {
    Network<T>& network = networks_[static_cast<std::size_t>(thread)];
    for (std::int64_t row; (row = next_row.fetch_add(block_)) < count;) {
      network.set_input(rows + row * row_size, std::min(block_, count - row));
      for (std::int64_t s = 0; s < samples; ++s) {
        network.forward(weights + s * layers);
        network.copy_outputs(outputs + (s * count + row) * output_size);
      }
    }
  };
  if (pool_ != nullptr && count > block_) {
    pool_->run(pool_->size(), std::ref(work));
  } else {
    work(0);
  }
}

template class Network<float>;
template class Network<double>;
template class SampledPrediction<float>;
template class SampledPrediction<double>;

}  // namespace radir::kernels
