#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/experiments/export.h"

namespace radir::cli {
namespace {

using kernels::PointWeight;

struct ExportCommand {
  std::string model;
  std::string onnx;
  experiments::ExportOptions options;
};

void print(const ExportCommand& command,
           const experiments::ExportSummary& summary) {
  std::cout << command.onnx << ": input " << summary.input << ", output "
            << summary.outputs << ", " << summary.parameters
            << " weights and biases";
  if (summary.networks > 1) {
    std::cout << ", network " << command.options.network << " of "
              << summary.networks;
  }
  std::cout << "\n";
  std::cerr << "input: " << summary.input_note
            << "\noutput: " << summary.output_note << "\n";
}

void export_model(const ExportCommand& command, const CommonOptions& common) {
  const experiments::ExportSummary summary =
      experiments::export_onnx(command.model, command.onnx, command.options);
  if (!common.json) {
    print(command, summary);
    return;
  }
  const nlohmann::ordered_json document = {
      {"file", command.onnx},
      {"input", summary.input},
      {"outputs", summary.outputs},
      {"parameters", summary.parameters},
      {"network", command.options.network},
      {"networks", summary.networks},
      {"input_note", summary.input_note},
      {"output_note", summary.output_note}};
  std::cout << document.dump(2) << "\n";
}

}  // namespace

void add_export(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<ExportCommand>();
  CLI::App* command = add_command(
      root, invocation,
      {"export", "Write a model's network as a file other programs run",
       "radir export houses-run --onnx houses.onnx"},
      [options](const CommonOptions& common) {
        export_model(*options, common);
      });
  command->add_option("model", options->model, "A run's folder or a model file")
      ->type_name("RUN|MODEL")
      ->required();
  command->add_option("--onnx", options->onnx, "The ONNX file to write")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--weights", options->options.weights,
                   "Weights that stand for their distribution: mean (the "
                   "default) or mode")
      ->transform(CLI::CheckedTransformer(std::map<std::string, PointWeight>{
                                              {"mean", PointWeight::Mean},
                                              {"mode", PointWeight::Mode}})
                      .description(""))
      ->type_name("KIND");
  command
      ->add_option("--network", options->options.network,
                   "Which network of a model that has several, from 1")
      ->type_name("K")
      ->capture_default_str();
}

}  // namespace radir::cli
