#include <limits>
#include <optional>

#include "io/onnx_format.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/files/atomic_file.h"
#include "radir/io/onnx.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::io {
namespace {

using network::Pair;

void set_attribute(onnx::NodeProto& node, const char* name,
                   std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_attribute(onnx::NodeProto& node, const char* name,
                   std::initializer_list<std::int64_t> values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (std::int64_t value : values) attribute.add_ints(value);
}

/// kernel_shape, strides and pads of a layer that moves a window.
template <typename Layer>
void set_window(onnx::NodeProto& node, const Layer& layer) {
  const Pair& padding = layer.padding;
  set_attribute(node, "kernel_shape", {layer.kernel.h, layer.kernel.w});
  set_attribute(node, "strides", {layer.stride.h, layer.stride.w});
  set_attribute(node, "pads", {padding.h, padding.w, padding.h, padding.w});
}

void set_type(onnx::ValueInfoProto& value, const std::string& name,
              const OnnxDims& dims_after_batch) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("batch");
  for (std::int64_t size : dims_after_batch) {
    type.mutable_shape()->add_dim()->set_dim_value(size);
  }
}

/// Whether a layer reads height and width (true) or a vector (false); nothing
/// for one that takes either.
struct ReadsImage {
  using Answer = std::optional<bool>;
  Answer operator()(const network::Dense&) const { return false; }
  Answer operator()(const network::Conv2d&) const { return true; }
  Answer operator()(const network::MaxPool2d&) const { return true; }
  Answer operator()(const network::Relu&) const { return {}; }
  Answer operator()(const network::Flatten&) const { return false; }
  Answer operator()(const network::Select&) const { return false; }
};

bool needs_image(const network::LayerSpec& layer) {
  return std::visit(ReadsImage(), layer).value_or(false);
}

/// Whether the input has height and width. One of height and width 1 has when
/// the first layer that minds needs them.
bool starts_as_image(const network::NetworkSpec& network) {
  if (network.input.height > 1 || network.input.width > 1) return true;
  for (const network::LayerSpec& layer : network.layers) {
    if (const auto answer = std::visit(ReadsImage(), layer)) return *answer;
  }
  return false;
}

/// Appends nodes, each reading what the one before it gives.
class ChainWriter {
 public:
  ChainWriter(const network::PlainNetwork<float>& network,
              onnx::GraphProto& graph)
      : network_(network),
        shapes_(network::layer_shapes(network.spec.input, network.spec.layers)),
        graph_(graph),
        is_image_(starts_as_image(network.spec)) {}

  void write(float input_scale) {
    write_input();
    if (input_scale != 1) write_scale(input_scale);
    for (const network::LayerSpec& layer : network_.spec.layers) {
      ++layer_;
      name_ = "layer" + std::to_string(layer_);
      RADIR_CHECK(is_image_ || !needs_image(layer), UnsupportedError,
                  "write_onnx: layer ", layer_, " (", to_string(layer),
                  ") reads a vector, which in ONNX has no height and width");
      std::visit(*this, layer);
    }
    RADIR_CHECK(next_weights_ == network_.layers.size(), ArgumentError,
                "write_onnx: the description has ", next_weights_,
                " layers with weights, but there are numbers for ",
                network_.layers.size());
    write_output();
  }

  void operator()(const network::Dense& layer) {
    flatten_image();
    set_attribute(add_node("Gemm"), "transB", 1);
    add_weights(layer);
  }
  void operator()(const network::Conv2d& layer) {
    onnx::NodeProto& node = add_node("Conv");
    set_window(node, layer);
    set_attribute(node, "dilations", {layer.dilation.h, layer.dilation.w});
    set_attribute(node, "group", layer.groups);
    add_weights(layer);
  }
  void operator()(const network::MaxPool2d& layer) {
    set_window(add_node("MaxPool"), layer);
  }
  void operator()(const network::Relu&) { add_node("Relu"); }
  void operator()(const network::Flatten&) { add_flatten(name_); }
  void operator()(const network::Select& layer) {
    flatten_image();
    set_attribute(add_node("Gather"), "axis", 1);
    const auto count = static_cast<std::int64_t>(layer.indices.size());
    add_initializer(name_ + ".indices", {count}, layer.indices.data());
  }

 private:
  void write_input() {
    const network::Shape& shape = shapes_.front();
    const OnnxDims dims =
        is_image_ ? OnnxDims{shape.channels, shape.height, shape.width}
                  : OnnxDims{shape.channels};
    set_type(*graph_.add_input(), kOnnxInput, dims);
    value_ = kOnnxInput;
  }

  void write_scale(float scale) {
    name_ = "input_scale";
    add_node("Mul");
    add_initializer(name_ + ".factor", {}, &scale);
  }

  void write_output() {
    if (is_image_) add_flatten("flatten");
    RADIR_CHECK(graph_.node_size() > 0, ArgumentError,
                "write_onnx: the network has no layers");
    graph_.mutable_node(graph_.node_size() - 1)->set_output(0, kOnnxOutput);
    set_type(*graph_.add_output(), kOnnxOutput, {shapes_.back().size()});
  }

