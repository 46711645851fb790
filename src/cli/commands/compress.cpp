#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "cli/training_run.h"
#include "radir/core/error.h"
#include "radir/files/json_object.h"
#include "radir/io/model_file.h"
#include "radir/io/run_folder.h"
#include "radir/report/table.h"
#include "radir/workflows/compress.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_run.h"
#include "radir/workflows/compress_settings.h"
#include "radir/workflows/resumable_run.h"

namespace radir::cli {
namespace {

using workflows::CompressResult;
using workflows::CompressRun;
using workflows::CompressRunOptions;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand = workflows::kCompressCommand;

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
  for (const auto& [name, figures] : result.networks()) {
    table.rows.push_back({std::string(name), figures->architecture,
                          figures->cost.flops, figures->cost.parameters,
                          100 * figures->train_error, 100 * figures->test_error,
                          figures->microseconds_per_image});
  }
  std::cout << report::to_text(table) << "\nrun  " << run
            << " (model.safetensors, " << workflows::kCompressOnnxFile << ", "
            << (torchscript
                    ? std::string(workflows::kCompressTorchScriptFile) + ", "
                    : "")
            << "report.html)\n";
}

void show(const io::RunFolder& folder, const Json& config, bool torchscript,
          const CompressResult& result, const CommonOptions& common) {
  if (!common.json) return print(folder.path(), torchscript, result);
  Json document = {{"run", folder.path()}, {"config", config}};
  document.update(Json::parse(workflows::to_json(result)));
  std::cout << document.dump(2) << "\n";
}

void train(const CompressRun& run, const io::RunFolder& folder,
           const RunOptions& run_options, const CommonOptions& common) {
  CommandThreads pool(common);
  std::optional<CompressResult> result;
  train_in(folder, kCommand, run_options,
           [&](const workflows::ResumableRun& resumable) {
             Progress progress;
             result = workflows::compress(
                 run.images, run.options.settings,
                 [&](double share, const std::string& text) {
                   progress.show(share, text);
                 },
                 &pool, &resumable);
           });
  finish_in_one(run_options, [&] {
    finish_run(folder, kCommand, run.config, workflows::metrics_lines(*result),
               [&] { workflows::write_compress_files(folder, run, *result); });
    show(folder, run.config, run.options.torchscript, *result, common);
  });
}

/// A run whose model is there. If it was killed before the end, its checkpoints
/// are, too.
void show_finished(const io::RunFolder& folder, const Json& config,
                   const CommonOptions& common) {
  folder.remove_checkpoints();
  say(folder.path() + ": is already finished");
  const io::SavedModel model = io::read_model(folder.model_file());
  files::JsonObject command =
      files::JsonObject(config, folder.config_file()).object("command");
  show(folder, config, command.boolean("torchscript"),
       workflows::compress_result_from_json(model.metrics), common);
}

void begin(CompressRunOptions options, RunOptions run,
           const CommonOptions& common) {
  options.settings.seed = common.seed;
  if (run.out.empty()) run.out = free_run_name(options.data);
  RADIR_CHECK(run.place.shared == nullptr || run.sharded != nullptr,
              ArgumentError, "compress trains one network: several workers ",
              "share it with --shards N, such as 8");
  check_free(run.out, run.place);
  CompressRunOptions kept = options;
  for (std::string* path : {&kept.data, &kept.data_dir, &kept.model}) {
    *path = absolute_path(*path);
  }
  const CompressRun begun = workflows::begin_compress(options, kept);
  train(begun, begin_run(run.out, begun.config, run.place), run, common);
}

void resume(const RunOptions& run, const CommonOptions& common) {
  const io::RunFolder folder = open_run(run.resume, run.place);
  const Json config = read_run_config(folder, kCommand);
  if (folder.is_finished()) {
    return finish_in_one(run, [&] { show_finished(folder, config, common); });
  }
  const CompressRun begun = workflows::resume_compress(
      config, folder.config_file(), run.moved_dir, run.moved_data);
  check_same_data(config, begun.options.data, begun.images.fingerprint);
  if (run.place.shared != nullptr) run.place.shared->check_same(config);
  train(begun, folder, run, common);
}

/// The settings that have options, in the order of the help.
void add_options_of(CLI::App& command, workflows::CompressSettings& settings) {
  add_preset_option(command,
                    settings);  // first: the others change what it sets
  add_settings_options(command, settings,
                       {{"method", "--method"},
                        {"strength", "--strength"},
                        {"epochs", "--epochs"},
                        {"prune_every", "--prune-every"},
                        {"fine_tune_epochs", "--fine-tune"},
                        {"mean_epochs", "--tune-means"},
                        {"pressure", "--pressure"},
                        {"cost_power", "--cost-power"},
                        {"direction_gap", "--direction-gap"},
                        {"batch", "--batch"},
                        {"shift", "--shift"},
                        {"warp", "--warp"},
                        {"learning_rate", "--learning-rate"},
                        {"mean_learning_rate", "--means-rate"}});
  add_threshold_option(command, settings.threshold);
  add_settings_options(command, settings,
                       {{"max_flops", "--max-flops"},
                        {"max_parameters", "--max-params"},
                        {"max_error", "--max-error"},
                        {"keep", "--keep", '-'}});
}

}  // namespace

void add_compress(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<CompressRunOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command = add_command(
      root, invocation,
      {kCommand,
       "Train an image classifier, remove unneeded units and export it",
       "radir compress --data digits --model lenet5 --out small"},
      [options, run, &root](const CommonOptions& common) {
        const CLI::App& parsed = *root.get_subcommand(kCommand);
        if (!run->resume.empty()) {
          check_resume_options(parsed);
          if (parsed.count("--data") > 0) run->moved_data = options->data;
          run->moved_dir = options->data_dir;
        }
        as_worker(*run, [&](const RunOptions& worker) {
          if (worker.resume.empty()) return begin(*options, worker, common);
          resume(worker, common);
        });
      });
  command
      ->add_option("--data", options->data,
                   "Images: digits (built in), mnist (in the data folder) or a "
                   "folder of IDX files")
      ->type_name("NAME|DIR")
      ->capture_default_str();
  add_data_dir_option(*command, options->data_dir);
  command
      ->add_option("--model", options->model,
                   "Network: lenet5 (the default), lenet300 or a JSON file")
      ->type_name("NAME|FILE");
  add_run_options(*command, *run);
  command->add_flag("--torchscript", options->torchscript,
                    "Also write the network as TorchScript (needs libtorch)");
  add_options_of(*command, options->settings);
}

}  // namespace radir::cli
