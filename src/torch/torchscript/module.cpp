#include <torch/script.h>

#include <sstream>
#include <variant>

#include "radir/core/error.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/workflows/torchscript_module.h"

// The functions that workflows/torchscript.cpp looks up in this module.

namespace radir::torchscript {
namespace {

using torch::jit::Module;

bool is_image(const network::Shape& shape) {
  return shape.height > 1 || shape.width > 1;
}

/// "[2, 3]"
std::string list(const network::Pair& pair) {
  std::ostringstream text;
  text << "[" << pair.h << ", " << pair.w << "]";
  return text.str();
}

/// A copy: the module outlives the network it is made from.
torch::Tensor tensor(const float* values, torch::IntArrayRef sizes) {
  return torch::from_blob(const_cast<float*>(values), sizes).clone();
}

std::vector<std::int64_t> sizes(const network::Shape& input,
                                std::int64_t count) {
  if (!is_image(input)) return {count, input.channels};
  return {count, input.channels, input.height, input.width};
}

/// The last line of libtorch's message says what is wrong, after the lines of
/// the script that led there.
[[noreturn]] void refuse(const std::string& path, std::string message) {
  message.erase(message.find_last_not_of('\n') + 1);
  detail::throw_error<IoError>(path, ": libtorch cannot run it: ",
                               message.substr(message.rfind('\n') + 1));
}

/// Builds a module whose forward applies the layers one after the other.
class ModuleWriter {
 public:
  explicit ModuleWriter(const network::PlainNetwork<float>& network)
      : network_(network),
        shapes_(network::layer_shapes(network.spec.input, network.spec.layers)),
        is_image_(is_image(network.spec.input)),
        module_("__torch__.radir.Network") {
    add_training_flag(module_);
  }

  Module write() {
    source_ << "def forward(self, x: Tensor) -> Tensor:\n";
    for (const network::LayerSpec& layer : network_.spec.layers) {
      name_ = "layer" + std::to_string(++layer_);
      std::visit(*this, layer);
    }
    flatten_image();
    source_ << "    return x\n";
    module_.define(source_.str());
    return std::move(module_);
  }

  void operator()(const network::Dense& layer) {
    flatten_image();
    add_weights(layer);
    apply("linear", weights());
  }
  void operator()(const network::Conv2d& layer) {
    make_image();
    add_weights(layer);
    apply("conv2d", weights() + ", " + list(layer.stride) + ", " +
                        list(layer.padding) + ", " + list(layer.dilation) +
                        ", " + std::to_string(layer.groups));
  }
  void operator()(const network::MaxPool2d& layer) {
    make_image();
    apply("max_pool2d", list(layer.kernel) + ", " + list(layer.stride) + ", " +
                            list(layer.padding));
  }
  void operator()(const network::Relu&) { apply("relu", ""); }
  void operator()(const network::Flatten&) { flatten_image(); }
  void operator()(const network::Select& layer) {
    flatten_image();
    Module constants = new_layer();
    constants.register_buffer("indices", torch::tensor(layer.indices));
    add_layer(constants);
    apply("index_select", "1, self." + name_ + ".indices");
  }

 private:
  const network::Shape& input() const { return shapes_[layer_ - 1]; }

  /// A line of forward: x = torch.NAME(x, MORE).
  void apply(const std::string& name, const std::string& more) {
    source_ << "    x = torch." << name << "(x"
            << (more.empty() ? "" : ", " + more) << ")\n";
  }

  void flatten_image() {
    if (is_image_) apply("flatten", "1");
    is_image_ = false;
  }
  /// Gives height and width to what has none.
  void make_image() {
    if (is_image_) return;
    std::ostringstream sizes;
    sizes << "[-1, " << input().channels << ", " << input().height << ", "
          << input().width << "]";
    apply("reshape", sizes.str());
    is_image_ = true;
  }

  /// Module::eval and torch.jit.freeze look for it.
  static void add_training_flag(Module& module) {
    module.register_attribute("training", c10::BoolType::get(), false);
  }
  Module new_layer() const {
    Module layer("__torch__.radir." + name_,
                 module_._ivalue()->compilation_unit());
    add_training_flag(layer);
    return layer;
  }
  void add_layer(const Module& layer) { module_.register_module(name_, layer); }

  void add_weights(const network::LayerSpec& spec) {
    const auto weight = network::layer_weight(spec, input());
    const std::vector<std::int64_t>& sizes = weight->tensor_shape;
    const bool bias = weight->bias_size > 0;
    const network::PlainLayer<float>& numbers =
        network_.layers[next_weights_++];
    Module layer = new_layer();
    layer.register_parameter("weight", tensor(numbers.weight.data(), sizes),
                             false);
    if (bias) {
      layer.register_parameter("bias", tensor(numbers.bias.data(), sizes[0]),
                               false);
    }
    add_layer(layer);
    bias_ = bias ? "self." + name_ + ".bias" : "None";
  }
  /// The weights of the present layer, as arguments.
  std::string weights() const { return "self." + name_ + ".weight, " + bias_; }

  const network::PlainNetwork<float>& network_;
  const std::vector<network::Shape> shapes_;
  bool is_image_;  // whether x has height and width
  Module module_;
  std::ostringstream source_;  // of forward
  std::string name_;           // of the present layer
  std::string bias_;           // its bias, as an argument
  std::size_t layer_ = 0;      // counted from 1
  std::size_t next_weights_ = 0;
};

}  // namespace
}  // namespace radir::torchscript

void radir_write_torchscript(const radir::network::PlainNetwork<float>& network,
                             const radir::workflows::TorchScriptNotes& notes,
                             std::string& bytes) {
  std::ostringstream stream;
  radir::torchscript::ModuleWriter(network).write().save(
      stream, {notes.begin(), notes.end()});
  bytes = stream.str();
}

void radir_run_torchscript(const std::string& path, const std::string& bytes,
                           const radir::network::Shape& input,
                           const float* rows, std::int64_t count,
                           std::vector<float>& outputs) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor x =
      radir::torchscript::tensor(rows, radir::torchscript::sizes(input, count));
  try {
    std::istringstream stream(bytes);
    const torch::Tensor y = torch::jit::load(stream)
                                .forward({x})
                                .toTensor()
                                .to(torch::kFloat)
                                .contiguous();
    outputs.assign(y.data_ptr<float>(), y.data_ptr<float>() + y.numel());
  } catch (const c10::Error& error) {
    radir::torchscript::refuse(path, error.what_without_backtrace());
  } catch (const std::exception& error) {
    radir::torchscript::refuse(path, error.what());
  }
}
