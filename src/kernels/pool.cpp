#include <algorithm>

#include "kernels/layer.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

template <typename T>
class MaxPoolLayer final : public Layer<T> {
 public:
  MaxPoolLayer(const LayerContext<T>& context, const network::Shape& input,
               const network::Shape& output, const network::MaxPool2d& spec)
      : Layer<T>(context, input, output),
        spec_(spec),
        winners_(output.size() * context.max_stride()) {}

  void forward(const LayerData<T>& data) override {
    for_each_channel([&](std::int64_t channel) {
      this->tables().lanes.pool_forward(
          plane(const_cast<T*>(data.input), data.output, channel));
    });
  }

  void backward(const LayerData<T>& data) override {
    if (data.input_gradient == nullptr) return;
    for_each_channel([&](std::int64_t channel) {
      this->tables().lanes.pool_backward(
          plane(data.input_gradient, data.output_gradient, channel));
    });
  }

 private:
  template <typename Body>
  void for_each_channel(const Body& body) {
    // A pixel read from memory takes the time of some eight multiplications.
    const std::int64_t work = this->input().size() * this->stride() * 8;
    run_tasks(this->context(), this->input().channels, work, body);
  }

  PoolPlane<T> plane(T* input, T* output, std::int64_t channel) {
    const network::Shape& in = this->input();
    const network::Shape& out = this->output();
    const std::int64_t first = channel * out.height * out.width;
    PoolPlane<T> p;
    p.input = input + channel * in.height * in.width * this->stride();
    p.output = output + first * this->stride();
    p.winner = winners_.data() + first * this->stride();
    p.stride = this->stride();
    p.height = in.height;
    p.width = in.width;
    p.out_height = out.height;
    p.out_width = out.width;
    p.kernel_h = spec_.kernel.h;
    p.kernel_w = spec_.kernel.w;
    p.stride_h = spec_.stride.h;
    p.stride_w = spec_.stride.w;
    p.padding_h = spec_.padding.h;
    p.padding_w = spec_.padding.w;
    return p;
  }

  network::MaxPool2d spec_;
  AlignedBuffer<T> winners_;
};

template <typename T>
class ReluLayer final : public Layer<T> {
 public:
  ReluLayer(const LayerContext<T>& context, const network::Shape& shape)
      : Layer<T>(context, shape, shape) {}

  void forward(const LayerData<T>& data) override {
    for_each_channel([&](std::int64_t begin, std::int64_t count) {
      this->tables().lanes.relu(data.input + begin, count, data.output + begin);
    });
  }

  void backward(const LayerData<T>& data) override {
    if (data.input_gradient == nullptr) return;
    for_each_channel([&](std::int64_t begin, std::int64_t count) {
      T* const gradient = data.input_gradient + begin;
      std::copy_n(data.output_gradient + begin, count, gradient);
      this->tables().lanes.relu_backward(data.output + begin, count, gradient);
    });
  }

 private:
  template <typename Body>
  void for_each_channel(const Body& body) {
    const network::Shape& shape = this->input();
    const std::int64_t count = shape.height * shape.width * this->stride();
    run_tasks(this->context(), shape.channels, shape.channels * count * 2,
              [&](std::int64_t c) { body(c * count, count); });
  }
};

}  // namespace

template <typename T>
LayerPointer<T> make_pool(const LayerContext<T>& context,
                          const network::Shape& input,
                          const network::Shape& output,
                          const network::MaxPool2d& spec) {
  return std::make_unique<MaxPoolLayer<T>>(context, input, output, spec);
}

template <typename T>
LayerPointer<T> make_relu(const LayerContext<T>& context,
                          const network::Shape& shape) {
  return std::make_unique<ReluLayer<T>>(context, shape);
}

template LayerPointer<float> make_pool(const LayerContext<float>&,
                                       const network::Shape&,
                                       const network::Shape&,
                                       const network::MaxPool2d&);
template LayerPointer<double> make_pool(const LayerContext<double>&,
                                        const network::Shape&,
                                        const network::Shape&,
                                        const network::MaxPool2d&);
template LayerPointer<float> make_relu(const LayerContext<float>&,
                                       const network::Shape&);
template LayerPointer<double> make_relu(const LayerContext<double>&,
                                        const network::Shape&);

}  // namespace radir::kernels
