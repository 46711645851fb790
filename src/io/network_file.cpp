#include "radir/io/network_file.h"

#include "io/network_json.h"
#include "radir/io/atomic_file.h"
#include "radir/io/byte_source.h"

namespace radir::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNetworkBytes = std::size_t{1} << 20;
constexpr std::size_t kMostLayers = 1000;
// The longest layer, a convolution, has 8 keys; indices lie four levels deep.
constexpr JsonLimits kLimits = {4, 16};

Json to_json(const kernels::Pair& pair) {
  return Json::array({pair.h, pair.w});
}

struct LayerWriter {
  Json operator()(const kernels::Dense& layer) const {
    return {
        {"type", "dense"}, {"outputs", layer.outputs}, {"bias", layer.bias}};
  }
  Json operator()(const kernels::Conv2d& layer) const {
    return {{"type", "conv2d"},
            {"outputs", layer.outputs},
            {"kernel", to_json(layer.kernel)},
            {"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)},
            {"dilation", to_json(layer.dilation)},
            {"groups", layer.groups},
            {"bias", layer.bias}};
  }
  Json operator()(const kernels::MaxPool2d& layer) const {
    return {{"type", "max-pool2d"},
            {"kernel", to_json(layer.kernel)},
            {"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)}};
  }
  Json operator()(const kernels::Relu&) const { return {{"type", "relu"}}; }
  Json operator()(const kernels::Flatten&) const {
    return {{"type", "flatten"}};
  }
  Json operator()(const kernels::Select& layer) const {
    return {{"type", "select"}, {"indices", layer.indices}};
  }
};

/// One layer's keys; those that may be left out have a default.
class LayerReader {
 public:
  explicit LayerReader(JsonObject json) : json_(std::move(json)) {}

  kernels::LayerSpec read() {
    const std::string type = json_.text("type");
    kernels::LayerSpec layer = of_type(type);
    json_.finish();
    return layer;
  }

 private:
  kernels::LayerSpec of_type(const std::string& type) {
    if (type == "dense") {
      return kernels::Dense{json_.integer("outputs"), flag("bias", true)};
    }
    if (type == "conv2d") {
      return kernels::Conv2d{json_.integer("outputs"), pair("kernel"),
                             pair("stride", {1, 1}),   pair("padding", {0, 0}),
                             pair("dilation", {1, 1}), integer("groups", 1),
                             flag("bias", true)};
    }
    if (type == "max-pool2d") {
      const kernels::Pair kernel = pair("kernel");
      return kernels::MaxPool2d{kernel, pair("stride", kernel),
                                pair("padding", {0, 0})};
    }
    if (type == "relu") return kernels::Relu{};
    if (type == "flatten") return kernels::Flatten{};
    if (type == "select") return kernels::Select{json_.integers("indices")};
    detail::throw_error<IoError>(
        json_.where(), ": the type ", excerpt(type), " is unknown; it must be ",
        "dense, conv2d, max-pool2d, relu, flatten or select");
  }

  bool flag(const char* key, bool otherwise) {
    return json_.has(key) ? json_.boolean(key) : otherwise;
  }
  std::int64_t integer(const char* key, std::int64_t otherwise) {
    return json_.has(key) ? json_.integer(key) : otherwise;
  }
  kernels::Pair pair(const char* key, const kernels::Pair& otherwise) {
    return json_.has(key) ? pair(key) : otherwise;
  }
  kernels::Pair pair(const char* key) {
    if (json_.at(key).is_number()) {
      const std::int64_t both = json_.integer(key);
      return {both, both};
    }
    const std::vector<std::int64_t> values = json_.integers(key);
    json_.check_type(values.size() == 2, key, "a number or a list of two");
    return {values[0], values[1]};
  }

  JsonObject json_;
};

kernels::Shape read_shape(JsonObject& json, const char* key) {
  const std::vector<std::int64_t> sizes = json.integers(key);
  json.check_type(sizes.size() == 3 || sizes.size() == 1, key,
                  "[channels, height, width] or [features]");
  if (sizes.size() == 1) return {sizes[0], 1, 1};
  return {sizes[0], sizes[1], sizes[2]};
}

}  // namespace

Json to_json(const train::NetworkSpec& network) {
  Json layers = Json::array();
  for (const auto& layer : network.layers) {
    layers.push_back(std::visit(LayerWriter(), layer));
  }
  const kernels::Shape& input = network.input;
  return {{"input", {input.channels, input.height, input.width}},
          {"layers", std::move(layers)}};
}

train::NetworkSpec read_network(JsonObject json) {
  train::NetworkSpec result;
  result.input = read_shape(json, "input");
  const Json& layers = json.array("layers");
  RADIR_CHECK(!layers.empty() && layers.size() <= kMostLayers, IoError,
              json.where(), ": \"layers\" must hold from 1 to ", kMostLayers,
              " layers, but holds ", layers.size());
  for (const Json& layer : layers) {
    const std::string number = std::to_string(result.layers.size() + 1);
    result.layers.push_back(
        LayerReader({layer, json.where() + ": layer " + number}).read());
  }
  json.finish();
  return result;
}

train::NetworkSpec read_network_text(const std::string& name,
                                     std::string_view text) {
  const Json json = parse_json<Json>(name, text, kLimits);
  const train::NetworkSpec network = read_network({json, name});
  try {
    kernels::layer_shapes(network.input, network.layers);
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>(name, ": ", error.what());
  }
  return network;
}

train::NetworkSpec read_network_file(const std::string& path) {
  return read_network_text(
      path, read_all(*open_byte_source(path), kMostNetworkBytes));
}

void write_network_file(const std::string& path,
                        const train::NetworkSpec& network) {
  kernels::layer_shapes(network.input, network.layers);
  const Json json = to_json(network);
  // One layer a line, for people to edit.
  std::string text = "{\n  \"input\": " + json["input"].dump() + ",\n";
  const char* separator = "  \"layers\": [\n    ";
  for (const Json& layer : json["layers"]) {
    text += separator + layer.dump();
    separator = ",\n    ";
  }
  write_file(path, text + "\n  ]\n}\n");
}

}  // namespace radir::io
