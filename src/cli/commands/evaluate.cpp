#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/unseen_levels.h"
#include "radir/core/error.h"
#include "radir/core/text_stream.h"
#include "radir/data/images.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/io/model_file.h"
#include "radir/io/target_runs.h"
#include "radir/likelihood/class_scores.h"
#include "radir/report/table.h"
#include "radir/train/model.h"
#include "radir/train/point_network.h"
#include "radir/workflows/assessment.h"
#include "radir/workflows/evaluate_table.h"
#include "radir/workflows/image_evaluation.h"
#include "radir/workflows/seen_rows.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/target_models.h"

namespace radir::cli {
namespace {

using Metrics = workflows::TableMetrics;
using Json = nlohmann::ordered_json;

struct EvaluateOptions {
  std::string model;
  std::vector<std::string> tables;
  std::optional<bool> header;
  std::string data_dir;
  std::int64_t samples = 200;
};

using workflows::metrics_json;

/// Some figures, and others to set beside them (none: empty).
struct Comparison {
  Metrics metrics;
  std::string title = "value";
  Metrics others;
  std::string others_title;
  std::string others_key;                     ///< in JSON
  std::optional<std::int64_t> rows_left_out;  ///< of a table
  std::int64_t rows_dropped = 0;
  std::vector<data::UnseenLevels> unseen;
  workflows::SeenCount seen;
  std::optional<workflows::ClassTables> classes;
};

/// How often classes were right that were predicted with some probability.
void print_calibration(const workflows::ClassTables& tables) {
  report::Table table;
  table.columns = {{"from", "probability from", 3},
                   {"to", "to", 3},
                   {"rows", "rows"},
                   {"mean", "mean", 4},
                   {"right", "share right", 4}};
  for (const likelihood::ConfidenceBin& bin : tables.calibration) {
    table.rows.push_back(
        {bin.lower, bin.upper, bin.count, bin.confidence, bin.accuracy});
  }
  std::cout << "\n" << to_text(table);
}

/// "inputs of 12 of 500 rows (2.4 %) were in the training rows"
void print(const workflows::SeenCount& count) {
  std::ostringstream text = text_stream();
  text << "\ninputs of " << count.seen << " of " << count.checked << " rows ("
       << std::setprecision(3) << 100 * count.share()
       << " %) were in the training rows\n";
  std::cout << text.str();
}

Json to_json(const Comparison& comparison) {
  const Metrics& others = comparison.others;
  Json document = {{"metrics", metrics_json(comparison.metrics)}};
  if (!others.empty()) document[comparison.others_key] = metrics_json(others);
  if (comparison.rows_left_out) {
    document["rows_left_out"] = *comparison.rows_left_out;
    document["rows_dropped"] = comparison.rows_dropped;
    document["unseen_levels"] = unseen_json(comparison.unseen);
    document["seen_in_training"] = {{"checked", comparison.seen.checked},
                                    {"seen", comparison.seen.seen}};
  }
  if (comparison.classes) {
    document.update(workflows::to_json(*comparison.classes));
  }
  return document;
}

void print(const Comparison& comparison) {
  const Metrics& others = comparison.others;
  report::Table table;
  table.columns = {{"metric", "metric"}, {"value", comparison.title}};
  if (!others.empty()) {
    table.columns.push_back({comparison.others_key, comparison.others_title});
  }
  // Elsewhere these lines would repeat those of the coverage; JSON has them.
  const bool by_resolution = workflows::resolution_matters(comparison.metrics);
  for (std::size_t i = 0; i < comparison.metrics.size(); ++i) {
    const auto& [name, value] = comparison.metrics[i];
    if (!by_resolution && name.rfind("interval_coverage_", 0) == 0) continue;
    std::vector<report::Cell> row = {name, value};
    // A score that is not defined for both is left out at the end.
    if (i < others.size()) row.emplace_back(others[i].second);
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  std::cout << to_text(table);
  if (comparison.seen.checked > 0) print(comparison.seen);
  if (comparison.classes) {
    if (const auto confusion = confusion_table(*comparison.classes)) {
      std::cout << "\n" << to_text(*confusion);
    }
    print_calibration(*comparison.classes);
  }
}

/// "target price", and a line under it.
void print_heading(const std::string& target) {
  const std::string heading = "target " + target;
  std::cout << heading << "\n" << std::string(heading.size(), '-') << "\n\n";
}

Comparison comparison_of(const workflows::EvaluateTableResult& scores) {
  Comparison result;
  result.rows_dropped = scores.dropped;
  result.unseen = scores.unseen;
  result.seen = scores.seen;
  result.metrics = scores.metrics;
  result.rows_left_out = scores.left_out.count;
  result.classes = scores.classes;
  if (!scores.first_network.empty()) {
    result.title = "mixture";
    result.others = scores.first_network;
    result.others_title = "first network";
    result.others_key = "first_network";
  }
  return result;
}

/// The rows of a table that do not count for a model.
void say_rows(const std::string& target,
              const workflows::EvaluateTableResult& scores) {
  const std::string before = target.empty() ? "" : target + ": ";
  if (scores.dropped > 0) {
    say(before + "dropped " + std::to_string(scores.dropped) +
        " rows with a missing target or another missing value");
  }
  if (scores.left_out.count > 0) {
    std::cerr << "radir: " << before << "left out " << scores.left_out.names()
              << ": values there are too large\n";
  }
}

void evaluate_tables(const EvaluateOptions& options,
                     const CommonOptions& common, ThreadPool& pool) {
  workflows::TablePredictionOptions prediction;
  prediction.samples = options.samples;
  prediction.seed = common.seed;
  data::TableSource source(options.tables);
  source.header = options.header;
  const auto models = workflows::load_target_models(options.model);
  const auto scores = workflows::evaluate_table(workflows::models_of(models),
                                                source, prediction, &pool);
  std::set<std::string> said;
  for (std::size_t i = 0; i < models.size(); ++i) {
    say_unseen(scores[i].unseen, said);
    say_rows(models[i].target, scores[i]);
  }
  const bool several = !models.front().target.empty();
  Json targets = Json::object();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Comparison comparison = comparison_of(scores[i]);
    if (common.json) {
      targets[models[i].target] = to_json(comparison);
      continue;
    }
    if (i > 0) std::cout << "\n";
    if (several) print_heading(models[i].target);
    print(comparison);
  }
  if (!common.json) return;
  const Json document =
      several ? Json{{"targets", std::move(targets)}} : targets.front();
  std::cout << document.dump(2) << "\n";
}

/// The mixture over draws of the weights, and the mean weights.
Comparison evaluate_images(const io::SavedModel& saved,
                           const EvaluateOptions& options,
                           const CommonOptions& common, ThreadPool& pool) {
  RADIR_CHECK(options.tables.size() == 1, ArgumentError,
              "a model of images is evaluated on one set of images");
  const auto images =
      data::read_images(options.tables.front(), options.data_dir, common.seed);
  data::check_fits(saved.spec.network, images);
  const train::Model model(saved.spec);
  const std::vector<float>& parameters = saved.networks.front();
  Comparison result;
  result.metrics = workflows::evaluate(model, parameters, images.test,
                                       options.samples, common.seed, &pool)
                       .metrics();
  result.title = "posterior";
  result.others = workflows::evaluate(train::point_network(model, parameters),
                                      images.test, &pool)
                      .metrics();
  result.others_title = "mean weights";
  result.others_key = "mean_weights";
  return result;
}

void evaluate(const EvaluateOptions& options, const CommonOptions& common) {
  CommandThreads pool(common);
  if (io::target_runs(options.model).empty()) {
    const io::SavedModel saved = io::read_model(io::model_path(options.model));
    if (workflows::is_image_model(saved)) {
      const Comparison images = evaluate_images(saved, options, common, pool);
      return common.json ? void(std::cout << to_json(images).dump(2) << "\n")
                         : print(images);
    }
  }
  evaluate_tables(options, common, pool);
}

}  // namespace

void add_evaluate(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = add_command(
      root, invocation,
      {"evaluate", "Measure the quality of a model's predictions",
       "radir evaluate houses-run test.csv --json"},
      [options](const CommonOptions& common) { evaluate(*options, common); });
  command->add_option("model", options->model, "Run folder or model file")
      ->type_name("RUN|MODEL")
      ->required();
  command
      ->add_option("table", options->tables,
                   "Tables with the input columns and the target (- for "
                   "standard input); for images: digits, mnist or a folder "
                   "(the test images are used)")
      ->type_name("TABLE|IMAGES")
      ->required();
  add_header_option(*command, options->header);
  command
      ->add_option("--data-dir", options->data_dir,
                   "Data folder (default: RADIR_DATA_DIR)")
      ->type_name("DIR");
  command
      ->add_option("--samples", options->samples,
                   "Number of weight samples per network")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace radir::cli
