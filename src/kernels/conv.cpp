#include <algorithm>

#include "kernels/layer.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

// Convolution as matrix products, no matrix being copied together: the pixels
// that kernel position (channel, row, column) meets along one output row lie
// one after the other when the stride is 1, data of all pixels included, so a
// row of the product's right-hand side is just an address. With another
// horizontal stride the same holds pixel by pixel.
template <typename T>
class DirectConvLayer final : public WeightLayer<T> {
 public:
  DirectConvLayer(const LayerContext<T>& context, const network::Shape& input,
                  const network::Shape& output, const network::Conv2d& spec)
      : WeightLayer<T>(context, input, output,
                       {spec.outputs * input.channels / spec.groups *
                            spec.kernel.h * spec.kernel.w,
                        spec.bias ? spec.outputs : 0}),
        spec_(spec),
        padded_{input.channels, input.height + 2 * spec.padding.h,
                input.width + 2 * spec.padding.w},
        group_inputs_(input.channels / spec.groups),
        group_outputs_(spec.outputs / spec.groups),
        positions_(spec.kernel.h * spec.kernel.w),
        whole_rows_(spec.stride.w == 1),
        offsets_(static_cast<std::size_t>(group_inputs_ * positions_)),
        run_offsets_(static_cast<std::size_t>(runs())) {
    const std::int64_t stride = context.max_stride();
    if (has_padding()) {
      padded_input_ = AlignedBuffer<T>(padded_.size() * stride);
    }
    if (!context.gradients) return;
    if (has_padding()) {
      padded_gradient_ = AlignedBuffer<T>(padded_.size() * stride);
    }
    columns_ = AlignedBuffer<T>(input.channels * positions_ * run(stride));
    scratch_ = AlignedBuffer<T>(spec.groups * dot_tasks() * scratch_size());
  }

  void set_batch(std::int64_t batch) override {
    Layer<T>::set_batch(batch);
    std::size_t k = 0;
    for (std::int64_t c = 0; c < group_inputs_; ++c) {
      for (std::int64_t y = 0; y < spec_.kernel.h; ++y) {
        for (std::int64_t x = 0; x < spec_.kernel.w; ++x) {
          offsets_[k++] = pixel(c, y * spec_.dilation.h, x * spec_.dilation.w);
        }
      }
    }
    for (std::int64_t r = 0; r < runs(); ++r) {
      const std::int64_t y = whole_rows_ ? r : r / this->output().width;
      const std::int64_t x = whole_rows_ ? 0 : r % this->output().width;
      run_offsets_[static_cast<std::size_t>(r)] =
          pixel(0, y * spec_.stride.h, x * spec_.stride.w);
    }
  }

  void forward(const LayerData<T>& data) override {
    const T* const input = with_padding(data.input);
    run_tasks(this->context(), spec_.groups * runs(), multiplications(),
              [&](std::int64_t task) {
                const std::int64_t group = task / runs();
                const std::int64_t r = task % runs();
                MatrixProduct<T> product;
                product.rows = group_outputs_;
                product.columns = run(this->stride());
                product.depth = group_inputs_ * positions_;
                product.a = group_weight(data, group);
                product.a_row = product.depth;
                product.b = input + pixel(group * group_inputs_, 0, 0) +
                            run_offsets_[static_cast<std::size_t>(r)];
                product.b_offsets = offsets_.data();
                product.c = data.output + output_run(group, r);
                product.c_row = output_channel();
                product.relu = this->relu();
                product.bias = this->bias(data);
                if (product.bias) product.bias += group * group_outputs_;
                this->tables().gemm.multiply(product);
              });
  }

  void backward(const LayerData<T>& data) override {
    const std::int64_t tasks = spec_.groups * dot_tasks();
    run_tasks(this->context(), tasks, multiplications(),
              [&](std::int64_t task) { weight_gradient(data, task); });
    if (data.input_gradient != nullptr) input_gradient(data);
  }

 private:
  bool has_padding() const {
    return spec_.padding.h > 0 || spec_.padding.w > 0;
  }

