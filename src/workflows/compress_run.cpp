#include "radir/workflows/compress_run.h"

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/files/json_object.h"
#include "radir/files/sha256.h"
#include "radir/io/model_file.h"
#include "radir/io/network_file.h"
#include "radir/io/onnx.h"
#include "radir/network/spec.h"
#include "radir/workflows/compress_report.h"
#include "radir/workflows/run_config.h"
#include "radir/workflows/torchscript.h"
#include "radir/workflows/training_run.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInputNote =
    "grey values from 0 to 1 (pixels divided by 255)";
constexpr const char* kOutputNote = "one logit per class";

network::NetworkSpec read_network(const std::string& model,
                                  std::int64_t classes = 10) {
  if (model == "lenet5") return network::lenet5(classes);
  if (model == "lenet300") return network::lenet300(classes);
  return io::read_network_file(model);
}

Json to_json(const CompressRunOptions& options) {
  return {{"name", kCompressCommand},
          {"data", options.data},
          {"data_dir", options.data_dir},
          {"model", options.model},
          {"torchscript", options.torchscript},
          {"settings", Json::parse(to_json(options.settings))}};
}

CompressRunOptions options_from_json(files::JsonObject json) {
  CompressRunOptions options;
  json.text("name");
  options.data = json.text("data");
  options.data_dir = json.text("data_dir");
  options.model = json.text("model");
  options.torchscript = json.boolean("torchscript");
  try {
    options.settings = compress_settings_from_json(json.section("settings"));
    options.settings.network = read_network(options.model);
    check(options.settings);
  } catch (const Error& error) {
    detail::throw_error<IoError>(json.where(), ": ", error.what());
  }
  json.finish();
  return options;
}

/// Of the file of a network; empty for one that is built in.
std::string network_sum(const std::string& model) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (model == "lenet5" || model == "lenet300") return "";
  return files::sha256(
      files::read_all(*files::open_byte_source(model), kMostBytes));
}

data::ImageSplit read_images(const CompressRunOptions& options) {
  if (options.torchscript) check_torchscript();
  return data::read_images(options.data, options.data_dir,
                           options.settings.seed);
}

/// The model of the result, and where it comes from.
io::SavedModel saved_model(const CompressRun& run,
                           const CompressResult& result) {
  io::SavedModel saved;
  saved.spec = result.spec;
  saved.networks = {result.parameters};
  saved.seed = run.options.settings.seed;
  saved.preprocessing = Json{
      {"kind", "images"},
      {"pixels", "divided by 255"},
      {"height", run.images.train.shape.height},
      {"width", run.images.train.shape.width},
      {"classes",
       run.images.classes}}.dump();
  saved.training = to_json(run.options.settings);
  saved.metrics = to_json(result);
  saved.data = run.config.at("data").dump();
  return saved;
}

}  // namespace

CompressRun begin_compress(const CompressRunOptions& options,
                           const CompressRunOptions& kept) {
  CompressRun run{options, {}, {}};
  CompressSettings& settings = run.options.settings;
  settings.network = read_network(options.model);
  settings.network_name = options.model;
  check(settings);
  run.images = read_images(run.options);
  settings.network = read_network(options.model, run.images.classes);
  data::check_fits(settings.network, run.images);
  CompressRunOptions command = kept;
  command.settings = settings;
  run.config = Json::parse(to_json(settings));
  Json data = image_data_entry(options.data, run.images);
  data["network"] = network_sum(options.model);
  run.config.update(run_config(data, to_json(command)));
  return run;
}

CompressRun resume_compress(const Json& config, const std::string& config_file,
                            const std::string& data_dir,
                            const std::string& data) {
  CompressRun run{options_from_json(
                      files::JsonObject(config, config_file).object("command")),
                  {},
                  config};
  check_same_part(config, run.options.model, "network",
                  network_sum(run.options.model));
  if (!data_dir.empty()) run.options.data_dir = data_dir;
  if (!data.empty()) run.options.data = absolute_path(data);
  run.images = read_images(run.options);
  run.options.settings.network =
      read_network(run.options.model, run.images.classes);
  return run;
}

std::string metrics_lines(const CompressResult& result) {
  std::string lines;
  for (const Json& removal : Json::parse(to_json(result.removals))) {
    lines += removal.dump() + "\n";
  }
  return lines;
}

void write_compress_files(const io::RunFolder& folder, const CompressRun& run,
                          const CompressResult& result) {
  files::write_file(
      folder.file("report.html"),
      compress_report(run.options.settings, run.images.name, result));
  if (io::has_onnx()) {
    io::OnnxOptions onnx;
    onnx.input_note = kInputNote;
    onnx.output_note = kOutputNote;
    io::write_onnx(folder.file(kCompressOnnxFile), result.plain, onnx);
  }
  if (run.options.torchscript) {
    write_torchscript(
        folder.file(kCompressTorchScriptFile), result.plain,
        {{"radir.input", kInputNote}, {"radir.output", kOutputNote}});
  }
  io::write_model(folder.model_file(), saved_model(run, result));
}

}  // namespace radir::workflows
