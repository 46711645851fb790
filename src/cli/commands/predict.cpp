#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/unseen_levels.h"
#include "radir/core/error.h"
#include "radir/data/csv_writer.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/table_model.h"

namespace radir::cli {
namespace {

using workflows::TableModel;
using workflows::TablePrediction;

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

void write_header(data::CsvWriter& csv, const TableModel& model,
                  const std::vector<double>& quantiles) {
  csv.cell("row");
  if (!model.encoder.id().empty()) {
    csv.cell(data::spreadsheet_text(model.encoder.id()));
  }
  if (model.encoder.is_classification()) {
    csv.cell("class");
    for (const std::string& name : model.classes()) {
      csv.cell("p(" + name + ")");
    }
    csv.cell("entropy").cell("mutual_information");
  } else {
    csv.cell("mean").cell("sd").cell("epistemic_sd").cell("aleatoric_sd");
    for (double probability : quantiles) csv.cell(quantile_name(probability));
  }
  csv.end_row();
}

/// Rows without a prediction get a line of empty cells: NaN is one.
void write_rows(data::CsvWriter& csv, std::int64_t first_row, bool has_id,
                const TablePrediction& p) {
  const bool classes = !p.label.empty();
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    csv.cell(first_row + row + 1);
    if (has_id) {
      csv.cell(p.ids.empty() ? "" : data::spreadsheet_text(p.ids[i]));
    }
    if (classes) {
      csv.cell(data::spreadsheet_text(p.label[i]));
      for (const auto& of_class : p.probabilities) csv.cell(of_class[i]);
      csv.cell(p.entropy[i]).cell(p.mutual_information[i]);
    } else {
      csv.cell(p.mean[i]).cell(p.sd[i]);
      csv.cell(p.epistemic_sd[i]).cell(p.aleatoric_sd[i]);
      for (const auto& quantile : p.quantiles) csv.cell(quantile[i]);
    }
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

void predict(PredictOptions options, const CommonOptions& common) {
  for (double probability : options.prediction.quantiles) {
    RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                "--quantiles must be above 0 and below 1, but got ",
                probability);
  }
  if (options.out == "-" || options.out == "/dev/stdout") options.out.clear();
  RADIR_CHECK(
      !common.json || !options.out.empty(), ArgumentError,
      "--json needs --out: standard output is used for the JSON document");
  std::vector<std::string> inputs = options.tables;
  inputs.push_back(options.model);
  check_not_input("--out", options.out, inputs);
  check_overwrite("--out", options.out, options.force);
  CommandThreads pool(common);
  options.prediction.seed = common.seed;
  const TableModel model = workflows::load_table_model(options.model);
  std::optional<files::AtomicFile> file;
  if (!options.out.empty()) file.emplace(options.out);
  data::CsvWriter csv([&](std::string_view text) {
    if (file) {
      file->write(text);
    } else {
      std::cout << text;
    }
  });
  write_header(csv, model, options.prediction.quantiles);
  data::TableSource source(options.tables);
  source.header = options.header;
  const bool has_id = !model.encoder.id().empty();
  const auto result = workflows::predict_table(
      model, source, options.prediction,
      [&](std::int64_t first_row, const TablePrediction& predictions) {
        write_rows(csv, first_row, has_id, predictions);
      },
      &pool);
  csv.flush();
  if (file) file->commit();
  if (!result.unused_columns.empty()) {
    say("ignored columns that the model does not use: " +
        joined(result.unused_columns));
  }
  const workflows::RowList& overflowed = result.overflowed;
  if (overflowed.count > 0) {
    std::cerr << "radir: " << overflowed.count << " of " << result.rows
              << " rows have no prediction (" << overflowed.names()
              << "): values there are too large\n";
  }
  say_unseen(result.unseen);
  if (common.json) {
    const nlohmann::ordered_json document = {
        {"file", options.out},
        {"rows", result.rows},
        {"rows_without_prediction", overflowed.count},
        {"unseen_levels", unseen_json(result.unseen)}};
    std::cout << document.dump(2) << "\n";
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