  onnx::NodeProto& add_node(const char* op_type) {
    return add_node(op_type, name_);
  }
  onnx::NodeProto& add_node(const char* op_type, const std::string& name) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type(op_type);
    node.set_name(name);
    node.add_input(value_);
    node.add_output(name);
    value_ = name;
    return node;
  }

  void add_flatten(const std::string& name) {
    set_attribute(add_node("Flatten", name), "axis", 1);
    is_image_ = false;
  }
  void flatten_image() {
    if (is_image_) add_flatten(name_ + ".flatten");
  }

  void add_weights(const network::LayerSpec& layer) {
    RADIR_CHECK(next_weights_ < network_.layers.size(), ArgumentError,
                "write_onnx: there are no numbers for layer ", layer_, " (",
                to_string(layer), ")");
    const network::PlainLayer<float>& numbers =
        network_.layers[next_weights_++];
    // Gemm (transB = 1) and Conv want weights as libtorch has them.
    const auto weight = network::layer_weight(layer, shapes_[layer_ - 1]);
    add_numbers(".weight", weight->tensor_shape, numbers.weight);
    if (weight->bias_size > 0) {
      add_numbers(".bias", {weight->bias_size}, numbers.bias);
    } else {
      check_count(".bias", 0, numbers.bias);
    }
  }

  void add_numbers(const char* suffix, const OnnxDims& dims,
                   const std::vector<float>& values) {
    std::int64_t count = 1;
    for (std::int64_t size : dims) count *= size;
    check_room(count);
    check_count(suffix, count, values);
    add_initializer(name_ + suffix, dims, values.data());
  }

  void check_count(const char* suffix, std::int64_t count,
                   const std::vector<float>& values) const {
    RADIR_CHECK(static_cast<std::int64_t>(values.size()) == count,
                ArgumentError, "write_onnx: ", name_, suffix, " must have ",
                count, " numbers, but has ", values.size());
  }

  /// A constant of the file, read by the last node. Numbers are stored as they
  /// lie in memory: both are little-endian.
  template <typename T>
  void add_initializer(const std::string& name, const OnnxDims& dims,
                       const T* values) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx_type_of<T>());
    std::size_t bytes = sizeof(T);
    for (std::int64_t size : dims) {
      tensor.add_dims(size);
      bytes *= static_cast<std::size_t>(size);
    }
    tensor.set_raw_data(values, bytes);
    graph_.mutable_node(graph_.node_size() - 1)->add_input(name);
  }

  /// A message of protobuf, and so an ONNX file, holds less than 2 GiB.
  void check_room(std::int64_t more_weights) {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    weight_bytes_ += more_weights * std::int64_t{sizeof(float)};
    RADIR_CHECK(weight_bytes_ <= kMost, UnsupportedError,
                "write_onnx: the weights take ", weight_bytes_, " bytes or ",
                "more, but an ONNX file holds less than 2 GiB");
  }

  const network::PlainNetwork<float>& network_;
  const std::vector<network::Shape> shapes_;
  onnx::GraphProto& graph_;
  bool is_image_;          // of the last value
  std::string value_;      // what the next node reads
  std::string name_;       // of the layer, for its nodes and constants
  std::size_t layer_ = 0;  // counted from 1
  std::size_t next_weights_ = 0;
  std::int64_t weight_bytes_ = 0;
};

void add_metadata(onnx::ModelProto& model, const std::string& key,
                  const std::string& value) {
  onnx::StringStringEntryProto& entry = *model.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

/// The last entries of the file are the notes, so that the reader, which needs
/// them, notices when the file is cut.
void describe(const OnnxOptions& options, onnx::ModelProto& model) {
  model.set_doc_string("Input: " + options.input_note +
                       ". Output: " + options.output_note + ".");
  model.mutable_graph()->mutable_input(0)->set_doc_string(options.input_note);
  model.mutable_graph()->mutable_output(0)->set_doc_string(options.output_note);
  for (const auto& [key, value] : options.metadata) {
    RADIR_CHECK(key.rfind("radir.", 0) != 0, ArgumentError, "write_onnx: the ",
                "metadata name \"", key, "\" is reserved");
    add_metadata(model, key, value);
  }
  add_metadata(model, kOnnxInputNote, options.input_note);
  add_metadata(model, kOnnxOutputNote, options.output_note);
}

}  // namespace

bool has_onnx() { return true; }

void write_onnx(const std::string& path,
                const network::PlainNetwork<float>& network,
                const OnnxOptions& options) {
  onnx::ModelProto model;
  model.set_ir_version(kOnnxIrVersion);
  model.add_opset_import()->set_version(kOnnxOpset);
  model.set_producer_name("radir");
  model.set_producer_version(version());
  model.mutable_graph()->set_name("network");
  ChainWriter(network, *model.mutable_graph()).write(options.input_scale);
  describe(options, model);
  std::string bytes;
  RADIR_CHECK(model.SerializeToString(&bytes), UnsupportedError, path,
              ": the network takes more than the 2 GiB an ONNX file holds");
  files::write_file(path, bytes);
}

}  // namespace radir::io
