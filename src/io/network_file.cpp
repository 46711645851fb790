#include "radir/io/network_file.h"

#include "io/network_json.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/files/json_object.h"
#include "radir/files/utf8.h"

namespace radir::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNetworkBytes = std::size_t{1} << 20;
constexpr std::size_t kMostLayers = 1000;
// The longest layer, a convolution, has 8 keys; indices lie four levels deep.
constexpr files::JsonLimits kLimits = {4, 16};

Json to_json(const network::Pair& pair) {
  return Json::array({pair.h, pair.w});
}

struct LayerWriter {
  Json operator()(const network::Dense& layer) const {
    return {
        {"type", "dense"}, {"outputs", layer.outputs}, {"bias", layer.bias}};
  }
  Json operator()(const network::Conv2d& layer) const {
    return {{"type", "conv2d"},
            {"outputs", layer.outputs},
            {"kernel", to_json(layer.kernel)},
            {"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)},
            {"dilation", to_json(layer.dilation)},
            {"groups", layer.groups},
            {"bias", layer.bias}};
  }
  Json operator()(const network::MaxPool2d& layer) const {
    return {{"type", "max-pool2d"},
            {"kernel", to_json(layer.kernel)},
            {"stride", to_json(layer.stride)},
            {"padding", to_json(layer.padding)}};
  }
  Json operator()(const network::Relu&) const { return {{"type", "relu"}}; }
  Json operator()(const network::Flatten&) const {
    return {{"type", "flatten"}};
  }
  Json operator()(const network::Select& layer) const {
    return {{"type", "select"}, {"indices", layer.indices}};
  }
};

/// One layer's keys; those that may be left out have a default.
class LayerReader {
 public:
  explicit LayerReader(files::JsonObject json) : json_(std::move(json)) {}

  network::LayerSpec read() {
    const std::string type = json_.text("type");
    network::LayerSpec layer = of_type(type);
    json_.finish();
    return layer;
  }

 private:
  network::LayerSpec of_type(const std::string& type) {
    if (type == "dense") {
      return network::Dense{json_.integer("outputs"), flag("bias", true)};
    }
    if (type == "conv2d") {
      return network::Conv2d{json_.integer("outputs"), pair("kernel"),
                             pair("stride", {1, 1}),   pair("padding", {0, 0}),
                             pair("dilation", {1, 1}), integer("groups", 1),
                             flag("bias", true)};
    }
    if (type == "max-pool2d") {
      const network::Pair kernel = pair("kernel");
      return network::MaxPool2d{kernel, pair("stride", kernel),
                                pair("padding", {0, 0})};
    }
    if (type == "relu") return network::Relu{};
    if (type == "flatten") return network::Flatten{};
    if (type == "select") return network::Select{json_.integers("indices")};
    detail::throw_error<IoError>(
        json_.where(), ": the type ", files::excerpt(type),
        " is unknown; it must be ",
        "dense, conv2d, max-pool2d, relu, flatten or select");
  }

  bool flag(const char* key, bool otherwise) {
    return json_.has(key) ? json_.boolean(key) : otherwise;
  }
  std::int64_t integer(const char* key, std::int64_t otherwise) {
    return json_.has(key) ? json_.integer(key) : otherwise;
  }
  network::Pair pair(const char* key, const network::Pair& otherwise) {
    return json_.has(key) ? pair(key) : otherwise;
  }
  network::Pair pair(const char* key) {
    if (json_.at(key).is_number()) {
      const std::int64_t both = json_.integer(key);
      return {both, both};
    }
    const std::vector<std::int64_t> values = json_.integers(key);
    json_.check_type(values.size() == 2, key, "a number or a list of two");
    return {values[0], values[1]};
  }

  files::JsonObject json_;
};

network::Shape read_shape(files::JsonObject& json, const char* key) {
  const std::vector<std::int64_t> sizes = json.integers(key);
  json.check_type(sizes.size() == 3 || sizes.size() == 1, key,
                  "[channels, height, width] or [features]");
  if (sizes.size() == 1) return {sizes[0], 1, 1};
  return {sizes[0], sizes[1], sizes[2]};
}

}  // namespace

Json to_json(const network::NetworkSpec& network) {
  Json layers = Json::array();
  for (const auto& layer : network.layers) {
    layers.push_back(std::visit(LayerWriter(), layer));
  }
  const network::Shape& input = network.input;
  return {{"input", {input.channels, input.height, input.width}},
          {"layers", std::move(layers)}};
}

network::NetworkSpec read_network(files::JsonObject json) {
  network::NetworkSpec result;
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

network::NetworkSpec read_network_text(const std::string& name,
                                       std::string_view text) {
  const Json json = files::parse_json<Json>(name, text, kLimits);
  const network::NetworkSpec network = read_network({json, name});
  try {
    network::layer_shapes(network.input, network.layers);
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>(name, ": ", error.what());
  }
  return network;
}

network::NetworkSpec read_network_file(const std::string& path) {
  return read_network_text(
      path, files::read_all(*files::open_byte_source(path), kMostNetworkBytes));
}

void write_network_file(const std::string& path,
                        const network::NetworkSpec& network) {
  network::layer_shapes(network.input, network.layers);
  const Json json = to_json(network);
  // One layer a line, for people to edit.
  std::string text = "{\n  \"input\": " + json["input"].dump() + ",\n";
  const char* separator = "  \"layers\": [\n    ";
  for (const Json& layer : json["layers"]) {
    text += separator + layer.dump();
    separator = ",\n    ";
  }
  files::write_file(path, text + "\n  ]\n}\n");
}

}  // namespace radir::io
