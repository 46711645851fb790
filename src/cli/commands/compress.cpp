#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/training_run.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/data/images.h"
#include "radir/files/atomic_file.h"
#include "radir/files/json_object.h"
#include "radir/io/model_file.h"
#include "radir/io/network_file.h"
#include "radir/io/onnx.h"
#include "radir/io/run_folder.h"
#include "radir/network/spec.h"
#include "radir/report/table.h"
#include "radir/train/model.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_report.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/doctor.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/torchscript.h"

namespace radir::cli {
namespace {

using data::ImageSplit;
using workflows::CompressResult;
using workflows::CompressSettings;
using workflows::NetworkFigures;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand = "compress";
constexpr const char* kOnnxFile = "network.onnx";
constexpr const char* kTorchScriptFile = "network.pt";
constexpr const char* kInputNote =
    "grey values from 0 to 1 (pixels divided by 255)";
constexpr const char* kOutputNote = "one logit per class";

/// The options of the command, stored in config.json to resume a run.
struct CompressOptions {
  std::string data = "digits";
  std::string data_dir;
  std::string model;
  bool torchscript = false;
  CompressSettings settings;
};

network::NetworkSpec read_network(const std::string& model) {
  if (model == "lenet5") return network::lenet5();
  if (model == "lenet300") return network::lenet300();
  return io::read_network_file(model);
}

Json to_json(const CompressOptions& options) {
  return {{"name", kCommand},
          {"data", absolute_path(options.data)},
          {"data_dir", absolute_path(options.data_dir)},
          {"model", absolute_path(options.model)},
          {"torchscript", options.torchscript},
          {"settings", Json::parse(workflows::to_json(options.settings))}};
}

CompressOptions options_from_json(files::JsonObject json) {
  CompressOptions options;
  json.text("name");
  options.data = json.text("data");
  options.data_dir = json.text("data_dir");
  options.model = json.text("model");
  options.torchscript = json.boolean("torchscript");
  try {
    options.settings =
        workflows::compress_settings_from_json(json.section("settings"));
    options.settings.network = read_network(options.model);
    workflows::check(options.settings);
  } catch (const Error& error) {
    detail::throw_error<IoError>(json.where(), ": ", error.what());
  }
  json.finish();
  return options;
}

void print(const std::string& run, bool torchscript,
           const CompressResult& result) {
  report::Table table;
  table.columns = {{"network", ""},
                   {"architecture", "architecture"},
                   {"flops", "FLOPs"},
                   {"parameters", "parameters"},
                   {"train_error", "train (%)", 3},
                   {"test_error", "test (%)", 3},
                   {"microseconds", "us per image", 3}};
  const auto add = [&](const char* name, const NetworkFigures& figures) {
    table.rows.push_back({std::string(name), figures.architecture,
                          figures.cost.flops, figures.cost.parameters,
                          100 * figures.train_error, 100 * figures.test_error,
                          figures.microseconds_per_image});
  };
  add("unpruned", result.unpruned);
  add("pruned", result.pruned);
  if (result.fine_tuned) add("fine-tuned", *result.fine_tuned);
  if (result.mean_tuned) add("means tuned", *result.mean_tuned);
  std::cout << report::to_text(table) << "\nrun  " << run
            << " (model.safetensors, " << kOnnxFile << ", "
            << (torchscript ? std::string(kTorchScriptFile) + ", " : "")
            << "report.html)\n";
}

void write_results(const io::RunFolder& folder, const CompressOptions& options,
                   const ImageSplit& images, const CompressResult& result,
                   const Json& config, const Json& metrics) {
  io::SavedModel saved;
  saved.spec = result.spec;
  saved.networks = {result.parameters};
  saved.seed = options.settings.seed;
  saved.preprocessing = Json{
      {"kind", "images"},
      {"pixels", "divided by 255"},
      {"height", images.train.shape.height},
      {"width", images.train.shape.width},
      {"classes",
       images.classes}}.dump();
  saved.training = workflows::to_json(options.settings);
  saved.metrics = metrics.dump();
  saved.data = config.at("data").dump();
  std::string lines;
  for (const Json& removal : metrics.at("removals")) {
    lines += removal.dump() + "\n";
  }
  finish_run(folder, kCommand, config, lines, [&] {
    files::write_file(
        folder.file("report.html"),
        workflows::compress_report(options.settings, images.name, result));
    if (io::has_onnx()) {
      io::OnnxOptions onnx;
      onnx.input_note = kInputNote;
      onnx.output_note = kOutputNote;
      io::write_onnx(folder.file(kOnnxFile), result.plain, onnx);
    }
    if (options.torchscript) {
      workflows::write_torchscript(
          folder.file(kTorchScriptFile), result.plain,
          {{"radir.input", kInputNote}, {"radir.output", kOutputNote}});
    }
    io::write_model(folder.model_file(), saved);
  });
}

Json run_config(const CompressOptions& options, const ImageSplit& images) {
  Json config = Json::parse(workflows::to_json(options.settings));
  config["data"] = {{"source", options.data},
                    {"train", images.train.count},
                    {"test", images.test.count},
                    {"fingerprint", images.fingerprint}};
  config["program"] = version();
  config["machine"] = workflows::machine_line();
  config["command"] = to_json(options);
  return config;
}

void compress_run(const CompressOptions& options, const ImageSplit& images,
                  const io::RunFolder& folder, const RunOptions& run_options,
                  const Json& config, const CommonOptions& common) {
  ThreadPool pool(common.threads);
  std::optional<CompressResult> result;
  train_in(folder, kCommand, run_options,
           [&](const workflows::ResumableRun& run) {
             Progress progress;
             result = workflows::compress(
                 images, options.settings,
                 [&](double share, const std::string& text) {
                   progress.show(share, text);
                 },
                 &pool, &run);
           });
  const Json metrics = Json::parse(workflows::to_json(*result));
  write_results(folder, options, images, *result, config, metrics);
  if (common.json) {
    Json document = {{"run", folder.path()}, {"config", config}};
    document.update(metrics);
    std::cout << document.dump(2) << "\n";
  } else {
    print(folder.path(), options.torchscript, *result);
  }
}

void begin(CompressOptions options, RunOptions run,
           const CommonOptions& common) {
  if (options.model.empty()) options.model = "lenet5";
  options.settings.network = read_network(options.model);
  options.settings.network_name = options.model;
  options.settings.seed = common.seed;
  workflows::check(options.settings);
  if (options.torchscript) workflows::check_torchscript();
  if (run.out.empty()) run.out = free_run_name(options.data);
  io::RunFolder::check_free(run.out);
  const ImageSplit images =
      data::read_images(options.data, options.data_dir, common.seed);
  data::check_fits(options.settings.network, images);
  const Json config = run_config(options, images);
  const io::RunFolder folder = begin_run(run.out, config);
  compress_run(options, images, folder, run, config, common);
}

void resume(const CompressOptions& given, const RunOptions& run,
            const CommonOptions& common) {
  const io::RunFolder folder = io::RunFolder::open(run.resume);
  const Json config = read_run_config(folder, kCommand);
  RADIR_CHECK(!folder.is_finished(), ArgumentError, run.resume,
              ": is already finished; \"radir inspect ", run.resume,
              "\" shows it");
  CompressOptions options = options_from_json(
      files::JsonObject(config, folder.config_file()).object("command"));
  if (!given.data_dir.empty()) options.data_dir = given.data_dir;
  if (options.torchscript) workflows::check_torchscript();
  const ImageSplit images =
      data::read_images(options.data, options.data_dir, options.settings.seed);
  check_same_data(config, options.data, images.fingerprint);
  compress_run(options, images, folder, run, config, common);
}

}  // namespace

void add_compress(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<CompressOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command = add_command(
      root, invocation,
      {kCommand,
       "Train an image classifier, remove unneeded units and export it",
       "radir compress --data digits --model lenet5 --out small"},
      [options, run, &root](const CommonOptions& common) {
        if (run->resume.empty()) return begin(*options, *run, common);
        check_resume_options(*root.get_subcommand(kCommand));
        resume(*options, *run, common);
      });
  command
      ->add_option("--data", options->data,
                   "Images: digits (built in), mnist (in the data folder) or a "
                   "folder of IDX files")
      ->type_name("NAME|DIR")
      ->capture_default_str();
  command
      ->add_option("--data-dir", options->data_dir,
                   "Data folder (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
  command
      ->add_option("--model", options->model,
                   "Network: lenet5 (the default), lenet300 or a JSON file")
      ->type_name("NAME|FILE");
  add_run_options(*command, *run);
  command->add_flag("--torchscript", options->torchscript,
                    "Also write the network as TorchScript (needs libtorch)");
  CompressSettings& settings = options->settings;
  const auto number = [&](const char* name, auto& value, const char* text) {
    command->add_option(name, value, text)
        ->type_name("N")
        ->capture_default_str();
  };
  number("--epochs", settings.epochs, "Epochs during which units are removed");
  number("--prune-every", settings.prune_every, "Epochs between removals");
  number("--fine-tune", settings.fine_tune_epochs,
         "Epochs of fine-tuning the posterior after the last removal");
  number("--tune-means", settings.mean_epochs,
         "Epochs of training only the exported means after fine-tuning");
  number("--pressure", settings.pressure,
         "Price of a unit under the prior (degrees of freedom of its radii "
         "for 60,000 images); a higher price leaves fewer units");
  number("--cost-power", settings.cost_power,
         "Power of a unit's relative cost in its price: 0 favours fewer "
         "parameters, 1 favours fewer FLOPs");
  number("--direction-gap", settings.direction_gap,
         "Spread of the directions under the prior, 0 to 1");
  number("--batch", settings.batch, "Images per training step");
  number("--shift", settings.shift,
         "Largest random shift of training images, in pixels");
  number("--warp", settings.warp,
         "Strength of the random rotation, stretch and shear of every second "
         "training image, 0 to 1");
  number("--learning-rate", settings.learning_rate, "Learning rate of Adam");
  number("--means-rate", settings.mean_learning_rate,
         "Learning rate of Adam in --tune-means");
  add_threshold_option(*command, settings.threshold);
  number("--max-flops", settings.budget.max_flops,
         "Most FLOPs per image; more units are removed to meet it");
  number("--max-params", settings.budget.max_parameters,
         "Most parameters; more units are removed to meet it");
  number("--max-error", settings.budget.max_error,
         "Largest error on held-out images, 0 to 1; units are removed while "
         "the error stays below it");
  command
      ->add_option("--keep", settings.keep,
                   "Largest number of units in each layer, such as 4-7-59-28")
      ->delimiter('-')
      ->allow_extra_args(false)
      ->type_name("N-N-...");
}

}  // namespace radir::cli
