#include <utility>

#include "kernels/layer.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

// A layer behind a mask of its input channels, drawn for each example.
template <typename T>
class DropoutLayer final : public Layer<T> {
 public:
  DropoutLayer(const LayerContext<T>& context, LayerPointer<T> layer,
               double rate)
      : Layer<T>(context, layer->input(), layer->output()),
        layer_(std::move(layer)),
        rate_(static_cast<T>(rate)),
        kept_(static_cast<T>(1 / (1 - rate))),
        rows_(this->input().channels * context.max_batch),
        mask_(this->input().channels * context.max_stride()),
        masked_(this->input().size() * context.max_stride()) {}

  WeightSize weight_size() const override { return layer_->weight_size(); }
  bool fuse_relu() override { return layer_->fuse_relu(); }
  bool hand_over_relu() override { return layer_->hand_over_relu(); }

  void set_batch(std::int64_t batch) override {
    Layer<T>::set_batch(batch);
    layer_->set_batch(batch);
  }

  void forward(const LayerData<T>& data) override {
    draw(data.weights.noise);
    multiply(data.input, masked_.data());
    LayerData<T> inner = data;
    inner.input = masked_.data();
    layer_->forward(inner);
  }

  void backward(const LayerData<T>& data) override {
    LayerData<T> inner = data;
    inner.input = masked_.data();
    layer_->backward(inner);
    if (data.input_gradient != nullptr) {
      multiply(data.input_gradient, data.input_gradient);
    }
  }

 private:
  // Multiplications that take the time of a uniform number.
  static constexpr std::int64_t kWork = 4;

  void draw(const RandomStream& stream) {
    const std::int64_t channels = this->input().channels;
    const std::int64_t before = this->context().shards->batch.first * channels;
    draw_by_example(
        this->context(), this->batch(), this->stride(), channels, kWork,
        [&](std::int64_t first, std::int64_t count, T* out) {
          fill_uniform(stream, before + first, count, out);
        },
        rows_.data(), mask_.data());
    T* const mask = mask_.data();
    for (std::int64_t i = 0; i < channels * this->stride(); ++i) {
      mask[i] = mask[i] < rate_ ? T(0) : kept_;
    }
  }

  // to = from * mask; both may be the same.
  void multiply(const T* from, T* to) const {
    const network::Shape& shape = this->input();
    const std::int64_t pixels = shape.height * shape.width;
    const std::int64_t stride = this->stride();
    run_tasks(this->context(), shape.channels, shape.size() * stride,
              [&](std::int64_t channel) {
                const T* const mask = mask_.data() + channel * stride;
                for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
                  const std::int64_t at = (channel * pixels + pixel) * stride;
                  for (std::int64_t n = 0; n < stride; ++n) {
                    to[at + n] = from[at + n] * mask[n];
                  }
                }
              });
  }

  LayerPointer<T> layer_;
  T rate_;
  T kept_;                   // factor of what is not dropped
  AlignedBuffer<T> rows_;    // uniform numbers, example by example
  AlignedBuffer<T> mask_;    // batch innermost
  AlignedBuffer<T> masked_;  // inputs
};

}  // namespace

template <typename T>
LayerPointer<T> make_dropout(const LayerContext<T>& context,
                             LayerPointer<T> layer, double rate) {
  return std::make_unique<DropoutLayer<T>>(context, std::move(layer), rate);
}

template LayerPointer<float> make_dropout(const LayerContext<float>&,
                                          LayerPointer<float>, double);
template LayerPointer<double> make_dropout(const LayerContext<double>&,
                                           LayerPointer<double>, double);

}  // namespace radir::kernels