  // An output row, or an output pixel, is a run.
  std::int64_t runs() const {
    const network::Shape& output = this->output();
    return whole_rows_ ? output.height : output.height * output.width;
  }
  std::int64_t run(std::int64_t stride) const {
    return whole_rows_ ? this->output().width * stride : stride;
  }
  std::int64_t multiplications() const {
    return this->output().size() * this->stride() * group_inputs_ * positions_;
  }
  std::int64_t pixel(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return ((c * padded_.height + y) * padded_.width + x) * this->stride();
  }
  std::int64_t output_channel() const {
    return this->output().height * this->output().width * this->stride();
  }
  std::int64_t output_run(std::int64_t group, std::int64_t r) const {
    return group * group_outputs_ * output_channel() + r * run(this->stride());
  }
  const T* group_weight(const LayerData<T>& data, std::int64_t group) const {
    return data.weights.weight +
           group * group_outputs_ * group_inputs_ * positions_;
  }
  std::int64_t dot_tasks() const {
    return (group_outputs_ + kDotRows - 1) / kDotRows;
  }
  std::int64_t scratch_size() const {
    return row_dots_scratch(group_inputs_ * positions_,
                            this->context().max_shards);
  }

  // Copies each row of the image into, or out of, the frame of zeros.
  template <typename Copy>
  void for_each_row(const Copy& copy) const {
    const network::Shape& input = this->input();
    const std::int64_t length = input.width * this->stride();
    for (std::int64_t c = 0; c < input.channels; ++c) {
      for (std::int64_t y = 0; y < input.height; ++y) {
        copy((c * input.height + y) * length,
             pixel(c, y + spec_.padding.h, spec_.padding.w), length);
      }
    }
  }

  const T* with_padding(const T* input) {
    if (!has_padding()) return input;
    padded_input_.clear();
    T* const padded = padded_input_.data();
    for_each_row([&](std::int64_t i, std::int64_t p, std::int64_t length) {
      std::copy_n(input + i, length, padded + p);
    });
    return padded;
  }

  // Rows [first, first + kDotRows) of one group's weights: every task sums over
  // the complete batch by itself, so nothing depends on the number of threads.
  void weight_gradient(const LayerData<T>& data, std::int64_t task) {
    const std::int64_t group = task / dot_tasks();
    const std::int64_t block = task % dot_tasks();
    const std::int64_t first = group_outputs_ * block / dot_tasks();
    const std::int64_t next = group_outputs_ * (block + 1) / dot_tasks();
    const std::int64_t channel = group * group_outputs_ + first;
    this->finish_output_gradient(data, channel, next - first);
    RowDots<T> dots;
    dots.rows = next - first;
    dots.columns = group_inputs_ * positions_;
    dots.runs = runs();
    dots.length = run(this->stride());
    dots.a = data.output_gradient + channel * output_channel();
    dots.a_row = output_channel();
    dots.b = (has_padding() ? padded_input_.data() : data.input) +
             pixel(group * group_inputs_, 0, 0);
    dots.b_offsets = offsets_.data();
    dots.run_offsets = run_offsets_.data();
    dots.c = data.gradients.weight + channel * dots.columns;
    dots.c_row = dots.columns;
    dots.scratch = scratch_.data() + task * scratch_size();
    const NetworkShards& shards = *this->context().shards;
    dots.parts = shards.count();
    dots.part_ends = shards.lane_ends.data();
    dots.period = this->stride();
    this->tables().gemm.row_dots(dots);
  }

  void input_gradient(const LayerData<T>& data) {
    T* const gradient =
        has_padding() ? padded_gradient_.data() : data.input_gradient;
    run_tasks(this->context(), this->input().channels, multiplications(),
              [&](std::int64_t channel) {
                input_channel_gradient(data, channel, gradient);
              });
    if (!has_padding()) return;
    for_each_row([&](std::int64_t i, std::int64_t p, std::int64_t length) {
      std::copy_n(gradient + p, length, data.input_gradient + i);
    });
  }

