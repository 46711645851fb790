#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/io/model_file.h"
#include "radir/report/table.h"
#include "radir/workflows/inspect.h"

namespace radir::cli {
namespace {

using workflows::LayerInspection;
using workflows::ModelInspection;
using Json = nlohmann::ordered_json;

Json to_json(const io::SavedModel& model, const ModelInspection& inspection) {
  Json layers = Json::array();
  for (const LayerInspection& layer : inspection.layers) {
    layers.push_back(workflows::to_json(layer));
  }
  return {{"program_version", model.program_version},
          {"seed", model.seed},
          {"input", inspection.input},
          {"likelihood", inspection.likelihood},
          {"architecture", inspection.architecture},
          {"networks", inspection.networks},
          {"flops", inspection.flops},
          {"parameters", inspection.parameters},
          {"variational_parameters", inspection.variational_parameters},
          {"layers", std::move(layers)},
          {"training", Json::parse(model.training)},
          {"metrics", Json::parse(model.metrics)},
          {"data", Json::parse(model.data)}};
}

void print(const std::string& file, const io::SavedModel& model,
           const ModelInspection& inspection) {
  std::cout << "file          " << file << "\n"
            << "written by    radir " << model.program_version << ", seed "
            << model.seed << "\n"
            << "input         " << inspection.input << "\n"
            << "likelihood    " << inspection.likelihood << "\n"
            << "networks      " << inspection.networks << "\n"
            << "architecture  " << inspection.architecture << "\n"
            << "cost          " << inspection.flops << " FLOPs, "
            << inspection.parameters << " weights and biases, "
            << inspection.variational_parameters
            << " variational parameters\n\n";
  std::cout << report::to_text(workflows::layer_table(inspection)) << "\n";
  for (const LayerInspection& layer : inspection.layers) {
    std::cout << layer.name << ": " << layer.posterior << "\n";
  }
}

}  // namespace

void add_inspect(CLI::App& root, Invocation& invocation) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = add_command(
      root, invocation,
      {"inspect", "Show the layers, cost and uncertainty of a model",
       "radir inspect houses-run"},
      [path](const CommonOptions& common) {
        const std::string file = io::model_path(*path);
        const io::SavedModel model = io::read_model(file);
        const ModelInspection inspection = workflows::inspect(model);
        if (common.json) {
          std::cout << to_json(model, inspection).dump(2) << "\n";
        } else {
          print(file, model, inspection);
        }
      });
  add_model_argument(*command, *path);
}

}  // namespace radir::cli
