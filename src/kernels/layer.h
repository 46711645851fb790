#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/aligned_buffer.h"
#include "kernels/gemm_isa.h"
#include "kernels/lanes_isa.h"
#include "kernels/winograd_isa.h"
#include "radir/kernels/network.h"
#include "radir/network/spec.h"

// The layers of a Network. Private to the kernels.

namespace radir::kernels {

/// The functions of one instruction set.
template <typename T>
struct NetworkTables {
  const GemmTable<T>& gemm;
  const WinogradTable<T>& winograd;
  const LanesTable<T>& lanes;
};

/// The shards of the batch that a network has.
struct NetworkShards {
  BatchShards batch;
  /// Where they end with complete vectors.
  std::vector<std::int64_t> lane_ends;

  std::int64_t count() const {
    return static_cast<std::int64_t>(batch.ends.size());
  }
};

/// What every layer of a network is given.
template <typename T>
struct LayerContext {
  NetworkTables<T> tables;
  ThreadPool* pool;
  std::int64_t max_batch;
  bool gradients;
  const NetworkShards* shards;
  std::int64_t max_shards;

  std::int64_t max_stride() const {
    return round_up(max_batch, kWidestLanes<T>);
  }
};

/// Runs body(0) ... body(count - 1), on the pool where the multiplications
/// (and operations as dear) are worth waking its threads: those are a few
/// microseconds away, in which one thread does 10^5 to 10^6 of them.
template <typename T, typename Body>
void run_tasks(const LayerContext<T>& context, std::int64_t count,
               std::int64_t multiplications, const Body& body) {
  constexpr std::int64_t kWorthThreads = 400000;
  if (context.pool != nullptr && multiplications >= kWorthThreads) {
    context.pool->run(count, std::ref(body));
  } else {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
}

/// Draws `units` numbers of each example into rows[batch][units], by calls of
/// fill(first number, count, where), whose numbers must not depend on how they
/// are cut; writes them with the batch innermost, zero past it. `work` is the
/// multiplications that take the time of a number.
template <typename T, typename Fill>
void draw_by_example(const LayerContext<T>& context, std::int64_t batch,
                     std::int64_t stride, std::int64_t units, std::int64_t work,
                     const Fill& fill, T* rows, T* lanes) {
  constexpr std::int64_t kTaskNumbers = 4096;
  const std::int64_t count = batch * units;
  run_tasks(context, (count + kTaskNumbers - 1) / kTaskNumbers, work * count,
            [&](std::int64_t task) {
              const std::int64_t first = task * kTaskNumbers;
              fill(first, std::min(kTaskNumbers, count - first), rows + first);
            });
  Transposition<T> transposition;
  transposition.from = rows;
  transposition.from_row = units;
  transposition.rows = batch;
  transposition.columns = units;
  transposition.to = lanes;
  transposition.to_row = stride;
  transposition.to_columns = stride;
  context.tables.lanes.transpose(transposition);
}

/// Data of one pass through a layer, batch innermost.
template <typename T>
struct LayerData {
  const T* input = nullptr;
  T* output = nullptr;
  T* output_gradient = nullptr;
  T* input_gradient = nullptr;  ///< nullptr: not wanted
  Weights<T> weights;
  WeightGradients<T> gradients;
};

template <typename T>
class Layer {
 public:
  Layer(const LayerContext<T>& context, const network::Shape& input,
        const network::Shape& output)
      : context_(context), input_(input), output_(output) {}
  virtual ~Layer() = default;

  const network::Shape& input() const { return input_; }
  const network::Shape& output() const { return output_; }
  virtual WeightSize weight_size() const { return {}; }

  /// Takes over a ReLU that follows; false if this layer cannot.
  virtual bool fuse_relu() { return false; }
  /// Leaves the backward pass of the ReLU it took over to the layer that
  /// follows; false if there is none.
  virtual bool hand_over_relu() { return false; }
  /// Told once which layer comes before.
  virtual void follow(Layer&) {}

  /// Prepares for batches of this size.
  virtual void set_batch(std::int64_t batch) {
    batch_ = batch;
    stride_ = round_up(batch, kWidestLanes<T>);
  }
  virtual void forward(const LayerData<T>& data) = 0;
  virtual void backward(const LayerData<T>& data) = 0;

 protected:
  const LayerContext<T>& context() const { return context_; }
  const NetworkTables<T>& tables() const { return context_.tables; }
  std::int64_t batch() const { return batch_; }
  std::int64_t stride() const { return stride_; }

 private:
  LayerContext<T> context_;
  network::Shape input_;
  network::Shape output_;
  std::int64_t batch_ = 0;
  std::int64_t stride_ = 0;
};

/// A layer with weights: it may end with a ReLU, and sums its bias gradient.
template <typename T>
class WeightLayer : public Layer<T> {
 public:
  WeightLayer(const LayerContext<T>& context, const network::Shape& input,
              const network::Shape& output, const WeightSize& size)
      : Layer<T>(context, input, output), size_(size) {}

  WeightSize weight_size() const final { return size_; }
  bool fuse_relu() final { return relu_ = relu_backward_ = true; }
  bool hand_over_relu() final { return std::exchange(relu_backward_, false); }

 protected:
  bool relu() const { return relu_; }
  const T* bias(const LayerData<T>& data) const {
    return size_.bias > 0 ? data.weights.bias : nullptr;
  }

  /// The part of the backward pass that concerns single output channels, from
  /// `first` on: through the ReLU unless handed over, and the bias's gradient.
  void finish_output_gradient(const LayerData<T>& data, std::int64_t first,
                              std::int64_t channels) const {
    const network::Shape& shape = this->output();
    const std::int64_t count = shape.height * shape.width * this->stride();
    T* const gradient = data.output_gradient + first * count;
    const LanesTable<T>& lanes = this->tables().lanes;
    if (relu_backward_) {
      lanes.relu_backward(data.output + first * count, channels * count,
                          gradient);
    }
    if (size_.bias == 0) return;
    T* const sums = data.gradients.bias + first;
    const NetworkShards& shards = *this->context().shards;
    if (this->context().max_shards == 1) {
      lanes.row_sums(gradient, channels, count, sums);
    } else {
      lanes.row_sums_in_parts({gradient, channels, count, this->stride(),
                               shards.lane_ends.data(), shards.count(), sums});
    }
  }

 private:
  WeightSize size_;
  bool relu_ = false;
  bool relu_backward_ = false;
};

template <typename T>
using LayerPointer = std::unique_ptr<Layer<T>>;

/// Shapes are those of layer_shapes(), which has checked them.
template <typename T>
LayerPointer<T> make_dense(const LayerContext<T>&, const network::Shape& input,
                           const network::Dense&);
template <typename T>
LayerPointer<T> make_conv(const LayerContext<T>&, const network::Shape& input,
                          const network::Shape& output, const network::Conv2d&);
template <typename T>
LayerPointer<T> make_pool(const LayerContext<T>&, const network::Shape& input,
                          const network::Shape& output,
                          const network::MaxPool2d&);
template <typename T>
LayerPointer<T> make_relu(const LayerContext<T>&, const network::Shape& shape);

template <typename T>
LayerPointer<T> make_select(const LayerContext<T>&, const network::Shape& input,
                            const network::Shape& output,
                            const network::Select&);

/// The convolution as its defining sum, which of numbers that are not negative
/// is not negative either.
template <typename T>
LayerPointer<T> make_direct_conv(const LayerContext<T>&,
                                 const network::Shape& input,
                                 const network::Shape& output,
                                 const network::Conv2d&);

/// Two layers of one form, for the means and the variances of the outputs: see
/// NetworkOptions::activation_noise.
template <typename T>
LayerPointer<T> make_noisy(const LayerContext<T>&, LayerPointer<T> mean,
                           LayerPointer<T> variance);

/// A layer whose input channels are dropped at random, see
/// NetworkOptions::dropout.
template <typename T>
LayerPointer<T> make_dropout(const LayerContext<T>&, LayerPointer<T> layer,
                             double rate);

/// For a convolution of kernel 3x3 or 5x5, stride and dilation 1, one group.
template <typename T>
LayerPointer<T> make_winograd(const LayerContext<T>&,
                              const network::Shape& input,
                              const network::Shape& output,
                              const network::Conv2d&);

}  // namespace radir::kernels
