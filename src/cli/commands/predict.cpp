#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/unseen_levels.h"
#include "radir/core/error.h"
#include "radir/data/csv_writer.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/io/target_runs.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/target_models.h"

namespace radir::cli {
namespace {

using workflows::PredictTableResult;
using workflows::TableModel;
using workflows::TablePrediction;
using workflows::TargetModel;
using Json = nlohmann::ordered_json;

struct PredictOptions {
  std::string model;
  std::vector<std::string> tables;
  std::optional<bool> header;
  std::string out;
  bool force = false;
  workflows::TablePredictionOptions prediction;
};

/// "q05", "q2.5"
std::string quantile_name(double probability) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%g", probability < 0.1 ? "q0" : "q",
                100 * probability);
  return text;
}

/// Names of the columns of one model, each behind `before`.
std::vector<std::string> column_names(const std::string& before,
                                      const TableModel& model,
                                      const std::vector<double>& quantiles) {
  std::vector<std::string> names;
  if (model.encoder.is_classification()) {
    names.push_back("class");
    for (const std::string& name : model.classes()) {
      names.push_back("p(" + name + ")");
    }
    names.insert(names.end(), {"entropy", "mutual_information"});
  } else {
    names = {"mean", "sd", "epistemic_sd", "aleatoric_sd"};
    for (double probability : quantiles) {
      names.push_back(quantile_name(probability));
    }
  }
  for (std::string& name : names) {
    if (!before.empty()) name = data::spreadsheet_text(before + name);
  }
  return names;
}

/// The id of the rows; all targets of a run have the same.
const std::string& id_of(const std::vector<TargetModel>& models) {
  return models.front().model.encoder.id();
}

/// Of all models, those of several targets behind the name of the target.
std::vector<std::string> column_names(const std::vector<TargetModel>& models,
                                      const std::vector<double>& quantiles) {
  std::vector<std::string> names = {"row"};
  const std::string& id = id_of(models);
  if (!id.empty()) names.push_back(data::spreadsheet_text(id));
  for (const auto& [target, model] : models) {
    const std::string before = target.empty() ? "" : target + "_";
    for (const std::string& name : column_names(before, model, quantiles)) {
      // Of one model, a quantile may be asked for twice.
      RADIR_CHECK(before.empty() || std::find(names.begin(), names.end(),
                                              name) == names.end(),
                  ArgumentError, "two columns of the predictions would be ",
                  "called \"", name, "\"; predict with the folder of one ",
                  "target at a time");
      names.push_back(name);
    }
  }
  return names;
}

void write_prediction(data::CsvWriter& csv, const TablePrediction& p,
                      std::size_t i) {
  if (!p.label.empty()) {
    csv.cell(data::spreadsheet_text(p.label[i]));
    for (const auto& of_class : p.probabilities) csv.cell(of_class[i]);
    csv.cell(p.entropy[i]).cell(p.mutual_information[i]);
  } else {
    csv.cell(p.mean[i]).cell(p.sd[i]);
    csv.cell(p.epistemic_sd[i]).cell(p.aleatoric_sd[i]);
    for (const auto& quantile : p.quantiles) csv.cell(quantile[i]);
  }
}

/// Rows without a prediction get a line of empty cells: NaN is one.
void write_rows(data::CsvWriter& csv, std::int64_t first_row, bool has_id,
                const std::vector<TablePrediction>& all) {
  const TablePrediction& first = all.front();
  for (std::int64_t row = 0; row < first.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    csv.cell(first_row + row + 1);
    if (has_id) {
      csv.cell(first.ids.empty() ? "" : data::spreadsheet_text(first.ids[i]));
    }
    for (const TablePrediction& p : all) write_prediction(csv, p, i);
    csv.end_row();
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  }
  return text;
}

/// The files that are read, as check_not_input() takes them.
std::vector<std::string> inputs_of(const PredictOptions& options) {
  std::vector<std::string> inputs = options.tables;
  inputs.push_back(options.model);
  for (const io::TargetRun& run : io::target_runs(options.model)) {
    inputs.push_back(run.path);
  }
  return inputs;
}

