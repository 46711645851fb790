#include <algorithm>
#include <cmath>

#include "kernels/layer.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

// Variances below this are taken for it, so that the root has a gradient: all
// inputs of a unit may be zero.
constexpr double kLeastVariance = 1e-20;

// Noise in the outputs instead of the weights (Kingma et al. 2015): two layers
// of one form, of which one maps the inputs by the means of the weights and one
// the squared inputs by their variances,
//   y = mean(x) + sqrt(variance(x^2)) eps.
template <typename T>
class NoisyLayer final : public Layer<T> {
 public:
  NoisyLayer(const LayerContext<T>& context, LayerPointer<T> mean,
             LayerPointer<T> variance)
      : Layer<T>(context, mean->input(), mean->output()),
        mean_(std::move(mean)),
        variance_(std::move(variance)),
        squares_(this->input().size() * context.max_stride()),
        rows_(this->output().size() * context.max_batch),
        noise_(this->output().size() * context.max_stride()),
        deviation_(this->output().size() * context.max_stride()) {
    if (!context.gradients) return;
    squares_gradient_ =
        AlignedBuffer<T>(this->input().size() * context.max_stride());
  }

  WeightSize weight_size() const override { return mean_->weight_size(); }

  void set_batch(std::int64_t batch) override {
    Layer<T>::set_batch(batch);
    mean_->set_batch(batch);
    variance_->set_batch(batch);
  }

  void forward(const LayerData<T>& data) override {
    draw(data.weights.noise);
    mean_->forward(data);

    T* const squares = squares_.data();
    for_each(this->input(), [&](std::int64_t i) {
      squares[i] = data.input[i] * data.input[i];
    });
    LayerData<T> variance;
    variance.input = squares;
    variance.output = deviation_.data();
    variance.weights = variances(data);
    variance_->forward(variance);

    T* const deviation = deviation_.data();
    const T* const noise = noise_.data();
    for_each(this->output(), [&](std::int64_t i) {
      deviation[i] = std::sqrt(std::max(deviation[i], T(kLeastVariance)));
      data.output[i] += deviation[i] * noise[i];
    });
  }

  void backward(const LayerData<T>& data) override {
    mean_->backward(data);

    // The noise is used up: its place takes the gradient by the variances.
    T* const gradient = noise_.data();
    const T* const deviation = deviation_.data();
    const T least = std::sqrt(T(kLeastVariance));
    for_each(this->output(), [&](std::int64_t i) {
      gradient[i] = deviation[i] > least ? data.output_gradient[i] *
                                               gradient[i] / (2 * deviation[i])
                                         : T(0);
    });
    LayerData<T> variance;
    variance.input = squares_.data();
    variance.output_gradient = gradient;
    if (data.input_gradient != nullptr) {
      variance.input_gradient = squares_gradient_.data();
    }
    variance.weights = variances(data);
    variance.gradients = {data.gradients.weight_variance,
                          data.gradients.bias_variance, nullptr, nullptr};
    variance_->backward(variance);
    if (data.input_gradient == nullptr) return;
    const T* const squares_gradient = squares_gradient_.data();
    for_each(this->input(), [&](std::int64_t i) {
      data.input_gradient[i] += 2 * data.input[i] * squares_gradient[i];
    });
  }

 private:
  static Weights<T> variances(const LayerData<T>& data) {
    Weights<T> result;
    result.weight = data.weights.weight_variance;
    result.bias = data.weights.bias_variance;
    return result;
  }

  // Number `example * units + unit` of the stream for each.
  void draw(const RandomStream& stream) {
    const std::int64_t before =
        this->context().shards->batch.first * this->output().size();
    draw_by_example(
        this->context(), this->batch(), this->stride(), this->output().size(),
        kWork,
        [&](std::int64_t first, std::int64_t count, T* out) {
          fill_normal(stream, before + first, count, out);
        },
        rows_.data(), noise_.data());
  }

  // All numbers of a buffer of this shape, channels being tasks.
  template <typename Treat>
  void for_each(const network::Shape& shape, const Treat& treat) const {
    const std::int64_t count = shape.height * shape.width * this->stride();
    run_tasks(this->context(), shape.channels, kWork * shape.channels * count,
              [&](std::int64_t channel) {
                const std::int64_t end = (channel + 1) * count;
                for (std::int64_t i = channel * count; i < end; ++i) treat(i);
              });
  }

  // Multiplications that take the time of a normal number, or of one turn of
  // the loops here.
  static constexpr std::int64_t kWork = 8;

  LayerPointer<T> mean_;
  LayerPointer<T> variance_;
  AlignedBuffer<T> squares_;    // of the inputs
  AlignedBuffer<T> rows_;       // noise, example by example
  AlignedBuffer<T> noise_;      // the same, batch innermost
  AlignedBuffer<T> deviation_;  // of the outputs
  AlignedBuffer<T> squares_gradient_;
};

}  // namespace

template <typename T>
LayerPointer<T> make_noisy(const LayerContext<T>& context, LayerPointer<T> mean,
                           LayerPointer<T> variance) {
  return std::make_unique<NoisyLayer<T>>(context, std::move(mean),
                                         std::move(variance));
}

template LayerPointer<float> make_noisy(const LayerContext<float>&,
                                        LayerPointer<float>,
                                        LayerPointer<float>);
template LayerPointer<double> make_noisy(const LayerContext<double>&,
                                         LayerPointer<double>,
                                         LayerPointer<double>);

}  // namespace radir::kernels
