#include <algorithm>

#include "kernels/layer.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

// Kernels whose transforms one task computes: an integer number of vectors.
constexpr std::int64_t kTaskKernels = 64;

// Convolution by Winograd's algorithm: images and kernels are transformed to 64
// frequencies, where the convolution is a product of small matrices for each,
// [outputs][inputs] times [inputs][tiles of all data]. The gradients go through
// the same products and the transposed transforms.
template <typename T>
class WinogradLayer final : public WeightLayer<T> {
 public:
  WinogradLayer(const LayerContext<T>& context, const network::Shape& input,
                const network::Shape& output, const network::Conv2d& spec)
      : WeightLayer<T>(
            context, input, output,
            {spec.outputs * input.channels * spec.kernel.h * spec.kernel.w,
             spec.bias ? spec.outputs : 0}),
        kernel_(spec.kernel.h),
        padding_(spec.padding),
        kernels_(input.channels * output.channels),
        kernel_stride_(round_up(kernels_, kWidestLanes<T>)),
        tiles_h_(tiles_along(output.height)),
        tiles_w_(tiles_along(output.width)),
        block_(block_size(output.channels)),
        offsets_(static_cast<std::size_t>(input.channels)),
        tasks_(tasks_for(context.pool)),
        products_(blocks(context.max_batch, kWinogradGroup<T>) *
                  products_size()) {
    const std::int64_t columns = row_stride(context.max_batch);
    const auto buffer = [](std::int64_t size) {
      return AlignedBuffer<T>(kWinogradFrequencies * size);
    };
    weight_ = buffer(kernel_stride_);
    input_ = buffer(input.channels * columns);
    if (!context.gradients) return;
    output_gradient_ = buffer(output.channels * columns);
    weight_gradient_ = buffer(kernel_stride_ * most_shards());
    input_gradient_ = buffer(input.channels * columns);
    scratch_size_ = in_shards()
                        ? columns * round_up(output.channels, kWidestLanes<T>)
                        : row_dots_scratch(input.channels, 1);
    scratch_ = AlignedBuffer<T>(tasks_ * scratch_size_);
    if (!in_shards()) return;
    left_ = AlignedBuffer<T>((part_levels(context.max_shards) + 1) *
                             this->weight_size().weight);
  }