void check(const PredictOptions& options, const CommonOptions& common) {
  for (double probability : options.prediction.quantiles) {
    RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                "--quantiles must be above 0 and below 1, but got ",
                probability);
  }
  RADIR_CHECK(
      !common.json || !options.out.empty(), ArgumentError,
      "--json needs --out: standard output is used for the JSON document");
  check_not_input("--out", options.out, inputs_of(options));
  check_overwrite("--out", options.out, options.force);
}

/// What stood out in the rows.
void say_rows(const std::vector<TargetModel>& models,
              const std::vector<PredictTableResult>& results) {
  std::set<std::string> said;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string& target = models[i].target;
    const workflows::RowList& overflowed = results[i].overflowed;
    if (overflowed.count > 0) {
      std::cerr << "radir: " << (target.empty() ? "" : target + ": ")
                << overflowed.count << " of " << results[i].rows
                << " rows have no prediction (" << overflowed.names()
                << "): values there are too large\n";
    }
    say_unseen(results[i].unseen, said);
  }
}

Json rows_json(const PredictTableResult& result) {
  return {{"rows_without_prediction", result.overflowed.count},
          {"unseen_levels", unseen_json(result.unseen)}};
}

Json document_of(const std::string& file,
                 const std::vector<TargetModel>& models,
                 const std::vector<PredictTableResult>& results) {
  Json document = {{"file", file}, {"rows", results.front().rows}};
  if (models.front().target.empty()) {
    document.update(rows_json(results.front()));
    return document;
  }
  Json targets = Json::object();
  for (std::size_t i = 0; i < models.size(); ++i) {
    targets[models[i].target] = rows_json(results[i]);
  }
  document["targets"] = std::move(targets);
  return document;
}

void predict(PredictOptions options, const CommonOptions& common) {
  if (options.out == "-" || options.out == "/dev/stdout") options.out.clear();
  check(options, common);
  CommandThreads pool(common);
  options.prediction.seed = common.seed;
  const auto models = workflows::load_target_models(options.model);
  const auto names = column_names(models, options.prediction.quantiles);
  std::optional<files::AtomicFile> file;
  if (!options.out.empty()) file.emplace(options.out);
  data::CsvWriter csv([&](std::string_view text) {
    if (file) {
      file->write(text);
    } else {
      std::cout << text;
    }
  });
  for (const std::string& name : names) csv.cell(name);
  csv.end_row();
  data::TableSource source(options.tables);
  source.header = options.header;
  const bool has_id = !id_of(models).empty();
  const auto results = workflows::predict_table(
      workflows::models_of(models), source, options.prediction,
      [&](std::int64_t first_row, const std::vector<TablePrediction>& all) {
        write_rows(csv, first_row, has_id, all);
      },
      &pool);
  csv.flush();
  if (file) file->commit();
  if (!results.front().unused_columns.empty()) {
    say("ignored columns that the model does not use: " +
        joined(results.front().unused_columns));
  }
  say_rows(models, results);
  if (common.json) {
    std::cout << document_of(options.out, models, results).dump(2) << "\n";
  }
}

}  // namespace

void add_predict(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<PredictOptions>();
  CLI::App* command = add_command(
      root, invocation,
      {"predict",
       "Predict the rows of a table: mean, error bars and quantiles, as CSV",
       "radir predict houses-run new.csv --out predictions.csv"},
      [options](const CommonOptions& common) { predict(*options, common); });
  command->add_option("model", options->model, "Run folder or model file")
      ->type_name("RUN|MODEL")
      ->required();
  command
      ->add_option("table", options->tables,
                   "Tables with the input columns of the model; - for standard "
                   "input")
      ->type_name("TABLE")
      ->required();
  add_header_option(*command, options->header);
  command
      ->add_option("--out", options->out,
                   "CSV file to write (default, and -: standard output)")
      ->type_name("FILE");
  add_force_option(*command, options->force);
  command
      ->add_option("--quantiles", options->prediction.quantiles,
                   "Quantiles to print, above 0 and below 1")
      ->delimiter(',')
      ->type_name("P")
      ->capture_default_str();
  command
      ->add_option("--samples", options->prediction.samples,
                   "Number of weight samples per network")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace radir::cli
