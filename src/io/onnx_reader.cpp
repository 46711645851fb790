#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "io/onnx_format.h"
#include "radir/core/error.h"
#include "radir/files/byte_source.h"
#include "radir/files/utf8.h"
#include "radir/io/onnx.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/train/model.h"

namespace radir::io {
namespace {

using network::Pair;

/// Largest size of a protobuf message.
constexpr auto kMostOnnxBytes =
    static_cast<std::size_t>(std::numeric_limits<int>::max());

/// The sizes of a value after its first, the batch.
OnnxDims dims_after_batch(const std::string& where,
                          const onnx::ValueInfoProto& value) {
  const auto& type = value.type().tensor_type();
  RADIR_CHECK(type.elem_type() == onnx::TensorProto::FLOAT &&
                  type.shape().dim_size() >= 1 &&
                  type.shape().dim(0).has_dim_param(),
              UnsupportedError, where, ": ", files::excerpt(value.name()),
              " must be a float tensor with a free batch dimension");
  OnnxDims dims;
  for (int i = 1; i < type.shape().dim_size(); ++i) {
    dims.push_back(type.shape().dim(i).dim_value());
  }
  return dims;
}

template <typename T>
struct Tensor {
  OnnxDims dims;
  std::vector<T> values;
};

/// The constants of a file by name; each must be used once.
class Constants {
 public:
  Constants(std::string where, const onnx::GraphProto& graph)
      : where_(std::move(where)) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      RADIR_CHECK(tensors_.emplace(tensor.name(), &tensor).second, IoError,
                  where_, ": the constant ", files::excerpt(tensor.name()),
                  " appears twice");
    }
  }

  /// Takes a constant out. Throws IoError unless it is there, has this type
  /// and this many dimensions, and as many numbers as these say.
  template <typename T>
  Tensor<T> take(const std::string& name, std::size_t rank) {
    const auto found = tensors_.find(name);
    RADIR_CHECK(found != tensors_.end(), IoError, where_, ": the constant ",
                files::excerpt(name), " is missing or used twice");
    const onnx::TensorProto& tensor = *found->second;
    tensors_.erase(found);
    Tensor<T> result;
    result.dims.assign(tensor.dims().begin(), tensor.dims().end());
    RADIR_CHECK(
        tensor.data_type() == onnx_type_of<T>() && result.dims.size() == rank,
        IoError, where_, ": the constant ", files::excerpt(name), " must be a ",
        onnx::TensorProto::DataType_Name(onnx_type_of<T>()), " tensor of ",
        rank, " dimensions");
    const std::string& bytes = tensor.raw_data();
    RADIR_CHECK(bytes.size() % sizeof(T) == 0 &&
                    is_product(bytes.size() / sizeof(T), result.dims),
                IoError, where_, ": the constant ", files::excerpt(name),
                " has ", bytes.size(),
                " bytes, which is not what its dimensions say");
    result.values.resize(bytes.size() / sizeof(T));
    std::memcpy(result.values.data(), bytes.data(), bytes.size());
    return result;
  }

  void finish() const {
    RADIR_CHECK(tensors_.empty(), IoError, where_, ": the constant ",
                files::excerpt(tensors_.begin()->first), " is not used");
  }

 private:
  /// Whether `count` is the product of the sizes, with no product taken.
  static bool is_product(std::size_t count, const OnnxDims& sizes) {
    for (std::int64_t size : sizes) {
      if (size < 1 || count % static_cast<std::size_t>(size) != 0) return false;
      count /= static_cast<std::size_t>(size);
    }
    return count == 1;
  }

  std::string where_;
  std::map<std::string, const onnx::TensorProto*> tensors_;
};

/// One node; `finish` rejects attributes and inputs that were not read.
class Node {
 public:
  Node(const std::string& file, const onnx::NodeProto& node)
      : node_(node),
        where_(file + ": node " + files::excerpt(node.name()) + " (operator " +
               node.op_type() + ")") {
    RADIR_CHECK(node.domain().empty(), UnsupportedError, where_,
                " is of another domain, ", files::excerpt(node.domain()));
    RADIR_CHECK(node.input_size() >= 1 && node.output_size() == 1, IoError,
                where_, " must have an input and one output");
  }

  const std::string& where() const { return where_; }

  std::int64_t integer(const char* name) {
    const onnx::AttributeProto& found = attribute(name);
    RADIR_CHECK(found.type() == onnx::AttributeProto::INT, UnsupportedError,
                where_, ": the attribute ", name, " must be an integer");
    return found.i();
  }

  void expect(const char* name, std::int64_t value) {
    const std::int64_t found = integer(name);
    RADIR_CHECK(found == value, UnsupportedError, where_, ": the attribute ",
                name, " must be ", value, ", but is ", found);
  }

  Pair pair(const char* name) {
    const OnnxDims values = integers(name, 2);
    return {values[0], values[1]};
  }

  /// The pads, which must be the same at both ends.
  Pair padding() {
    const OnnxDims values = integers("pads", 4);
    RADIR_CHECK(values[0] == values[2] && values[1] == values[3],
                UnsupportedError, where_,
                ": the pads must be the same before and after the image");
    return {values[0], values[1]};
  }

