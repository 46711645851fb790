#include "c_api/model.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/settings.h"
#include "radir/core/error.h"
#include "radir/workflows/export.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/inspect.h"
#include "radir/workflows/table_settings.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::ordered_json;

/// What messages call a model that has no file.
constexpr const char* kName = "model";

Handles<radir_model, ModelObject>& models() {
  static Handles<radir_model, ModelObject> handles("model");
  return handles;
}

std::string description(const io::SavedModel& saved) {
  const workflows::ModelInspection inspection = workflows::inspect(saved);
  Json layers = Json::array();
  for (const auto& layer : inspection.layers) {
    layers.push_back(workflows::to_json(layer));
  }
  const Json json = {
      {"likelihood", inspection.likelihood},
      {"architecture", inspection.architecture},
      {"networks", inspection.networks},
      {"flops", inspection.flops},
      {"parameters", inspection.parameters},
      {"seed", saved.seed},
      {"preprocessing", Json::parse(saved.preprocessing)},
      {"training",
       Json::parse(workflows::with_settings_left_out(saved.training))},
      {"metrics", Json::parse(saved.metrics)},
      {"data", Json::parse(saved.data)},
      {"layers", std::move(layers)}};
  return json.dump();
}

}  // namespace

KeptPredictor::KeptPredictor(const workflows::TableModel& model,
                             const radir_predict_options& given)
    : options(given),
      pool(static_cast<int>(given.threads)),
      predictor(model, given.samples, given.seed,
                pool.size() > 1 ? &pool : nullptr) {}

std::shared_ptr<ModelObject> ModelObject::make(const std::string& name,
                                               io::SavedModel saved) {
  io::SavedModel origin = saved;
  return std::make_shared<ModelObject>(
      workflows::table_model(name, std::move(saved)), std::move(origin));
}

io::SavedModel ModelObject::saved() const {
  io::SavedModel saved = workflows::saved_model(model_);
  saved.seed = origin_.seed;
  saved.training = origin_.training;
  saved.metrics = origin_.metrics;
  saved.data = origin_.data;
  return saved;
}

workflows::TablePredictor& ModelObject::predictor(
    const radir_predict_options& options) {
  if (!kept_ || !kept_.get_deleter().is_here() ||
      kept_->options.samples != options.samples ||
      kept_->options.seed != options.seed ||
      kept_->options.threads != options.threads) {
    kept_.reset();  // two sets of draws may not fit into memory
    kept_ = {new KeptPredictor(model_, options), DeleteInItsProcess()};
  }
  return kept_->predictor;
}

radir_model add_model(std::shared_ptr<ModelObject> model) {
  return models().add(std::move(model));
}

std::shared_ptr<ModelObject> model_of(radir_model handle) {
  return models().get(handle);
}

// The functions of the interface.
extern "C" {

radir_status radir_model_free(radir_model model) {
  return guarded([&] { models().remove(model); });
}

radir_status radir_model_describe(radir_model model, char* text,
                                  int64_t capacity, int64_t* length) {
  return guarded([&] {
    copy_text(description(model_of(model)->saved()), text, capacity, length);
  });
}

radir_status radir_model_importance(radir_model model, double* values,
                                    int64_t count) {
  return guarded([&] {
    check_pointer(values, "values");
    const auto importance =
        workflows::column_importance(model_of(model)->model());
    RADIR_CHECK(count == static_cast<std::int64_t>(importance.size()),
                ArgumentError, "the model has ", importance.size(),
                " input columns, but there is place for ", count);
    std::copy(importance.begin(), importance.end(), values);
  });
}

radir_status radir_model_prune(radir_model model, const char* options,
                               radir_model* pruned) {
  return guarded([&] {
    check_pointer(pruned, "pruned");
    const auto settings = settings_of<PruneSettings>(options);
    *pruned = add_model(ModelObject::make(
        kName,
        workflows::prune_model(model_of(model)->saved(), settings.options)));
  });
}

radir_status radir_model_export_onnx(radir_model model, const char* path,
                                     int64_t network) {
  return guarded([&] {
    workflows::ExportOptions options;
    options.network = network;
    workflows::export_onnx(kName, model_of(model)->saved(),
                           required_text(path, "path"), options);
  });
}

radir_status radir_model_save(radir_model model, const char* path) {
  return guarded([&] {
    io::write_model(required_text(path, "path"), model_of(model)->saved());
  });
}

radir_status radir_model_load(const char* path, radir_model* model) {
  return guarded([&] {
    check_pointer(model, "model");
    const std::string file = io::model_path(required_text(path, "path"));
    *model = add_model(ModelObject::make(file, io::read_model(file)));
  });
}

radir_status radir_model_to_bytes(radir_model model, void* bytes,
                                  int64_t capacity, int64_t* length) {
  return guarded([&] {
    copy_out(io::model_bytes(model_of(model)->saved()), 0,
             static_cast<char*>(bytes), capacity, length);
  });
}

radir_status radir_model_from_bytes(const void* bytes, int64_t length,
                                    radir_model* model) {
  return guarded([&] {
    check_pointer(bytes, "bytes");
    check_pointer(model, "model");
    RADIR_CHECK(length >= 0, ArgumentError, "a model of ", length, " bytes");
    // Copied: the reader wants its numbers aligned.
    const std::string copy(static_cast<const char*>(bytes),
                           static_cast<std::size_t>(length));
    *model = add_model(ModelObject::make(kName, io::read_model(kName, copy)));
  });
}

}  // extern "C"
}  // namespace radir::c_api
