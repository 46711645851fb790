#include <algorithm>

#include "kernels/layer.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

template <typename T>
class SelectLayer final : public Layer<T> {
 public:
  SelectLayer(const LayerContext<T>& context, const network::Shape& input,
              const network::Shape& output, const network::Select& spec)
      : Layer<T>(context, input, output), indices_(spec.indices) {}

  void forward(const LayerData<T>& data) override {
    const std::int64_t stride = this->stride();
    T* output = data.output;
    for (std::int64_t index : indices_) {
      output = std::copy_n(data.input + index * stride, stride, output);
    }
  }

  void backward(const LayerData<T>& data) override {
    if (data.input_gradient == nullptr) return;
    const std::int64_t stride = this->stride();
    std::fill_n(data.input_gradient, this->input().size() * stride, T(0));
    const T* gradient = data.output_gradient;
    for (std::int64_t index : indices_) {
      std::copy_n(gradient, stride, data.input_gradient + index * stride);
      gradient += stride;
    }
  }

 private:
  std::vector<std::int64_t> indices_;
};

}  // namespace

template <typename T>
LayerPointer<T> make_select(const LayerContext<T>& context,
                            const network::Shape& input,
                            const network::Shape& output,
                            const network::Select& spec) {
  return std::make_unique<SelectLayer<T>>(context, input, output, spec);
}

template LayerPointer<float> make_select(const LayerContext<float>&,
                                         const network::Shape&,
                                         const network::Shape&,
                                         const network::Select&);
template LayerPointer<double> make_select(const LayerContext<double>&,
                                          const network::Shape&,
                                          const network::Shape&,
                                          const network::Select&);

}  // namespace radir::kernels
