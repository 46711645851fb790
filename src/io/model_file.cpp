#include "radir/io/model_file.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/io/safetensors.h"

namespace radir::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMetadataKey = "radir.model";
/// Raised when a file of the new form would be misread by an older program.
constexpr std::int64_t kFormatVersion = 1;

// Enumerators by name. The first line of each list is the default.

constexpr std::pair<posterior::Family, const char*> kFamilies[] = {
    {posterior::Family::RadialDirectional, "radial-directional"},
    {posterior::Family::Gaussian, "gaussian"}};
constexpr std::pair<posterior::Grouping, const char*> kGroupings[] = {
    {posterior::Grouping::Double, "double"},
    {posterior::Grouping::Row, "row"},
    {posterior::Grouping::Column, "column"}};
constexpr std::pair<posterior::DirectionPrior, const char*> kDirectionPriors[] =
    {{posterior::DirectionPrior::LocationAgnostic, "location-agnostic"},
     {posterior::DirectionPrior::MeanDirection, "mean-direction"},
     {posterior::DirectionPrior::Uniform, "uniform"}};
constexpr std::pair<math::VmfEstimator, const char*> kEstimators[] = {
    {math::VmfEstimator::Implicit, "implicit"},
    {math::VmfEstimator::Rejection, "rejection"},
    {math::VmfEstimator::ClosedForm0, "closed-form-0"},
    {math::VmfEstimator::ClosedForm1, "closed-form-1"}};
constexpr std::pair<train::Likelihood::Kind, const char*> kLikelihoods[] = {
    {train::Likelihood::Kind::Gaussian, "gaussian"},
    {train::Likelihood::Kind::PredictedNoise, "predicted-noise"},
    {train::Likelihood::Kind::Categorical, "categorical"}};

template <typename Enum, std::size_t N>
std::string name_of(const std::pair<Enum, const char*> (&names)[N],
                    Enum value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  RADIR_ASSERT(!"an enumerator has a name");
  return "";
}

/// A JSON object read key by key; `finish` refuses what nobody asked for.
class Object {
 public:
  Object(const Json& json, std::string where)
      : json_(json), where_(std::move(where)) {
    RADIR_CHECK(json.is_object(), IoError, where_,
                " is not an object; the file is not one of ours or damaged");
  }

  const std::string& where() const { return where_; }

  const Json& at(const char* key) {
    const auto found = json_.find(key);
    RADIR_CHECK(found != json_.end(), IoError, where_, ": \"", key,
                "\" is missing");
    seen_.insert(key);
    return *found;
  }

  Object object(const char* key) { return {at(key), where_ + "." + key}; }

  std::string text(const char* key) {
    const Json& value = at(key);
    check_type(value.is_string(), key, "a text");
    return value.get<std::string>();
  }
  bool boolean(const char* key) {
    const Json& value = at(key);
    check_type(value.is_boolean(), key, "true or false");
    return value.get<bool>();
  }
  double number(const char* key) {
    const Json& value = at(key);
    check_type(value.is_number(), key, "a number");
    return value.get<double>();
  }
  std::optional<double> optional_number(const char* key) {
    if (at(key).is_null()) return std::nullopt;
    return number(key);
  }
  std::int64_t integer(const char* key) {
    const Json& value = at(key);
    check_type(value.is_number_integer(), key, "a whole number");
    return value.get<std::int64_t>();
  }
  std::uint64_t seed(const char* key) {
    const Json& value = at(key);
    check_type(value.is_number_unsigned(), key, "a whole number from 0");
    return value.get<std::uint64_t>();
  }
  const Json& array(const char* key) {
    const Json& value = at(key);
    check_type(value.is_array(), key, "a list");
    return value;
  }
  std::vector<std::int64_t> integers(const char* key, std::size_t count) {
    const Json& values = array(key);
    check_type(values.size() == count, key, "a list of the right length");
    std::vector<std::int64_t> result;
    for (const Json& value : values) {
      check_type(value.is_number_integer(), key, "a list of whole numbers");
      result.push_back(value.get<std::int64_t>());
    }
    return result;
  }
  kernels::Pair pair(const char* key) {
    const auto values = integers(key, 2);
    return {values[0], values[1]};
  }
  /// An object whose content is for others, as text.
  std::string section(const char* key) {
    const Json& value = at(key);
    check_type(value.is_object(), key, "an object");
    return value.dump();
  }

  template <typename Enum, std::size_t N>
  Enum choice(const char* key, const std::pair<Enum, const char*> (&names)[N]) {
    const std::string value = text(key);
    for (const auto& [candidate, name] : names) {
      if (value == name) return candidate;
    }
    detail::throw_error<IoError>(where_, ": \"", key, "\" is \"", value,
                                 "\", which this program does not know");
  }

  void finish() const {
    for (const auto& [key, value] : json_.items()) {
      RADIR_CHECK(seen_.count(key) == 1, IoError, where_, ": \"", key,
                  "\" is unknown to this program (version ", version(), ")");
    }
  }

