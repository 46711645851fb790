// Writes models of tables as ONNX files of predictions, each with raw rows and
// what radir predicts for them, for compare_tables.js.
//
// Usage: write_table_cases FOLDER

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/export.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_model.h"

namespace radir {
namespace {

using Json = nlohmann::ordered_json;

/// A row as people write it and as the file of predictions takes it.
struct Row {
  double area = 0;  // NaN: missing
  double floors = 0;
  std::string colour;
  std::string town;  // of many
  double day = 0;    // since 1970
  double price = 0;
  std::string quality;
};

std::string date_text(double day) {
  const auto seconds = static_cast<std::time_t>(std::lround(day * 86400));
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// Rows with values missing here and there; with `others`, levels that the
/// training does not have too.
std::vector<Row> made_up_rows(int count, unsigned seed, bool others) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    Row row;
    row.area = 1e6 + 40 * uniform(random);  // far from 0
    row.floors = std::floor(5 * uniform(random));
    row.colour = uniform(random) < 0.5 ? "red" : "blau/grün";
    const int town = static_cast<int>(40 * uniform(random));
    row.town = "town " + std::to_string(town);
    // Over a leap year and into others, at hours of the day.
    row.day = 18200 + std::floor(1200 * uniform(random)) +
              std::floor(24 * uniform(random)) / 24;
    const double size = (row.area - 1e6) / 10 + row.floors;
    row.price = 100 * size + (row.colour == "red" ? 50 : 0) + 3 * town +
                20 * normal(random) * (1 + row.floors);
    row.quality = size > 5 ? "good" : size > 3 ? "fair" : "bad";
    if (uniform(random) < 0.1) row.area = std::nan("");
    if (uniform(random) < 0.1) row.colour = "";
    if (others && uniform(random) < 0.2) row.town = "elsewhere";
    if (others && uniform(random) < 0.2) row.colour = "green";
    rows.push_back(row);
  }
  return rows;
}

std::string target_text(const Row& row, const std::string& target) {
  if (target == "price") return number_text(row.price);
  if (target == "value") return number_text(std::exp(row.price / 200));
  return row.quality;
}

data::Table table_of(const std::vector<Row>& rows, const char* target) {
  std::string text =
      std::string("area,floors,colour,town,day,") + target + "\n";
  for (const Row& row : rows) {
    text += number_text(row.area) + "," + number_text(row.floors) + "," +
            row.colour + "," + row.town + "," + date_text(row.day) + "," +
            target_text(row, target) + "\n";
  }
  return data::read_table(files::memory_byte_source("rows", text));
}

Json number_json(double value) {
  return std::isnan(value) ? Json(nullptr) : Json(value);
}

Json raw_inputs(const std::vector<Row>& rows) {
  Json inputs = {{"area", Json::array()},
                 {"floors", Json::array()},
                 {"colour", Json::array()},
                 {"town", Json::array()},
                 {"day", Json::array()}};
  for (const Row& row : rows) {
    inputs["area"].push_back(number_json(row.area));
    inputs["floors"].push_back(row.floors);
    inputs["colour"].push_back(row.colour);
    inputs["town"].push_back(row.town);
    inputs["day"].push_back(row.day);
  }
  return inputs;
}

/// [row][column] of lists of columns.
Json transposed(const std::vector<std::vector<double>>& columns) {
  Json list = Json::array();
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    for (const auto& column : columns) list.push_back(number_json(column[row]));
  }
  return list;
}

void write_case(const std::string& folder, const std::string& name,
                const workflows::TableModel& model,
                const std::vector<Row>& rows, const char* target) {
  workflows::TablePredictionOptions options;
  options.quantiles = {0.01, 0.05, 0.5, 0.9, 0.999};
  options.samples = 50;
  const std::string path = folder + "/" + name;
  workflows::export_predictions(model, path + ".onnx", options);
  const auto expected = model.predict(table_of(rows, target), options);
  Json outputs = Json::object();
  if (model.encoder.is_classification()) {
    outputs = {
        {"class", expected.label},
        {"probabilities", transposed(expected.probabilities)},
        {"entropy", transposed({expected.entropy})},
        {"mutual_information", transposed({expected.mutual_information})}};
  } else {
    outputs = {{"mean", transposed({expected.mean})},
               {"sd", transposed({expected.sd})},
               {"epistemic_sd", transposed({expected.epistemic_sd})},
               {"aleatoric_sd", transposed({expected.aleatoric_sd})},
               {"quantiles", transposed(expected.quantiles)}};
  }
  const Json document = {{"rows", rows.size()},
                         {"inputs", raw_inputs(rows)},
                         {"outputs", outputs}};
  files::write_file(path + ".json", document.dump());
}

