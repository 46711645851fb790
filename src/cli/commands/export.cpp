#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/settings_options.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/io/target_runs.h"
#include "radir/kernels/rdp.h"
#include "radir/workflows/export.h"
#include "radir/workflows/table_model.h"

namespace radir::cli {
namespace {

using kernels::PointWeight;

const Choices<PointWeight>& weight_choices() {
  static const Choices<PointWeight> choices = {{PointWeight::Mean, "mean"},
                                               {PointWeight::Mode, "mode"}};
  return choices;
}

struct ExportCommand {
  std::string model;
  std::string onnx;
  std::string torchscript;
  bool force = false;
  workflows::ExportOptions options;
  bool everything = false;
  workflows::TablePredictionOptions prediction;
};

void print(const ExportCommand& command, const std::string& file,
           const workflows::ExportSummary& summary) {
  std::cout << file << ": input " << summary.input << ", output "
            << summary.outputs << ", " << summary.parameters
            << " weights and biases";
  if (command.everything) {
    std::cout << " of all draws";
  } else if (summary.networks > 1) {
    std::cout << ", network " << command.options.network << " of "
              << summary.networks;
  }
  std::cout << "\n";
  std::cerr << "input: " << summary.input_note
            << "\noutput: " << summary.output_note << "\n";
}

/// One file of raw columns and predictions.
workflows::ExportSummary export_everything(const ExportCommand& command,
                                           const CommonOptions& common) {
  RADIR_CHECK(!command.onnx.empty(), ArgumentError,
              "--everything writes an ONNX file; name it with --onnx FILE");
  workflows::TablePredictionOptions prediction = command.prediction;
  prediction.seed = common.seed;
  return workflows::export_predictions(
      workflows::load_table_model(command.model), command.onnx, prediction);
}

workflows::ExportSummary export_network(const ExportCommand& command) {
  return command.onnx.empty()
             ? workflows::export_torchscript(command.model, command.torchscript,
                                             command.options)
             : workflows::export_onnx(command.model, command.onnx,
                                      command.options);
}

void export_model(const ExportCommand& command, const CommonOptions& common) {
  const bool onnx = !command.onnx.empty();
  const std::string& file = onnx ? command.onnx : command.torchscript;
  RADIR_CHECK(!file.empty(), ArgumentError,
              "export: no file to write; add --onnx FILE or ",
              "--torchscript FILE");
  const std::string option = onnx ? "--onnx" : "--torchscript";
  io::check_one_target(command.model,
                       {"radir export", option + " " + shell_word(file)});
  check_not_input(option, file, {command.model});
  check_overwrite(option, file, command.force);
  const workflows::ExportSummary summary =
      command.everything ? export_everything(command, common)
                         : export_network(command);
  if (!common.json) {
    print(command, file, summary);
    return;
  }
  const nlohmann::ordered_json document = {
      {"file", file},
      {"format", onnx ? "onnx" : "torchscript"},
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
      {"export", "Write the network of a model as a file for other programs",
       "radir export houses-run --onnx houses.onnx"},
      [options](const CommonOptions& common) {
        export_model(*options, common);
      });
  add_model_argument(*command, options->model);
  CLI::Option* onnx =
      command->add_option("--onnx", options->onnx, "ONNX file to write")
          ->type_name("FILE");
  command
      ->add_option("--torchscript", options->torchscript,
                   "TorchScript file to write (needs libtorch)")
      ->type_name("FILE")
      ->excludes(onnx);
  add_force_option(*command, options->force);
  add_choice_option(*command, "--weights", options->options.weights,
                    weight_choices(),
                    "Value to use for each weight: mean or mode");
  command
      ->add_option("--network", options->options.network,
                   "Network to export, counted from 1")
      ->type_name("K")
      ->capture_default_str();
  CLI::Option* everything = command->add_flag(
      "--everything", options->everything,
      "Predictions of a table with everything inside: raw columns in, mean, "
      "error bars and quantiles (or class probabilities) out");
  command
      ->add_option("--quantiles", options->prediction.quantiles,
                   "With --everything: quantiles, above 0 and below 1")
      ->delimiter(',')
      ->type_name("P")
      ->capture_default_str()
      ->needs(everything);
  command
      ->add_option("--samples", options->prediction.samples,
                   "With --everything: weight samples per network")
      ->type_name("N")
      ->capture_default_str()
      ->needs(everything);
}

}  // namespace radir::cli
