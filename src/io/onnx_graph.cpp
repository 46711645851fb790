#include "radir/io/onnx_graph.h"

#include "io/onnx_format.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/files/atomic_file.h"

namespace radir::io {
namespace {

constexpr const char* kMachineLearning = "ai.onnx.ml";
constexpr std::int64_t kMachineLearningOpset = 2;

onnx::TensorProto::DataType type_of(OnnxElement element) {
  switch (element) {
    case OnnxElement::Float:
      return onnx::TensorProto::FLOAT;
    case OnnxElement::Double:
      return onnx::TensorProto::DOUBLE;
    case OnnxElement::Int64:
      return onnx::TensorProto::INT64;
    case OnnxElement::Bool:
      return onnx::TensorProto::BOOL;
    case OnnxElement::String:
      break;
  }
  return onnx::TensorProto::STRING;
}

void set_value(onnx::AttributeProto& attribute, std::int64_t value) {
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_value(onnx::AttributeProto& attribute,
               const std::vector<std::int64_t>& values) {
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void set_value(onnx::AttributeProto& attribute,
               const std::vector<std::string>& values) {
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) attribute.add_strings(value);
}

void describe(onnx::ValueInfoProto& info, const std::string& name,
              OnnxElement type, std::int64_t columns, const std::string& note) {
  info.set_name(name);
  info.set_doc_string(note);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type_of(type));
  tensor.mutable_shape()->add_dim()->set_dim_param("batch");
  tensor.mutable_shape()->add_dim()->set_dim_value(columns);
}

}  // namespace

class OnnxGraph::Impl {
 public:
  Impl() {
    model_.set_ir_version(kOnnxIrVersion);
    model_.add_opset_import()->set_version(kOnnxOpset);
    onnx::OperatorSetIdProto& set = *model_.add_opset_import();
    set.set_domain(kMachineLearning);
    set.set_version(kMachineLearningOpset);
    model_.set_producer_name("radir");
    model_.set_producer_version(version());
    graph().set_name("predictions");
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  /// Not the name of a column, unless someone tries.
  std::string next_name(const char* what) {
    return "radir/" + std::string(what) + "." + std::to_string(++names_);
  }

  onnx::TensorProto& add_constant(OnnxElement type, const Dims& dims) {
    onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(next_name("constant"));
    tensor.set_data_type(type_of(type));
    for (const std::int64_t size : dims) tensor.add_dims(size);
    return tensor;
  }

  /// Numbers lie in the file as in memory: both are little-endian.
  template <typename T>
  std::string add_numbers(OnnxElement type, const std::vector<T>& values,
                          const Dims& dims) {
    onnx::TensorProto& tensor = add_constant(type, dims);
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
    return tensor.name();
  }

  onnx::NodeProto& add_node(const char* op, const Values& inputs) {
    onnx::NodeProto& node = *current_->add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }

  Values add_loop(std::int64_t most, const Values& start,
                  const std::function<LoopStep(const Values&)>& body) {
    onnx::GraphProto steps;
    steps.set_name("steps");
    for (const auto& [name, type] : {std::pair{"step", OnnxElement::Int64},
                                     std::pair{"go_on", OnnxElement::Bool}}) {
      onnx::ValueInfoProto& scalar = *steps.add_input();
      scalar = value_info(next_name(name), type);
      // No dimension, which ONNX Runtime wants to know.
      scalar.mutable_type()->mutable_tensor_type()->mutable_shape();
    }
    Values state;
    for (std::size_t i = 0; i < start.size(); ++i) {
      state.push_back(next_name("state"));
      *steps.add_input() = value_info(state.back(), OnnxElement::Double);
    }
    onnx::GraphProto* const outer = current_;
    current_ = &steps;
    const auto [go_on, next] = body(state);
    current_ = outer;
    *steps.add_output() = value_info(go_on, OnnxElement::Bool);
    for (const std::string& value : next) {
      *steps.add_output() = value_info(value, OnnxElement::Double);
    }
    onnx::TensorProto& begin = add_constant(OnnxElement::Bool, {});
    begin.set_raw_data(std::string(1, '\1'));
    const std::string begins = begin.name();
    Values inputs = {
        add_numbers(OnnxElement::Int64, std::vector<std::int64_t>{most}, {}),
        begins};
    inputs.insert(inputs.end(), start.begin(), start.end());
    onnx::NodeProto& node = add_node("Loop", inputs);
    Values results;
    for (std::size_t i = 0; i < start.size(); ++i) {
      results.push_back(next_name("Loop"));
      node.add_output(results.back());
    }
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("body");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = std::move(steps);
    return results;
  }

  const onnx::ModelProto& model() const { return model_; }

 private:
  static onnx::ValueInfoProto value_info(const std::string& name,
                                         OnnxElement type) {
    onnx::ValueInfoProto info;
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(type_of(type));
    return info;
  }

  onnx::ModelProto model_;
  std::int64_t names_ = 0;
  onnx::GraphProto* current_ = model_.mutable_graph();  // gets the nodes
};

OnnxGraph::OnnxGraph() : impl_(std::make_unique<Impl>()) {}
OnnxGraph::~OnnxGraph() = default;
OnnxGraph::OnnxGraph(OnnxGraph&&) noexcept = default;
OnnxGraph& OnnxGraph::operator=(OnnxGraph&&) noexcept = default;

void OnnxGraph::add_input(const std::string& name, OnnxElement type,
                          std::int64_t columns, const std::string& note) {
  describe(*impl_->graph().add_input(), name, type, columns, note);
}

void OnnxGraph::add_output(const std::string& value, const std::string& name,
                           OnnxElement type, std::int64_t columns,
                           const std::string& note) {
  impl_->add_node("Identity", {value}).add_output(name);
  describe(*impl_->graph().add_output(), name, type, columns, note);
}

std::string OnnxGraph::constant(const std::vector<float>& values,
                                const Dims& dims) {
  return impl_->add_numbers(OnnxElement::Float, values, dims);
}

std::string OnnxGraph::constant(const std::vector<double>& values,
                                const Dims& dims) {
  return impl_->add_numbers(OnnxElement::Double, values, dims);
}

std::string OnnxGraph::constant(const std::vector<std::int64_t>& values,
                                const Dims& dims) {
  return impl_->add_numbers(OnnxElement::Int64, values, dims);
}

std::string OnnxGraph::constant(const std::vector<std::string>& values,
                                const Dims& dims) {
  onnx::TensorProto& tensor = impl_->add_constant(OnnxElement::String, dims);
  for (const std::string& value : values) tensor.add_string_data(value);
  return tensor.name();
}

std::string OnnxGraph::node(const char* op, const Values& inputs,
                            const Attributes& attributes, const char* domain) {
  onnx::NodeProto& node = impl_->add_node(op, inputs);
  node.set_domain(domain);
  for (const OnnxAttribute& given : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(given.name);
    std::visit([&](const auto& value) { set_value(attribute, value); },
               given.value);
  }
  node.add_output(impl_->next_name(op));
  return node.output(0);
}

std::string OnnxGraph::cast(const std::string& value, OnnxElement type) {
  return node("Cast", {value}, {{"to", std::int64_t{type_of(type)}}});
}

OnnxGraph::Values OnnxGraph::loop(
    std::int64_t most, const Values& start,
    const std::function<LoopStep(const Values&)>& body) {
  return impl_->add_loop(most, start, body);
}

void OnnxGraph::write(
    const std::string& path, const std::string& documentation,
    const std::map<std::string, std::string>& metadata) const {
  onnx::ModelProto model = impl_->model();
  model.set_doc_string(documentation);
  for (const auto& [key, value] : metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string bytes;
  RADIR_CHECK(model.SerializeToString(&bytes), UnsupportedError, path,
              ": the draws of the weights take more than the 2 GiB an ONNX ",
              "file holds; use fewer samples");
  files::write_file(path, bytes);
}

}  // namespace radir::io