  bool has_constant(int index) const { return index < node_.input_size(); }

  /// A constant the node reads, the first being 1.
  template <typename T>
  Tensor<T> constant(int index, Constants& constants, std::size_t rank) {
    RADIR_CHECK(has_constant(index), IoError, where_, " has ",
                node_.input_size(), " inputs, but needs ", index + 1);
    ++constants_;
    return constants.take<T>(node_.input(index), rank);
  }

  void finish() const {
    for (const onnx::AttributeProto& attribute : node_.attribute()) {
      RADIR_CHECK(seen_.count(attribute.name()) == 1, UnsupportedError, where_,
                  ": the attribute ", files::excerpt(attribute.name()),
                  " is not supported");
    }
    RADIR_CHECK(node_.input_size() == constants_ + 1, UnsupportedError, where_,
                " has ", node_.input_size(), " inputs, but ", constants_ + 1,
                " are supported");
  }

 private:
  const onnx::AttributeProto& attribute(const char* name) {
    for (const onnx::AttributeProto& candidate : node_.attribute()) {
      if (candidate.name() != name) continue;
      seen_.insert(name);
      return candidate;
    }
    detail::throw_error<UnsupportedError>(where_, ": the attribute ", name,
                                          " is missing");
  }

  OnnxDims integers(const char* name, int count) {
    const onnx::AttributeProto& found = attribute(name);
    RADIR_CHECK(found.type() == onnx::AttributeProto::INTS &&
                    found.ints_size() == count,
                UnsupportedError, where_, ": the attribute ", name, " must be ",
                count, " integers");
    return {found.ints().begin(), found.ints().end()};
  }

  const onnx::NodeProto& node_;
  std::string where_;
  std::set<std::string> seen_;
  int constants_ = 0;
};

/// Follows the nodes from the input to the output.
class ChainReader {
 public:
  ChainReader(const std::string& file, const onnx::GraphProto& graph)
      : file_(file), graph_(graph), constants_(file, graph) {}

  network::PlainNetwork<float> read() {
    read_input();
    for (const onnx::NodeProto& proto : graph_.node()) {
      Node node(file_, proto);
      RADIR_CHECK(proto.input(0) == value_, UnsupportedError, node.where(),
                  " reads ", files::excerpt(proto.input(0)), " and not ",
                  files::excerpt(value_), ", the output of the node before it");
      read_node(proto.op_type(), node);
      node.finish();
      value_ = proto.output(0);
    }
    RADIR_CHECK(graph_.output_size() == 1 && graph_.output(0).name() == value_,
                IoError, file_,
                ": the output of the last node must be that of the network");
    constants_.finish();
    check_shapes();
    return std::move(network_);
  }

  float input_scale() const { return input_scale_; }

 private:
  void read_input() {
    RADIR_CHECK(graph_.input_size() == 1, UnsupportedError, file_,
                ": the network must have one input, but has ",
                graph_.input_size());
    const OnnxDims dims = dims_after_batch(file_, graph_.input(0));
    RADIR_CHECK(dims.size() == 1 || dims.size() == 3, UnsupportedError, file_,
                ": the input must be [batch, features] or [batch, channels, "
                "height, width]");
    network_.spec.input = dims.size() == 1
                              ? network::Shape{dims[0], 1, 1}
                              : network::Shape{dims[0], dims[1], dims[2]};
    value_ = graph_.input(0).name();
  }

  void read_node(const std::string& op_type, Node& node) {
    if (op_type == "Gemm") {
      add(read_dense(node));
    } else if (op_type == "Conv") {
      add(read_convolution(node));
    } else if (op_type == "MaxPool") {
      add(network::MaxPool2d{node.pair("kernel_shape"), node.pair("strides"),
                             node.padding()});
    } else if (op_type == "Relu") {
      add(network::Relu{});
    } else if (op_type == "Flatten") {
      node.expect("axis", 1);
      add(network::Flatten{});
    } else if (op_type == "Gather") {
      node.expect("axis", 1);
      add(network::Select{
          node.constant<std::int64_t>(1, constants_, 1).values});
    } else if (op_type == "Mul" && value_ == graph_.input(0).name()) {
      input_scale_ = node.constant<float>(1, constants_, 0).values[0];
    } else {
      detail::throw_error<UnsupportedError>(
          node.where(), ": this operator is not supported here; those that ",
          "radir writes are Gemm, Conv, MaxPool, Relu, Flatten, Gather and ",
          "Mul of the input");
    }
  }

  network::Dense read_dense(Node& node) {
    node.expect("transB", 1);
    network::Dense layer;
    std::tie(layer.outputs, layer.bias) = read_weights(node, 2);
    return layer;
  }

  network::Conv2d read_convolution(Node& node) {
    network::Conv2d layer;
    layer.kernel = node.pair("kernel_shape");
    layer.stride = node.pair("strides");
    layer.padding = node.padding();
    layer.dilation = node.pair("dilations");
    layer.groups = node.integer("group");
    std::tie(layer.outputs, layer.bias) = read_weights(node, 4);
    return layer;
  }

