#include <algorithm>

#include "kernels/layer.h"
#include "radir/network/spec.h"

namespace radir::kernels {
namespace {

// Rows of a product that one task computes.
constexpr std::int64_t kTaskRows = 48;

template <typename T>
class DenseLayer final : public WeightLayer<T> {
 public:
  DenseLayer(const LayerContext<T>& context, const network::Shape& input,
             const network::Dense& spec)
      : WeightLayer<T>(
            context, input, {spec.outputs, 1, 1},
            {spec.outputs * input.size(), spec.bias ? spec.outputs : 0}),
        inputs_(input.size()),
        outputs_(spec.outputs) {
    if (!context.gradients) return;
    if (uses_dots()) {
      scratch_ =
          AlignedBuffer<T>(row_dots_scratch(inputs_, context.max_shards));
      offsets_.resize(static_cast<std::size_t>(inputs_));
    } else {
      rows_ = AlignedBuffer<T>(context.max_batch * row_stride());
    }
  }

  void follow(Layer<T>& before) override {
    gates_input_ = before.hand_over_relu();
  }

  void set_batch(std::int64_t batch) override {
    Layer<T>::set_batch(batch);
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      offsets_[i] = static_cast<std::int64_t>(i) * this->stride();
    }
  }

  void forward(const LayerData<T>& data) override {
    MatrixProduct<T> product;
    // Only a backward pass reads what is behind the last row.
    product.columns =
        this->context().gradients ? this->stride() : this->batch();
    product.depth = inputs_;
    product.a = data.weights.weight;
    product.a_row = inputs_;
    product.b = data.input;
    product.b_row = this->stride();
    product.c = data.output;
    product.c_row = this->stride();
    product.bias = this->bias(data);
    product.relu = this->relu();
    multiply(product, outputs_);
  }

  void backward(const LayerData<T>& data) override {
    this->finish_output_gradient(data, 0, outputs_);
    if (uses_dots()) {
      weight_gradient_by_dots(data);
    } else {
      weight_gradient_by_product(data);
    }
    if (data.input_gradient != nullptr) input_gradient(data);
  }

 private:
  // With few outputs, transposing the inputs costs more than summing lanes.
  bool uses_dots() const { return outputs_ < 8; }
  std::int64_t row_stride() const { return round_up(inputs_, kWidestLanes<T>); }

  // All rows of a product, in tasks.
  void multiply(const MatrixProduct<T>& whole, std::int64_t rows) {
    const std::int64_t tasks = (rows + kTaskRows - 1) / kTaskRows;
    run_tasks(this->context(), tasks, rows * whole.columns * whole.depth,
              [&](std::int64_t task) {
                const std::int64_t begin = rows * task / tasks;
                MatrixProduct<T> part = whole;
                part.rows = rows * (task + 1) / tasks - begin;
                part.a += begin * whole.a_row;
                part.c += begin * whole.c_row;
                if (part.bias != nullptr) part.bias += begin;
                if (part.gate != nullptr) part.gate += begin * whole.c_row;
                this->tables().gemm.multiply(part);
              });
  }

  // W' dy, and through the ReLU that made the input where this layer took over
  // its backward pass: the gradient is then written once.
  void input_gradient(const LayerData<T>& data) {
    MatrixProduct<T> product;
    product.columns = this->stride();
    product.depth = outputs_;
    product.a = data.weights.weight;
    product.a_row = 1;
    product.a_depth = inputs_;
    product.b = data.output_gradient;
    product.b_row = this->stride();
    product.c = data.input_gradient;
    product.c_row = this->stride();
    if (gates_input_) product.gate = data.input;
    multiply(product, inputs_);
  }

  // dy x' as a product with the inputs laid out row by row.
  void weight_gradient_by_product(const LayerData<T>& data) {
    const std::int64_t tasks = (inputs_ + kTaskRows - 1) / kTaskRows;
    run_tasks(this->context(), tasks, inputs_ * this->batch() * 4,
              [&](std::int64_t task) {
                const std::int64_t begin = task * kTaskRows;
                const std::int64_t end = std::min(begin + kTaskRows, inputs_);
                Transposition<T> transposition;
                transposition.from = data.input + begin * this->stride();
                transposition.from_row = this->stride();
                transposition.rows = end - begin;
                transposition.columns = this->batch();
                transposition.to = rows_.data() + begin;
                transposition.to_row = row_stride();
                transposition.to_columns =
                    end == inputs_ ? row_stride() - begin : kTaskRows;
                this->tables().lanes.transpose(transposition);
              });
    MatrixProduct<T> product;
    product.columns = inputs_;
    product.depth = this->batch();
    product.a = data.output_gradient;
    product.a_row = this->stride();
    product.b = rows_.data();
    product.b_row = row_stride();
    product.c = data.gradients.weight;
    product.c_row = inputs_;
    const NetworkShards& shards = *this->context().shards;
    product.parts = shards.count();
    product.part_ends = shards.batch.ends.data();
    multiply(product, outputs_);
  }

  // The same as dot products along the batch.
  void weight_gradient_by_dots(const LayerData<T>& data) {
    RowDots<T> dots;
    dots.rows = outputs_;
    dots.columns = inputs_;
    dots.length = this->stride();
    dots.a = data.output_gradient;
    dots.a_row = this->stride();
    dots.b = data.input;
    dots.b_offsets = offsets_.data();
    dots.c = data.gradients.weight;
    dots.c_row = inputs_;
    dots.scratch = scratch_.data();
    const NetworkShards& shards = *this->context().shards;
    dots.parts = shards.count();
    dots.part_ends = shards.lane_ends.data();
    dots.period = dots.length;
    this->tables().gemm.row_dots(dots);
  }

  std::int64_t inputs_;
  std::int64_t outputs_;
  bool gates_input_ = false;
  AlignedBuffer<T> rows_;
  AlignedBuffer<T> scratch_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

template <typename T>
LayerPointer<T> make_dense(const LayerContext<T>& context,
                           const network::Shape& input,
                           const network::Dense& spec) {
  return std::make_unique<DenseLayer<T>>(context, input, spec);
}

template LayerPointer<float> make_dense(const LayerContext<float>&,
                                        const network::Shape&,
                                        const network::Dense&);
template LayerPointer<double> make_dense(const LayerContext<double>&,
                                         const network::Shape&,
                                         const network::Dense&);

}  // namespace radir::kernels