 private:
  void check_type(bool right, const char* key, const char* wanted) const {
    RADIR_CHECK(right, IoError, where_, ": \"", key, "\" must be ", wanted,
                ", but is ", json_.at(key).dump());
  }

  const Json& json_;
  std::string where_;
  std::set<std::string> seen_;
};

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
};

kernels::LayerSpec read_layer(Object layer) {
  const std::string type = layer.text("type");
  kernels::LayerSpec result;
  if (type == "dense") {
    result = kernels::Dense{layer.integer("outputs"), layer.boolean("bias")};
  } else if (type == "conv2d") {
    result = kernels::Conv2d{layer.integer("outputs"), layer.pair("kernel"),
                             layer.pair("stride"),     layer.pair("padding"),
                             layer.pair("dilation"),   layer.integer("groups"),
                             layer.boolean("bias")};
  } else if (type == "max-pool2d") {
    result = kernels::MaxPool2d{layer.pair("kernel"), layer.pair("stride"),
                                layer.pair("padding")};
  } else if (type == "relu") {
    result = kernels::Relu{};
  } else if (type == "flatten") {
    result = kernels::Flatten{};
  } else {
    detail::throw_error<IoError>(layer.where(), ": the layer type \"", type,
                                 "\" is unknown to this program");
  }
  layer.finish();
  return result;
}

Json to_json(const train::NetworkSpec& network) {
  Json layers = Json::array();
  for (const auto& layer : network.layers) {
    layers.push_back(std::visit(LayerWriter(), layer));
  }
  const kernels::Shape& input = network.input;
  return {{"input", {input.channels, input.height, input.width}},
          {"layers", std::move(layers)}};
}

train::NetworkSpec read_network(Object network) {
  train::NetworkSpec result;
  const auto input = network.integers("input", 3);
  result.input = {input[0], input[1], input[2]};
  for (const Json& layer : network.array("layers")) {
    result.layers.push_back(
        read_layer({layer, network.where() + ".layers[" +
                               std::to_string(result.layers.size()) + "]"}));
  }
  network.finish();
  return result;
}

Json optional(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const posterior::Options& options) {
  return {
      {"family", name_of(kFamilies, options.family)},
      {"grouping", name_of(kGroupings, options.grouping)},
      {"local_scale", options.local_scale},
      {"global_scale", optional(options.global_scale)},
      {"direction_prior", name_of(kDirectionPriors, options.direction_prior)},
      {"direction_gap", options.direction_gap},
      {"prior_concentration", optional(options.prior_concentration)},
      {"concentration_per_group", options.concentration_per_group},
      {"learn_prior", options.learn_prior},
      {"gaussian_prior_scale", options.gaussian_prior_scale},
      {"initial_gain", options.initial_gain},
      {"initial_noise", options.initial_noise},
      {"estimator", name_of(kEstimators, options.estimator)}};
}

posterior::Options read_posterior(Object json) {
  posterior::Options options;
  options.family = json.choice("family", kFamilies);
  options.grouping = json.choice("grouping", kGroupings);
  options.local_scale = json.number("local_scale");
  options.global_scale = json.optional_number("global_scale");
  options.direction_prior = json.choice("direction_prior", kDirectionPriors);
  options.direction_gap = json.number("direction_gap");
  options.prior_concentration = json.optional_number("prior_concentration");
  options.concentration_per_group = json.boolean("concentration_per_group");
  options.learn_prior = json.boolean("learn_prior");
  options.gaussian_prior_scale = json.number("gaussian_prior_scale");
  options.initial_gain = json.number("initial_gain");
  options.initial_noise = json.number("initial_noise");
  options.estimator = json.choice("estimator", kEstimators);
  json.finish();
  return options;
}

Json to_json(const train::Likelihood& likelihood) {
  return {{"kind", name_of(kLikelihoods, likelihood.kind)},
          {"prior_shape", likelihood.prior_shape},
          {"prior_rate", likelihood.prior_rate}};
}

train::Likelihood read_likelihood(Object json) {
  train::Likelihood likelihood;
  likelihood.kind = json.choice("kind", kLikelihoods);
  likelihood.prior_shape = json.number("prior_shape");
  likelihood.prior_rate = json.number("prior_rate");
  json.finish();
  return likelihood;
}

Json parse_section(const std::string& text, const char* name) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  RADIR_CHECK(json.is_object(), ArgumentError, "write_model: the section \"",
              name, "\" must be a JSON object, but is ", text);
  return json;
}

