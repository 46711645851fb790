#include "radir/io/model_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "io/network_json.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/files/json_object.h"
#include "radir/files/settings_json.h"
#include "radir/io/safetensors.h"
#include "radir/io/target_runs.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/family.h"
#include "radir/posterior/options.h"
#include "radir/train/point_network.h"

namespace radir::io {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMetadataKey = "radir.model";
/// Raised when a file of the new form would be misread by an older program.
constexpr std::int64_t kFormatVersion = 1;
constexpr std::int64_t kMostNetworks = 1000;

Json to_json(posterior::Options options) {
  Json json = {{"family", options.family().name()}};
  files::SettingsWriter writer(json);
  options.family().visit_settings(writer, options);
  return json;
}

/// Version 0.1 wrote the options of all families into each of them. In those of
/// the radial-directional family all are still in use.
Json without_foreign_options(const Json& json) {
  Json result = json;
  if (!json.is_object() || json.value("family", Json()) != "gaussian" ||
      !json.contains("gaussian_prior_scale")) {
    return result;
  }
  for (const char* key :
       {"grouping", "local_scale", "degrees_of_freedom",
        "column_degrees_of_freedom", "global_scale", "direction_prior",
        "direction_gap", "prior_concentration", "concentration_per_group",
        "gaussian_prior_scale", "estimator"}) {
    result.erase(key);
  }
  result["prior_scale"] = json["gaussian_prior_scale"];
  result["noise"] = "weights";
  return result;
}

const posterior::Family& read_family(files::JsonObject& json) {
  try {
    return posterior::find_family(json.text("family"));
  } catch (const UnsupportedError& error) {
    detail::throw_error<UnsupportedError>(json.where(), ": ", error.what());
  }
}

posterior::Options read_posterior(const Json& document,
                                  const std::string& where) {
  const Json own = without_foreign_options(document);
  files::JsonObject json(own, where);
  const posterior::Family& family = read_family(json);
  posterior::Options options = family.default_options();
  files::SettingsReader reader(json);
  family.visit_settings(reader, options);
  json.finish();
  return options;
}

Json to_json(likelihood::Options options) {
  Json json = Json::object();
  files::SettingsWriter writer(json);
  describe(writer, options);
  return json;
}

likelihood::Options read_likelihood(files::JsonObject json) {
  likelihood::Options options;
  files::SettingsReader reader(json);
  describe(reader, options);
  json.finish();
  return options;
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
  Json json = {
      {"format", kFormatVersion},
      {"program", version()},
      {"architecture", io::to_json(model.spec.network)},
      {"posterior", std::move(posteriors)},
      {"bias_prior_scale", model.spec.bias_prior_scale},
      {"likelihood", to_json(model.spec.likelihood)},
      {"networks", model.networks.size()},
      {"seed", model.seed},
      {"preprocessing", parse_section(model.preprocessing, "preprocessing")},
      {"training", parse_section(model.training, "training")},
      {"metrics", parse_section(model.metrics, "metrics")},
      {"data", parse_section(model.data, "data")}};
  if (!model.weights.empty()) json["weights"] = model.weights;
  if (!model.conformal.empty()) json["conformal"] = model.conformal;
  Json rows = parse_section(model.training_rows, "training_rows");
  if (!rows.empty()) json["training_rows"] = std::move(rows);
  return json;
}

std::vector<double> read_probabilities(files::JsonObject& json,
                                       const char* key) {
  std::vector<double> probabilities;
  for (const Json& value : json.array(key)) {
    json.check_type(value.is_number() && value >= 0 && value <= 1, key,
                    "a list of numbers from 0 to 1");
    probabilities.push_back(value);
  }
  return probabilities;
}

bool are_weights(const std::vector<double>& weights, std::size_t networks) {
  // Read from decimals, so that the sum is not exact.
  constexpr double kAccuracy = 1e-6;
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0)) return false;
    sum += weight;
  }
  return weights.size() == networks && std::abs(sum - 1) <= kAccuracy;
}

