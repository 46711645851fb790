#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "radir/core/error.h"
#include "radir/data/csv_writer.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_predictor.h"

namespace radir::cli {
namespace {

using data::EncodedRows;
using likelihood::ClassPrediction;
using likelihood::PredictiveMixture;
using workflows::TabularPredictor;

struct PredictOptions {
  std::string model;
  std::string table;
  std::string out;
  std::vector<double> quantiles = {0.05, 0.5, 0.95};
  std::int64_t samples = 200;
};

/// An empty cell in the CSV file.
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// "q05", "q2.5"
std::string quantile_name(double probability) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%g", probability < 0.1 ? "q0" : "q",
                100 * probability);
  return text;
}

void write_header(data::CsvWriter& csv, const data::TableEncoder& encoder,
                  const PredictOptions& options) {
  csv.cell("row");
  if (encoder.is_classification()) {
    csv.cell("class");
    for (const std::string& name : encoder.target().categories) {
      csv.cell("p(" + name + ")");
    }
    csv.cell("entropy").cell("mutual_information");
  } else {
    csv.cell("mean").cell("sd").cell("epistemic_sd").cell("aleatoric_sd");
    for (double probability : options.quantiles) {
      csv.cell(quantile_name(probability));
    }
  }
  csv.end_row();
}

/// The numbers of one output row, in the order of the header.
std::vector<double> summary(const PredictiveMixture& p,
                            const std::vector<double>& quantiles) {
  std::vector<double> values = {p.mean(), p.standard_deviation(),
                                p.epistemic_deviation(),
                                p.aleatoric_deviation()};
  for (double probability : quantiles)
    values.push_back(p.quantile(probability));
  return values;
}

std::vector<double> summary(const ClassPrediction& p) {
  std::vector<double> values = p.probabilities;
  values.push_back(p.entropy);
  values.push_back(p.mutual_information);
  return values;
}

/// Rows dropped for a missing value get a line of empty cells.
class ChunkWriter {
 public:
  ChunkWriter(data::CsvWriter& csv, TabularPredictor& predictor,
              const std::vector<double>& quantiles)
      : csv_(csv), predictor_(predictor), quantiles_(quantiles) {}

  void write(const data::Table& chunk, std::int64_t first_row) {
    const auto& encoder = predictor_.encoder();
    const EncodedRows rows = encoder.encode(chunk, false, first_row);
    std::vector<std::vector<double>> values(
        static_cast<std::size_t>(chunk.rows()));
    std::vector<std::string> classes(values.size());
    const auto at = [&](std::int64_t i) {
      return static_cast<std::size_t>(
          rows.table_rows[static_cast<std::size_t>(i)]);
    };
    if (encoder.is_classification()) {
      predictor_.classification(
          rows, [&](std::int64_t i, const ClassPrediction& p) {
            values[at(i)] = summary(p);
            classes[at(i)] =
                encoder.target()
                    .categories[static_cast<std::size_t>(p.most_likely())];
          });
    } else {
      predictor_.regression(rows,
                            [&](std::int64_t i, const PredictiveMixture& p) {
                              values[at(i)] = summary(p, quantiles_);
                            });
    }
    const std::size_t width = encoder.is_classification()
                                  ? encoder.target().categories.size() + 2
                                  : 4 + quantiles_.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      csv_.cell(first_row + static_cast<std::int64_t>(i) + 1);
      if (encoder.is_classification()) csv_.cell(classes[i]);
      if (values[i].empty()) values[i].assign(width, kMissing);
      for (double value : values[i]) csv_.cell(value);
      csv_.end_row();
    }
  }

 private:
  data::CsvWriter& csv_;
  TabularPredictor& predictor_;
  const std::vector<double>& quantiles_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  }
  return text;
}

void predict(const PredictOptions& options, const CommonOptions& common) {
  for (double probability : options.quantiles) {
    RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                "--quantiles must be above 0 and below 1, but got ",
                probability);
  }
  RADIR_CHECK(
      !common.json || !options.out.empty(), ArgumentError,
      "--json needs --out: standard output is used for the JSON document");
  ThreadPool pool(common.threads);
  TabularPredictor predictor(workflows::read_tabular_model(options.model),
                             options.samples, common.seed, &pool);
  std::optional<files::AtomicFile> file;
  if (!options.out.empty()) file.emplace(options.out);
  data::CsvWriter csv([&](std::string_view text) {
    if (file) {
      file->write(text);
    } else {
      std::cout << text;
    }
  });
  write_header(csv, predictor.encoder(), options);
  ChunkWriter writer(csv, predictor, options.quantiles);
  std::int64_t rows = 0;
  const auto extra = data::for_each_chunk(
      options.table, common.seed, predictor.encoder(), false,
      [&](const data::Table& chunk, std::int64_t first_row) {
        writer.write(chunk, first_row);
        rows = first_row + chunk.rows();
      });
  csv.flush();
  if (file) file->commit();
  if (!extra.empty()) {
    std::cerr << "radir: ignored columns that the model does not use: "
              << joined(extra) << "\n";
  }
  if (common.json) {
    const nlohmann::ordered_json document = {{"file", options.out},
                                             {"rows", rows}};
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
      ->add_option("table", options->table,
                   "Table with the input columns of the model")
      ->type_name("TABLE")
      ->required();
  command
      ->add_option("--out", options->out,
                   "CSV file to write (default: standard output)")
      ->type_name("FILE");
  command
      ->add_option("--quantiles", options->quantiles,
                   "Quantiles to print, above 0 and below 1")
      ->type_name("P")
      ->capture_default_str();
  command
      ->add_option("--samples", options->samples,
                   "Number of weight samples per network")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace radir::cli