Json to_json(const SavedModel& model) {
  Json posteriors = Json::array();
  for (const auto& options : model.spec.weights) {
    posteriors.push_back(to_json(options));
  }
  return {
      {"format", kFormatVersion},
      {"program", version()},
      {"architecture", to_json(model.spec.network)},
      {"posterior", std::move(posteriors)},
      {"bias_prior_scale", model.spec.bias_prior_scale},
      {"likelihood", to_json(model.spec.likelihood)},
      {"networks", model.networks.size()},
      {"seed", model.seed},
      {"preprocessing", parse_section(model.preprocessing, "preprocessing")},
      {"training", parse_section(model.training, "training")},
      {"metrics", parse_section(model.metrics, "metrics")},
      {"data", parse_section(model.data, "data")}};
}

/// Everything but the numbers; `networks` gets its length.
SavedModel read_document(Object json) {
  const std::int64_t format = json.integer("format");
  RADIR_CHECK(format == kFormatVersion, IoError, json.where(),
              ": the model has format ", format, ", but this program (version ",
              version(), ") reads format ", kFormatVersion,
              "; use the program that wrote it (version ", json.text("program"),
              ") or a newer one");
  SavedModel model;
  model.program_version = json.text("program");
  model.spec.network = read_network(json.object("architecture"));
  model.spec.weights.clear();
  for (const Json& options : json.array("posterior")) {
    model.spec.weights.push_back(read_posterior(
        {options, json.where() + ".posterior[" +
                      std::to_string(model.spec.weights.size()) + "]"}));
  }
  model.spec.bias_prior_scale = json.number("bias_prior_scale");
  model.spec.likelihood = read_likelihood(json.object("likelihood"));
  const std::int64_t networks = json.integer("networks");
  RADIR_CHECK(networks >= 1 && networks <= 1000, IoError, json.where(),
              ": \"networks\" must be from 1 to 1000, but is ", networks);
  model.networks.resize(static_cast<std::size_t>(networks));
  model.seed = json.seed("seed");
  model.preprocessing = json.section("preprocessing");
  model.training = json.section("training");
  model.metrics = json.section("metrics");
  model.data = json.section("data");
  json.finish();
  return model;
}

std::string tensor_name(std::size_t network,
                        const train::ParameterInfo& parameter) {
  return "network" + std::to_string(network + 1) + "." + parameter.name;
}

/// The architecture with its parameters laid out; IoError when it is no good.
train::Model checked_model(const std::string& name,
                           const train::ModelSpec& spec) {
  try {
    return train::Model(spec);
  } catch (const Error& error) {
    detail::throw_error<IoError>(name, ": the model it describes is not ",
                                 "possible: ", error.what());
  }
}

SavedModel read_model(const SafetensorsFile& file) {
  RADIR_CHECK(file.metadata().count(kMetadataKey) == 1, IoError, file.name(),
              ": is a safetensors file, but not a model of radir (its metadata "
              "has no \"",
              kMetadataKey, "\")");
  const Json json = Json::parse(file.metadata(kMetadataKey), nullptr,
                                /*allow_exceptions=*/false);
  SavedModel result = read_document({json, file.name() + ": " + kMetadataKey});
  const train::Model model = checked_model(file.name(), result.spec);
  for (std::size_t i = 0; i < result.networks.size(); ++i) {
    for (const train::ParameterInfo& parameter : model.parameters()) {
      const std::vector<float> values =
          file.values<float>(tensor_name(i, parameter), parameter.shape);
      result.networks[i].insert(result.networks[i].end(), values.begin(),
                                values.end());
    }
  }
  const std::size_t expected =
      result.networks.size() * model.parameters().size();
  RADIR_CHECK(file.tensors().size() == expected, IoError, file.name(),
              ": holds ", file.tensors().size(), " tensors, but the model it ",
              "describes has ", expected);
  return result;
}

}  // namespace

void write_model(const std::string& path, const SavedModel& saved) {
  const train::Model model(saved.spec);
  RADIR_CHECK(!saved.networks.empty(), ArgumentError,
              "write_model: there is no network to write");
  SafetensorsWriter writer;
  writer.set_metadata(kMetadataKey, to_json(saved).dump());
  for (std::size_t i = 0; i < saved.networks.size(); ++i) {
    const std::vector<float>& values = saved.networks[i];
    RADIR_CHECK(
        static_cast<std::int64_t>(values.size()) == model.parameter_count(),
        ArgumentError, "write_model: network ", i + 1, " has ", values.size(),
        " parameters, but its architecture ", model.parameter_count());
    for (const train::ParameterInfo& parameter : model.parameters()) {
      writer.add(tensor_name(i, parameter), parameter.shape,
                 values.data() + parameter.offset);
    }
  }
  writer.write(path);
}

SavedModel read_model(const std::string& path) {
  return read_model(SafetensorsFile(path));
}

SavedModel read_model(const std::string& name, std::string_view bytes) {
  return read_model(SafetensorsFile(name, bytes));
}

std::string model_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  const fs::path file = fs::path(path) / "model.safetensors";
  RADIR_CHECK(fs::exists(file, error), IoError, path,
              ": this folder holds no model.safetensors, so it is not a "
              "finished run");
  return file.string();
}

}  // namespace radir::io