  /// Takes the weights and says how many outputs they make and whether there
  /// is a bias.
  std::pair<std::int64_t, bool> read_weights(Node& node, std::size_t rank) {
    Tensor<float> weight = node.constant<float>(1, constants_, rank);
    const std::int64_t outputs = weight.dims[0];
    network_.layers.push_back({std::move(weight.values), {}});
    weight_dims_.push_back(std::move(weight.dims));
    if (!node.has_constant(2)) return {outputs, false};
    Tensor<float> bias = node.constant<float>(2, constants_, 1);
    RADIR_CHECK(bias.dims[0] == outputs, IoError, node.where(), " has ",
                outputs, " outputs, but ", bias.dims[0], " biases");
    network_.layers.back().bias = std::move(bias.values);
    return {outputs, true};
  }

  void add(network::LayerSpec layer) {
    network_.spec.layers.push_back(std::move(layer));
  }

  void check_shapes() const {
    const network::NetworkSpec& spec = network_.spec;
    const std::vector<network::Shape> shapes = layer_shapes();
    auto found = weight_dims_.begin();
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
      const auto weight = network::layer_weight(spec.layers[i], shapes[i]);
      if (weight) check_dims(i, *found++, weight->tensor_shape);
    }
    const OnnxDims output = dims_after_batch(file_, graph_.output(0));
    RADIR_CHECK(output == OnnxDims{shapes.back().size()}, IoError, file_,
                ": the output must be [batch, ", shapes.back().size(), "]");
  }

  std::vector<network::Shape> layer_shapes() const {
    try {
      return network::layer_shapes(network_.spec.input, network_.spec.layers);
    } catch (const ArgumentError& error) {
      detail::throw_error<IoError>(file_, ": ", error.what());
    }
  }

  void check_dims(std::size_t layer, const OnnxDims& found,
                  const OnnxDims& needed) const {
    RADIR_CHECK(found == needed, IoError, file_, ": layer ", layer + 1, " (",
                to_string(network_.spec.layers[layer]), ") has weights of ",
                "other dimensions than its input needs");
  }

  const std::string& file_;
  const onnx::GraphProto& graph_;
  Constants constants_;
  network::PlainNetwork<float> network_;
  std::vector<OnnxDims> weight_dims_;  // one per entry of network_.layers
  std::string value_;                  // the output of the last node
  float input_scale_ = 1;
};

onnx::ModelProto parse(const std::string& name, std::string_view bytes) {
  onnx::ModelProto model;
  RADIR_CHECK(
      bytes.size() <= kMostOnnxBytes &&
          model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
          model.has_graph(),
      IoError, name, ": is not an ONNX file, truncated or damaged");
  RADIR_CHECK(model.opset_import_size() == 1 &&
                  model.opset_import(0).domain().empty() &&
                  model.opset_import(0).version() == kOnnxOpset,
              UnsupportedError, name, ": is not written for operator set ",
              kOnnxOpset, " alone, as radir writes it");
  RADIR_CHECK(model.functions_size() == 0 && model.training_info_size() == 0 &&
                  model.graph().sparse_initializer_size() == 0 &&
                  model.graph().quantization_annotation_size() == 0,
              UnsupportedError, name, ": functions, training information, ",
              "sparse and quantised tensors are not supported");
  return model;
}

OnnxOptions read_options(const std::string& name,
                         const onnx::ModelProto& model) {
  OnnxOptions options;
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    options.metadata[entry.key()] = entry.value();
  }
  const auto take = [&](const char* key, std::string& note) {
    const auto found = options.metadata.find(key);
    RADIR_CHECK(found != options.metadata.end(), IoError, name,
                ": the metadata \"", key,
                "\" is missing; the file is truncated or not written by radir");
    note = std::move(found->second);
    options.metadata.erase(found);
  };
  take(kOnnxInputNote, options.input_note);
  take(kOnnxOutputNote, options.output_note);
  return options;
}

}  // namespace

network::PlainNetwork<float> read_onnx(const std::string& path,
                                       OnnxOptions* options) {
  return read_onnx(
      path, files::read_all(*files::open_byte_source(path), kMostOnnxBytes),
      options);
}

network::PlainNetwork<float> read_onnx(const std::string& name,
                                       std::string_view bytes,
                                       OnnxOptions* options) {
  const onnx::ModelProto model = parse(name, bytes);
  ChainReader reader(name, model.graph());
  network::PlainNetwork<float> network = reader.read();
  OnnxOptions found = read_options(name, model);
  found.input_scale = reader.input_scale();
  RADIR_CHECK(options != nullptr || found.input_scale == 1, UnsupportedError,
              name, ": the operator Mul scales the inputs by ",
              found.input_scale, ", which a plain network does not; ask ",
              "read_onnx for the options and scale them");
  if (options != nullptr) *options = std::move(found);
  return network;
}

}  // namespace radir::io