  // For each run: what each kernel position passes back, then its addition to
  // the pixels it came from.
  void input_channel_gradient(const LayerData<T>& data, std::int64_t channel,
                              T* gradient) {
    const std::int64_t group = channel / group_inputs_;
    const std::int64_t length = run(this->stride());
    T* const columns = columns_.data() + channel * positions_ * length;
    T* const plane = gradient + pixel(channel, 0, 0);
    std::fill_n(plane, pixel(1, 0, 0), T(0));
    MatrixProduct<T> product;
    product.rows = positions_;
    product.columns = length;
    product.depth = group_outputs_;
    product.a =
        group_weight(data, group) + channel % group_inputs_ * positions_;
    product.a_row = 1;
    product.a_depth = group_inputs_ * positions_;
    product.b_row = output_channel();
    product.c = columns;
    product.c_row = length;
    for (std::int64_t r = 0; r < runs(); ++r) {
      product.b = data.output_gradient + output_run(group, r);
      this->tables().gemm.multiply(product);
      for (std::int64_t k = 0; k < positions_; ++k) {
        this->tables().lanes.add(columns + k * length, length,
                                 plane +
                                     run_offsets_[static_cast<std::size_t>(r)] +
                                     offsets_[static_cast<std::size_t>(k)]);
      }
    }
  }

  network::Conv2d spec_;
  network::Shape padded_;
  std::int64_t group_inputs_;
  std::int64_t group_outputs_;
  std::int64_t positions_;
  bool whole_rows_;
  std::vector<std::int64_t> offsets_;      // of kernel positions
  std::vector<std::int64_t> run_offsets_;  // of the first pixel of each run
  AlignedBuffer<T> padded_input_;
  AlignedBuffer<T> padded_gradient_;
  AlignedBuffer<T> columns_;  // per input channel: [position][run]
  AlignedBuffer<T> scratch_;  // per task of the weight gradient
};

// Whether Winograd's algorithm is faster: 64 multiplications per tile and pair
// of channels, and transforms worth about 500 per tile and channel (measured),
// against all of the direct sum.
bool winograd_pays(const network::Shape& input, const network::Shape& output,
                   const network::Conv2d& spec) {
  const std::int64_t kernel = spec.kernel.h;
  if (spec.kernel.w != kernel || (kernel != 3 && kernel != 5)) return false;
  if (spec.stride.h != 1 || spec.stride.w != 1 || spec.groups != 1 ||
      spec.dilation.h != 1 || spec.dilation.w != 1) {
    return false;
  }
  const std::int64_t step = winograd_step(kernel);
  const std::int64_t tiles =
      ((output.height + step - 1) / step) * ((output.width + step - 1) / step);
  const std::int64_t pairs = input.channels * output.channels;
  const std::int64_t direct =
      output.height * output.width * kernel * kernel * pairs;
  const std::int64_t transformed =
      tiles *
      (kWinogradFrequencies * pairs + 500 * (input.channels + output.channels));
  return transformed < direct;
}

}  // namespace

template <typename T>
LayerPointer<T> make_direct_conv(const LayerContext<T>& context,
                                 const network::Shape& input,
                                 const network::Shape& output,
                                 const network::Conv2d& spec) {
  return std::make_unique<DirectConvLayer<T>>(context, input, output, spec);
}

template <typename T>
LayerPointer<T> make_conv(const LayerContext<T>& context,
                          const network::Shape& input,
                          const network::Shape& output,
                          const network::Conv2d& spec) {
  return winograd_pays(input, output, spec)
             ? make_winograd<T>(context, input, output, spec)
             : make_direct_conv<T>(context, input, output, spec);
}

template LayerPointer<float> make_direct_conv(const LayerContext<float>&,
                                              const network::Shape&,
                                              const network::Shape&,
                                              const network::Conv2d&);
template LayerPointer<double> make_direct_conv(const LayerContext<double>&,
                                               const network::Shape&,
                                               const network::Shape&,
                                               const network::Conv2d&);

template LayerPointer<float> make_conv(const LayerContext<float>&,
                                       const network::Shape&,
                                       const network::Shape&,
                                       const network::Conv2d&);
template LayerPointer<double> make_conv(const LayerContext<double>&,
                                        const network::Shape&,
                                        const network::Shape&,
                                        const network::Conv2d&);

}  // namespace radir::kernels
