#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "radir/experiments/tabular_predictor.h"
#include "radir/experiments/tabular_source.h"
#include "radir/report/table.h"

namespace radir::cli {
namespace {

using experiments::TabularModel;
using experiments::TabularPredictor;
using experiments::TabularScores;
using Metrics = std::vector<std::pair<std::string, double>>;
using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  std::string model;
  std::string table;
  std::int64_t samples = 200;
};

Metrics scores(const TabularModel& model, const EvaluateOptions& options,
               const CommonOptions& common, ThreadPool& pool) {
  TabularPredictor predictor(model, options.samples, common.seed, &pool);
  TabularScores result(model.encoder);
  experiments::for_each_piece(
      options.table, common.seed, model.encoder, true,
      [&](const io::Table& piece, std::int64_t first_row) {
        result.add(predictor, model.encoder.encode(piece, true, first_row));
      });
  return result.metrics();
}

Json to_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = value;
  return json;
}

void print(const Metrics& all, const Metrics& first, bool mixture) {
  report::Table table;
  table.columns = {{"metric", "metric"}, {"value", "value"}};
  if (mixture) {
    table.columns[1].title = "mixture";
    table.columns.push_back({"first", "first network"});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<report::Cell> row = {all[i].first, all[i].second};
    if (mixture) row.emplace_back(first[i].second);
    table.rows.push_back(std::move(row));
  }
  std::cout << to_text(table);
}

void evaluate(const EvaluateOptions& options, const CommonOptions& common) {
  ThreadPool pool(common.threads);
  TabularModel model = experiments::read_tabular_model(options.model);
  const bool mixture = model.networks.size() > 1;
  const Metrics all = scores(model, options, common, pool);
  Metrics first;
  if (mixture) {
    model.networks.resize(1);
    first = scores(model, options, common, pool);
  }
  if (!common.json) {
    print(all, first, mixture);
    return;
  }
  Json document = {{"metrics", to_json(all)}};
  if (mixture) document["first_network"] = to_json(first);
  std::cout << document.dump(2) << "\n";
}

}  // namespace

void add_evaluate(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = add_command(
      root, invocation,
      {"evaluate", "How good a model's predictions of a table are",
       "radir evaluate houses-run test.csv --json"},
      [options](const CommonOptions& common) { evaluate(*options, common); });
  command->add_option("model", options->model, "A run's folder or a model file")
      ->type_name("RUN|MODEL")
      ->required();
  command
      ->add_option("table", options->table,
                   "A table with the model's columns, the target too")
      ->type_name("TABLE")
      ->required();
  command
      ->add_option("--samples", options->samples,
                   "Draws of the weights per network")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace radir::cli