/// Everything but the numbers; `networks` gets its length.
SavedModel read_document(files::JsonObject json) {
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
        options, json.where() + ".posterior[" +
                     std::to_string(model.spec.weights.size()) + "]"));
  }
  model.spec.bias_prior_scale = json.number("bias_prior_scale");
  model.spec.likelihood = read_likelihood(json.object("likelihood"));
  model.networks.resize(
      static_cast<std::size_t>(json.integer("networks", 1, kMostNetworks)));
  model.seed = json.seed("seed");
  model.preprocessing = json.section("preprocessing");
  model.training = json.section("training");
  model.metrics = json.section("metrics");
  model.data = json.section("data");
  if (json.has("training_rows")) {
    model.training_rows = json.section("training_rows");
  }
  if (json.has("weights")) {
    model.weights = read_probabilities(json, "weights");
    RADIR_CHECK(are_weights(model.weights, model.networks.size()), IoError,
                json.where(), ": \"weights\" must have one number for each of ",
                model.networks.size(), " networks, with the sum 1");
  }
  if (json.has("conformal")) {
    model.conformal = read_probabilities(json, "conformal");
  }
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
  active_isa();  // a wrong RADIR_ISA is not the file's fault
  try {
    return train::Model(spec);
  } catch (const Error& error) {
    detail::throw_error<IoError>(name, ": the model it describes is not ",
                                 "possible: ", error.what());
  }
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

/// Throws IoError unless the parameters give weights that are numbers: a
/// direction of length zero, say, gives none.
void check_weights(const std::string& name, const train::Model& model,
                   const std::vector<float>& parameters) {
  try {
    train::point_network(model, parameters);
  } catch (const Error& error) {
    detail::throw_error<IoError>(name, ": ", error.what(),
                                 "; the file is damaged");
  }
}

SavedModel read_model(const SafetensorsFile& file) {
  RADIR_CHECK(file.metadata().count(kMetadataKey) == 1, IoError, file.name(),
              ": is a safetensors file, but not a model of radir (its metadata "
              "has no \"",
              kMetadataKey, "\")");
  const std::string where = file.name() + ": " + kMetadataKey;
  const Json json = files::parse_json<Json>(where, file.metadata(kMetadataKey),
                                            files::JsonLimits());
  SavedModel result = read_document({json, where});
  const train::Model model = checked_model(file.name(), result.spec);
  for (std::size_t i = 0; i < result.networks.size(); ++i) {
    for (const train::ParameterInfo& parameter : model.parameters()) {
      const std::vector<float> values =
          file.values<float>(tensor_name(i, parameter), parameter.shape);
      result.networks[i].insert(result.networks[i].end(), values.begin(),
                                values.end());
    }
    check_weights(file.name(), model, result.networks[i]);
  }
  const std::size_t expected =
      result.networks.size() * model.parameters().size();
  RADIR_CHECK(file.tensors().size() == expected, IoError, file.name(),
              ": holds ", file.tensors().size(), " tensors, but the model it ",
              "describes has ", expected);
  return result;
}

/// Holds pointers into `saved`.
SafetensorsWriter writer_of(const SavedModel& saved) {
  const train::Model model(saved.spec);
  RADIR_CHECK(!saved.networks.empty(), ArgumentError,
              "write_model: there is no network to write");
  RADIR_CHECK(saved.weights.empty() ||
                  are_weights(saved.weights, saved.networks.size()),
              ArgumentError, "write_model: needs one weight for each of ",
              saved.networks.size(), " networks, with the sum 1");
  SafetensorsWriter writer;
  writer.set_metadata(kMetadataKey, to_json(saved).dump());
  for (std::size_t i = 0; i < saved.networks.size(); ++i) {
    const std::vector<float>& values = saved.networks[i];
    RADIR_CHECK(
        static_cast<std::int64_t>(values.size()) == model.parameter_count(),
        ArgumentError, "write_model: network ", i + 1, " has ", values.size(),
        " parameters, but its architecture ", model.parameter_count());
    RADIR_CHECK(all_finite(values), NumericalError, "write_model: network ",
                i + 1, " has parameters that are not finite");
    for (const train::ParameterInfo& parameter : model.parameters()) {
      writer.add(tensor_name(i, parameter), parameter.shape,
                 values.data() + parameter.offset);
    }
  }
  return writer;
}

}  // namespace

void write_model(const std::string& path, const SavedModel& model) {
  writer_of(model).write(path);
}

std::string model_bytes(const SavedModel& model) {
  return writer_of(model).bytes();
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
  check_one_target(path);
  const fs::path file = fs::path(path) / "model.safetensors";
  RADIR_CHECK(fs::exists(file, error), IoError, path,
              ": this folder holds no model.safetensors, as the folder of a "
              "finished \"radir train\" or \"radir compress\" does");
  return file.string();
}

}  // namespace radir::io