void write_cases(const std::string& folder) {
  const std::vector<Row> train = made_up_rows(600, 1, false);
  const std::vector<Row> test = made_up_rows(70, 2, true);
  workflows::TableSettings settings;
  settings.hidden = {12, 8};
  settings.steps = 1500;
  const auto fit = [&](const char* target, data::MissingValues missing) {
    const data::Table table = table_of(train, target);
    auto encoder = data::TableEncoder::fit(table, target, missing);
    data::EncodedRows rows = encoder.encode(table, true);
    workflows::encode_for(settings, table, encoder, rows);
    return workflows::fit_networks(
        encoder, rows, workflows::resolved(settings, encoder, table.rows()));
  };
  using data::MissingValues;
  settings.method = "rdp";
  settings.restarts = 2;
  write_case(folder, "gaussian", fit("price", MissingValues::Indicator), test,
             "price");
  write_case(folder, "dropped_rows", fit("price", MissingValues::Drop), test,
             "price");
  settings.target_scale = workflows::TargetScale::Logarithm;
  settings.mixture_weights = workflows::MixtureWeights::Stacked;
  write_case(folder, "logarithm", fit("value", MissingValues::Indicator), test,
             "value");
  settings.mixture_weights = workflows::MixtureWeights::Equal;
  settings.noise = likelihood::Kind::PredictedNoise;
  write_case(folder, "logarithm_predicted_noise",
             fit("value", MissingValues::Mean), test, "value");
  settings.target_scale = workflows::TargetScale::Own;
  write_case(folder, "predicted_noise", fit("price", MissingValues::Mean), test,
             "price");
  settings.noise = likelihood::Kind::Mixture;
  write_case(folder, "noise_parts", fit("price", MissingValues::Indicator),
             test, "price");
  settings.mixture_weights = workflows::MixtureWeights::Stacked;
  write_case(folder, "stacked_parts", fit("price", MissingValues::Indicator),
             test, "price");
  settings.mixture_weights = workflows::MixtureWeights::Equal;
  settings.pieces = 6;
  write_case(folder, "pieces", fit("price", MissingValues::Indicator), test,
             "price");
  settings.pieces = 0;
  settings.noise = likelihood::Kind::Gaussian;
  write_case(folder, "classes", fit("quality", MissingValues::Indicator), test,
             "quality");
  settings.mixture_weights = workflows::MixtureWeights::Stacked;
  write_case(folder, "stacked_classes",
             fit("quality", MissingValues::Indicator), test, "quality");
  write_case(folder, "stacked", fit("price", MissingValues::Indicator), test,
             "price");
  settings.mixture_weights = workflows::MixtureWeights::Equal;
  settings.method = "hmc";
  settings.chains = 2;
  settings.hmc.warmup = 20;
  settings.hmc.draws = 60;
  write_case(folder, "sampled", fit("price", MissingValues::Indicator), test,
             "price");
  settings.noise = likelihood::Kind::TwoNormals;
  settings.mixture_weights = workflows::MixtureWeights::Stacked;
  write_case(folder, "two_normals", fit("price", MissingValues::Indicator),
             test, "price");
  settings.target_scale = workflows::TargetScale::Logarithm;
  settings.mixture_weights = workflows::MixtureWeights::Equal;
  write_case(folder, "logarithm_two_normals",
             fit("value", MissingValues::Indicator), test, "value");
  settings.target_scale = workflows::TargetScale::Own;
  settings.noise = likelihood::Kind::Gaussian;

  settings.method = "dropout";
  const data::Table table = table_of(train, "price");
  workflows::ConformalRows rows =
      workflows::set_aside(table, "price", MissingValues::Indicator, 0);
  workflows::TableModel model = workflows::fit_networks(
      rows.encoder, rows.fitted,
      workflows::resolved(settings, rows.encoder, rows.fitted.count));
  model.correction = workflows::conformal_correction(model, rows.aside);
  write_case(folder, "conformal_dropout", model, test, "price");
}

}  // namespace
}  // namespace radir

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("Usage: write_table_cases FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::remove_all(argv[1]);
  std::filesystem::create_directories(argv[1]);
  radir::write_cases(argv[1]);
}
