#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/io/model_file.h"
#include "radir/io/target_runs.h"
#include "radir/report/table.h"
#include "radir/workflows/image_evaluation.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/inspect.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/target_models.h"

namespace radir::cli {
namespace {

using workflows::ColumnStrength;
using workflows::LayerInspection;
using workflows::ModelInspection;
using Json = nlohmann::ordered_json;

/// How strongly the columns of a table enter its network; empty for images.
std::vector<ColumnStrength> strengths_of(const std::string& file,
                                         const io::SavedModel& model) {
  if (workflows::is_image_model(model)) return {};
  return workflows::column_strengths(workflows::table_model(file, model));
}

Json to_json(const io::SavedModel& model, const ModelInspection& inspection,
             const std::vector<ColumnStrength>& strengths) {
  Json layers = Json::array();
  for (const LayerInspection& layer : inspection.layers) {
    layers.push_back(workflows::to_json(layer));
  }
  Json columns = Json::array();
  for (const ColumnStrength& strength : strengths) {
    columns.push_back(workflows::to_json(strength));
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
          {"columns", std::move(columns)},
          {"training", Json::parse(model.training)},
          {"metrics", Json::parse(model.metrics)},
          {"data", Json::parse(model.data)}};
}

/// What held-out rows showed, where the model says so.
std::string headline_of(const io::SavedModel& model) {
  const Json metrics = Json::parse(model.metrics);
  const Json held_out = metrics.value("held_out", Json());
  if (!held_out.is_object()) return "";
  const Json text = held_out.value("headline", Json());
  return text.is_string() ? text.get<std::string>() : "";
}

void print(const std::string& file, const io::SavedModel& model,
           const ModelInspection& inspection,
           const std::vector<ColumnStrength>& strengths) {
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
  if (!strengths.empty()) {
    std::cout << "\n" << report::to_text(workflows::strength_table(strengths));
  }
  const std::string headline = headline_of(model);
  if (!headline.empty()) std::cout << "\n" << headline << "\n";
}

/// The document of one model, or nothing after printing it.
Json inspect(const std::string& path, bool as_json) {
  const std::string file = io::model_path(path);
  const io::SavedModel model = io::read_model(file);
  const ModelInspection inspection = workflows::inspect(model);
  const auto strengths = strengths_of(file, model);
  if (as_json) return to_json(model, inspection, strengths);
  print(file, model, inspection, strengths);
  return {};
}

/// The models of several targets, one after another.
Json inspect(const std::vector<io::TargetRun>& runs, bool as_json) {
  Json targets = Json::object();
  for (const io::TargetRun& run : runs) {
    if (!as_json) {
      std::cout << (&run == &runs.front() ? "" : "\n") << "target        "
                << run.target << "\n";
    }
    targets[run.target] = inspect(run.path, as_json);
  }
  return {{"targets", std::move(targets)}};
}

}  // namespace

void add_inspect(CLI::App& root, Invocation& invocation) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = add_command(
      root, invocation,
      {"inspect", "Show the layers, columns, cost and uncertainty of a model",
       "radir inspect houses-run"},
      [path](const CommonOptions& common) {
        const auto runs = workflows::finished_target_runs(*path);
        const Json document = runs.empty() ? inspect(*path, common.json)
                                           : inspect(runs, common.json);
        if (common.json) std::cout << document.dump(2) << "\n";
      });
  add_model_argument(*command, *path);
}

}  // namespace radir::cli
