#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/core/shell_text.h"
#include "radir/data/images.h"
#include "radir/io/model_file.h"
#include "radir/io/target_runs.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/workflows/image_evaluation.h"
#include "radir/workflows/inspect.h"

namespace radir::cli {
namespace {

using workflows::ModelInspection;
using Json = nlohmann::ordered_json;

struct PruneCommand {
  std::string model;
  std::string out;
  bool force = false;
  std::string data;
  std::string data_dir;
  workflows::PruneOptions options;
};

/// Size and, where there is data, error of a model.
Json figures(const io::SavedModel& model, const data::ImageSplit* images,
             ThreadPool& pool) {
  const ModelInspection inspection = workflows::inspect(model);
  Json json = {{"architecture", inspection.architecture},
               {"flops", inspection.flops},
               {"parameters", inspection.parameters}};
  if (images != nullptr) {
    data::check_fits(model.spec.network, *images);
    const auto plain =
        train::point_network(train::Model(model.spec), model.networks.front());
    json["test_error"] =
        workflows::classification_error(plain, images->test, &pool);
  }
  return json;
}

void print(const char* name, const Json& figures) {
  std::cout << name << figures["architecture"].get<std::string>() << ", "
            << figures["flops"] << " FLOPs, " << figures["parameters"]
            << " weights and biases";
  if (figures.contains("test_error")) {
    std::cout << ", test error " << 100 * figures["test_error"].get<double>()
              << " %";
  }
  std::cout << "\n";
}

/// "columns   2 of 5 are needed: area and age"
void print(const workflows::KeptColumns& columns) {
  const std::size_t all = columns.kept.size() + columns.removed.size();
  std::cout << "columns   " << columns.kept.size() << " of " << all
            << " are needed:";
  for (const std::string& name : columns.kept) {
    std::cout << (&name == &columns.kept.front() ? " " : ", ") << name;
  }
  std::cout << "\n";
}

void prune(const PruneCommand& command, const CommonOptions& common) {
  io::check_one_target(command.model,
                       {"radir prune", "--out " + shell_word(command.out)});
  const std::string file = io::model_path(command.model);
  std::vector<std::string> inputs = {command.model};
  if (!command.data.empty()) {
    inputs.push_back(data::images_folder(command.data, command.data_dir));
  }
  check_not_input("--out", command.out, inputs);
  check_overwrite("--out", command.out, command.force);
  const io::SavedModel model = io::read_model(file);
  io::SavedModel pruned = workflows::prune_model(model, command.options);
  const workflows::KeptColumns columns = workflows::drop_unused_columns(pruned);
  CommandThreads pool(common);
  std::optional<data::ImageSplit> images;
  if (!command.data.empty()) {
    images = data::read_images(command.data, command.data_dir, common.seed);
  }
  const auto* data = images ? &*images : nullptr;
  Json document = {{"file", command.out},
                   {"unpruned", figures(model, data, pool)},
                   {"pruned", figures(pruned, data, pool)}};
  if (!columns.kept.empty()) {
    document["columns"] = {{"kept", columns.kept},
                           {"removed", columns.removed}};
  }
  io::write_model(command.out, pruned);
  if (!model.conformal.empty()) {
    std::cerr << "radir: the quantiles of the pruned model are not corrected: "
              << "what --conformal found belongs to the unpruned one\n";
  }
  if (common.json) {
    std::cout << document.dump(2) << "\n";
    return;
  }
  print("unpruned  ", document["unpruned"]);
  print("pruned    ", document["pruned"]);
  if (!columns.kept.empty()) print(columns);
  std::cout << "written   " << command.out << "\n";
}

}  // namespace

void add_prune(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<PruneCommand>();
  CLI::App* command = add_command(
      root, invocation,
      {"prune", "Remove unneeded units from a trained model",
       "radir prune small-run --out smaller.safetensors"},
      [options](const CommonOptions& common) { prune(*options, common); });
  add_model_argument(*command, options->model);
  command->add_option("--out", options->out, "Model file to write")
      ->type_name("FILE")
      ->required();
  add_force_option(*command, options->force);
  add_threshold_option(*command, options->options.threshold);
  command
      ->add_option("--max-flops", options->options.budget.max_flops,
                   "Most FLOPs per example; units are removed to meet it")
      ->type_name("N");
  command
      ->add_option("--max-params", options->options.budget.max_parameters,
                   "Most parameters; units are removed to meet it")
      ->type_name("N");
  command
      ->add_option("--data", options->data,
                   "Images to measure the error on: digits, mnist or a folder")
      ->type_name("NAME|DIR");
  add_data_dir_option(*command, options->data_dir);
}

}  // namespace radir::cli