  // Between the last column and the end of a row, transformed gradients are and
  // stay zeros, so that sums over full vectors are sums over the columns.
  void set_batch(std::int64_t batch) override {
    Layer<T>::set_batch(batch);
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      offsets_[i] = static_cast<std::int64_t>(i) * row_stride(batch);
    }
    input_.clear();
    output_gradient_.clear();
  }

  // Each task carries a group of data through, a few output channels at a time,
  // so that their frequencies stay in the second-level cache.
  void forward(const LayerData<T>& data) override {
    for_each_kernel_block(kernels(data.weights.weight, weight_.data()),
                          this->tables().winograd.transform_kernels);
    const std::int64_t groups = blocks(this->batch(), kWinogradGroup<T>);
    run_tasks(this->context(), groups, product_work(),
              [&](std::int64_t group) { forward_group(data, group); });
  }

  void backward(const LayerData<T>& data) override {
    run_tasks(
        this->context(), this->output().channels,
        transform_work(this->output()), [&](std::int64_t channel) {
          this->finish_output_gradient(data, channel, 1);
          WinogradPlane<T> plane = output_plane(data.output_gradient, channel);
          plane.frequencies = output_gradient_.data() + channel * row_stride();
          plane.frequency_stride = output_frequency();
          this->tables().winograd.transform_output(plane);
        });
    const bool wants_input = data.input_gradient != nullptr;
    run_tasks(this->context(), tasks_, product_work(), [&](std::int64_t task) {
      T* const scratch = scratch_.data() + task * scratch_size_;
      const std::int64_t end = (task + 1) * kWinogradFrequencies / tasks_;
      std::int64_t f = task * kWinogradFrequencies / tasks_;
      for (; f < end; ++f) {
        in_shards() ? shard_gradients(f, scratch) : weight_gradient(f, scratch);
        if (wants_input) input_gradient(f);
      }
    });
    if (in_shards()) {
      add_shards(data.gradients.weight);
    } else {
      gather_weight_gradient(weight_gradient_.data(), data.gradients.weight);
    }
    if (!wants_input) return;
    run_tasks(this->context(), this->input().channels,
              transform_work(this->input()), [&](std::int64_t channel) {
                this->tables().winograd.gather_input(
                    input_plane(data.input_gradient, input_gradient_, channel));
              });
  }

 private:
  // As few as keep the threads busy to the end: the frequencies of a task share
  // its scratch space, which stays in the cache.
  static std::int64_t tasks_for(const ThreadPool* pool) {
    if (pool == nullptr || pool->size() == 1) return 1;
    return std::min<std::int64_t>(kWinogradFrequencies, 4 * pool->size());
  }
  static std::int64_t blocks(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
  }
  std::int64_t tiles_along(std::int64_t output_pixels) const {
    return blocks(output_pixels, winograd_step(kernel_));
  }
  std::int64_t tiles() const { return tiles_h_ * tiles_w_; }
  std::int64_t columns() const { return tiles() * this->batch(); }

  // Room for one vector past the last tile.
  std::int64_t row_stride(std::int64_t batch) const {
    return round_up(tiles() * batch, kWidestLanes<T>) + kWidestLanes<T>;
  }
  std::int64_t row_stride() const { return row_stride(this->batch()); }
  std::int64_t group_stride() const { return row_stride(kWinogradGroup<T>); }
  std::int64_t products_size() const {
    return kWinogradFrequencies * block_ * group_stride();
  }

  // Output channels whose frequencies, of one group, fill some 160 KiB.
  std::int64_t block_size(std::int64_t outputs) const {
    const std::int64_t channel_bytes = kWinogradFrequencies * group_stride() *
                                       static_cast<std::int64_t>(sizeof(T));
    const std::int64_t largest =
        std::max<std::int64_t>(1, 160 * 1024 / channel_bytes);
    return blocks(outputs, blocks(outputs, largest));
  }
  std::int64_t input_frequency() const {
    return this->input().channels * row_stride();
  }
  std::int64_t output_frequency() const {
    return this->output().channels * row_stride();
  }
  std::int64_t transform_work(const network::Shape& shape) const {
    constexpr std::int64_t kOperationsPerTile = 500;
    return shape.channels * columns() * kOperationsPerTile;
  }
  std::int64_t product_work() const {
    return kWinogradFrequencies * kernels_ * columns();
  }

  // The pixels are only written by the gather functions.
  WinogradPlane<T> plane(const network::Shape& shape, const T* pixels,
                         std::int64_t channel) const {
    WinogradPlane<T> p;
    p.pixels = const_cast<T*>(pixels) +
               channel * shape.height * shape.width * this->stride();
    p.height = shape.height;
    p.width = shape.width;
    p.stride = this->stride();
    p.end = this->batch();
    p.tiles_h = tiles_h_;
    p.tiles_w = tiles_w_;
    p.kernel = kernel_;
    return p;
  }
  WinogradPlane<T> input_plane(const T* pixels, AlignedBuffer<T>& frequencies,
                               std::int64_t channel) const {
    WinogradPlane<T> p = plane(this->input(), pixels, channel);
    p.padding_h = padding_.h;
    p.padding_w = padding_.w;
    p.frequencies = frequencies.data() + channel * row_stride();
    p.frequency_stride = input_frequency();
    return p;
  }
  WinogradPlane<T> output_plane(const T* pixels, std::int64_t channel) const {
    return plane(this->output(), pixels, channel);
  }

  WinogradKernels<T> kernels(const T* numbers, T* frequencies) {
    WinogradKernels<T> k;
    k.kernels = const_cast<T*>(numbers);
    k.kernel = kernel_;
    k.count = kernels_;
    k.frequencies = frequencies;
    k.frequency_stride = kernel_stride_;
    return k;
  }
  void for_each_kernel_block(const WinogradKernels<T>& all,
                             void (*transform)(const WinogradKernels<T>&)) {
    const std::int64_t tasks = (kernels_ + kTaskKernels - 1) / kTaskKernels;
    run_tasks(this->context(), tasks, kernels_ * kWinogradFrequencies,
              [&](std::int64_t task) {
                const std::int64_t first = task * kTaskKernels;
                WinogradKernels<T> block = all;
                block.count = std::min(kTaskKernels, kernels_ - first);
                block.kernels += first * kernel_ * kernel_;
                block.frequencies += first;
                transform(block);
              });
  }

  void gather_weight_gradient(T* frequencies, T* gradient) {
    for_each_kernel_block(kernels(gradient, frequencies),
                          this->tables().winograd.gather_kernels);
  }

  void forward_group(const LayerData<T>& data, std::int64_t group) {
    const WinogradTable<T>& winograd = this->tables().winograd;
    const std::int64_t begin = group * kWinogradGroup<T>;
    const std::int64_t end = std::min(begin + kWinogradGroup<T>, this->batch());
    for (std::int64_t c = 0; c < this->input().channels; ++c) {
      WinogradPlane<T> plane = input_plane(data.input, input_, c);
      plane.begin = begin;
      plane.end = end;
      winograd.transform_input(plane);
    }
    const std::int64_t outputs = this->output().channels;
    T* const products = products_.data() + group * products_size();
    for (std::int64_t first = 0; first < outputs; first += block_) {
      const std::int64_t count = std::min(block_, outputs - first);
      multiply_group(begin, end, first, count, products);
      for (std::int64_t c = first; c < first + count; ++c) {
        WinogradPlane<T> plane = output_plane(data.output, c);
        plane.begin = begin;
        plane.end = end;
        plane.bias = this->bias(data) ? this->bias(data)[c] : T(0);
        plane.relu = this->relu();
        // The group's columns come first in `products`.
        plane.frequencies =
            products + (c - first) * group_stride() - begin * tiles();
        plane.frequency_stride = block_ * group_stride();
        winograd.gather_output(plane);
      }
    }
  }

  // Output channels [first, first + count) of a group of data, all frequencies.
  void multiply_group(std::int64_t begin, std::int64_t end, std::int64_t first,
                      std::int64_t count, T* products) {
    const std::int64_t channels = this->input().channels;
    MatrixProduct<T> p;
    p.rows = count;
    p.columns = (end - begin) * tiles();
    p.depth = channels;
    p.a_row = channels;
    p.b_row = row_stride();
    p.c_row = group_stride();
    for (std::int64_t f = 0; f < kWinogradFrequencies; ++f) {
      p.a = weight_.data() + f * kernel_stride_ + first * channels;
      p.b = input_.data() + f * input_frequency() + begin * tiles();
      p.c = products + f * block_ * group_stride();
      this->tables().gemm.multiply(p);
    }
  }

  void input_gradient(std::int64_t f) {
    MatrixProduct<T> p;
    p.rows = this->input().channels;
    p.columns = columns();
    p.depth = this->output().channels;
    p.a = weight_.data() + f * kernel_stride_;
    p.a_row = 1;
    p.a_depth = this->input().channels;
    p.b = output_gradient_.data() + f * output_frequency();
    p.b_row = row_stride();
    p.c = input_gradient_.data() + f * input_frequency();
    p.c_row = row_stride();
    this->tables().gemm.multiply(p);
  }

  void weight_gradient(std::int64_t f, T* scratch) {
    const std::int64_t channels = this->input().channels;
    RowDots<T> dots;
    dots.rows = this->output().channels;
    dots.columns = channels;
    dots.length = round_up(columns(), kWidestLanes<T>);
    dots.a = output_gradient_.data() + f * output_frequency();
    dots.a_row = row_stride();
    dots.b = input_.data() + f * input_frequency();
    dots.b_offsets = offsets_.data();
    dots.c = weight_gradient_.data() + f * kernel_stride_;
    dots.c_row = channels;
    dots.scratch = scratch;
    this->tables().gemm.row_dots(dots);
  }

  // Shards are so short that summing the lanes of a dot product would take as
  // long as the product. Their gradients are products with the output's
  // gradients laid out column by column, which gives [input][output] kernels.
  bool in_shards() const { return this->context().max_shards > 1; }

  // Those that may have data.
  std::int64_t most_shards() const {
    return std::min(this->context().max_shards,
                    blocks(this->context().max_batch, kShardRows));
  }

  // Calls treat(number of the shard, begin, end, which of those with data it
  // is).
  template <typename Treat>
  void for_each_shard(const Treat& treat) const {
    std::int64_t begin = 0;
    std::int64_t shard = 0;
    std::int64_t with_data = 0;
    for (const std::int64_t end : this->context().shards->batch.ends) {
      treat(shard++, begin, end, with_data);
      with_data += begin == end ? 0 : 1;
      begin = end;
    }
  }

  T* shard_frequencies(std::int64_t with_data) {
    return weight_gradient_.data() +
           with_data * kWinogradFrequencies * kernel_stride_;
  }

  void shard_gradients(std::int64_t f, T* scratch) {
    for_each_shard([&](std::int64_t, std::int64_t begin, std::int64_t end,
                       std::int64_t with_data) {
      if (begin == end) return;
      shard_gradient(f, begin, end, scratch,
                     shard_frequencies(with_data) + f * kernel_stride_);
    });
  }

  void shard_gradient(std::int64_t f, std::int64_t begin, std::int64_t end,
                      T* scratch, T* gradient) {
    const std::int64_t outputs = this->output().channels;
    const std::int64_t width = round_up(outputs, kWidestLanes<T>);
    Transposition<T> transposition;
    transposition.from =
        output_gradient_.data() + f * output_frequency() + begin * tiles();
    transposition.from_row = row_stride();
    transposition.rows = outputs;
    transposition.columns = (end - begin) * tiles();
    transposition.to = scratch;
    transposition.to_row = width;
    transposition.to_columns = width;
    this->tables().lanes.transpose(transposition);
    MatrixProduct<T> p;
    p.rows = this->input().channels;
    p.columns = outputs;
    p.depth = (end - begin) * tiles();
    p.a = input_.data() + f * input_frequency() + begin * tiles();
    p.a_row = row_stride();
    p.b = transposition.to;
    p.b_row = width;
    p.c = gradient;
    p.c_row = outputs;
    this->tables().gemm.multiply(p);
  }

  // Each shard into the place of the subtree that it ends, to which those to
  // its left are added; then the kernels as [output][input].
  void add_shards(T* gradient) {
    const std::int64_t size = this->weight_size().weight;
    const T* total = nullptr;
    for_each_shard([&](std::int64_t shard, std::int64_t begin, std::int64_t end,
                       std::int64_t with_data) {
      const std::int64_t levels = ended_subtrees(shard);
      T* const sum = left_.data() + levels * size;
      if (begin == end) {
        std::fill_n(sum, size, T(0));
      } else {
        gather_weight_gradient(shard_frequencies(with_data), sum);
      }
      for (std::int64_t level = 0; level < levels; ++level) {
        const T* const from = left_.data() + level * size;
        for (std::int64_t i = 0; i < size; ++i) sum[i] += from[i];
      }
      total = sum;
    });
    const std::int64_t inputs = this->input().channels;
    const std::int64_t outputs = this->output().channels;
    const std::int64_t pixels = kernel_ * kernel_;
    for (std::int64_t i = 0; i < inputs; ++i) {
      for (std::int64_t o = 0; o < outputs; ++o) {
        std::copy_n(total + (i * outputs + o) * pixels, pixels,
                    gradient + (o * inputs + i) * pixels);
      }
    }
  }

  std::int64_t kernel_;
  network::Pair padding_;
  std::int64_t kernels_;
  std::int64_t kernel_stride_;
  std::int64_t tiles_h_;
  std::int64_t tiles_w_;
  std::int64_t block_;  // output channels that are computed together
  std::vector<std::int64_t> offsets_;
  std::int64_t tasks_;  // of some frequencies each, one after the other
  std::int64_t scratch_size_ = 0;  // of a task
  AlignedBuffer<T> products_;      // per group: [frequency][channel of block]
  // All [frequency][channel or kernel].
  AlignedBuffer<T> weight_;
  AlignedBuffer<T> input_;
  AlignedBuffer<T> weight_gradient_;
  AlignedBuffer<T> input_gradient_;
  AlignedBuffer<T> output_gradient_;
  AlignedBuffer<T> scratch_;
  AlignedBuffer<T> left_;  // weight gradients of subtrees of shards
};

}  // namespace

template <typename T>
LayerPointer<T> make_winograd(const LayerContext<T>& context,
                              const network::Shape& input,
                              const network::Shape& output,
                              const network::Conv2d& spec) {
  return std::make_unique<WinogradLayer<T>>(context, input, output, spec);
}

template LayerPointer<float> make_winograd(const LayerContext<float>&,
                                           const network::Shape&,
                                           const network::Shape&,
                                           const network::Conv2d&);
template LayerPointer<double> make_winograd(const LayerContext<double>&,
                                            const network::Shape&,
                                            const network::Shape&,
                                            const network::Conv2d&);

}  // namespace radir::kernels
