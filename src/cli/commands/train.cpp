#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/training_run.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/files/json_object.h"
#include "radir/io/model_file.h"
#include "radir/io/run_folder.h"
#include "radir/likelihood/options.h"
#include "radir/posterior/grouping.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"
#include "radir/workflows/doctor.h"
#include "radir/workflows/metrics_lines.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_fit.h"

namespace radir::cli {
namespace {

using data::EncodedRows;
using data::MissingValues;
using data::TableEncoder;
using workflows::ResumableRun;
using workflows::TabularModel;
using workflows::TabularSettings;
using workflows::TabularTrial;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand = "train";

const std::pair<MissingValues, const char*> kMissing[] = {
    {MissingValues::Refuse, data::to_string(MissingValues::Refuse)},
    {MissingValues::Mean, data::to_string(MissingValues::Mean)},
    {MissingValues::Drop, data::to_string(MissingValues::Drop)}};

/// The options of the command, complete enough to resume a run anywhere.
struct TrainOptions {
  std::string table;
  std::string target;
  std::vector<std::string> categorical;
  MissingValues missing = MissingValues::Refuse;
  bool tune = false;
  TabularSettings settings;
};

Json to_json(const TrainOptions& options) {
  return {{"name", kCommand},
          {"table", absolute_path(options.table)},
          {"target", options.target},
          {"categorical", options.categorical},
          {"missing", data::to_string(options.missing)},
          {"tune", options.tune},
          {"settings", Json::parse(workflows::to_json(options.settings))}};
}

TrainOptions options_from_json(files::JsonObject json) {
  TrainOptions options;
  json.text("name");
  options.table = json.text("table");
  options.target = json.text("target");
  options.categorical = json.strings("categorical");
  options.missing = json.choice("missing", kMissing);
  options.tune = json.boolean("tune");
  try {
    options.settings = workflows::settings_from_json(json.section("settings"));
  } catch (const IoError& error) {
    detail::throw_error<IoError>(json.where(), ": ", error.what());
  }
  json.finish();
  return options;
}

/// About 200 lines per network, one per report.
class History {
 public:
  explicit History(std::int64_t epochs)
      : every_(std::max<std::int64_t>(1, epochs / 200)) {}

  void add(std::int64_t restart, const train::EpochReport& report) {
    last_[restart] = report;
    if (report.epoch % every_ != 0) return;
    lines_ += workflows::to_json({restart + 1, report}) + "\n";
  }

  const std::string& lines() const { return lines_; }

  /// NLL and KL at the end of each network's training.
  Json final_losses() const {
    Json networks = Json::array();
    for (const auto& [restart, report] : last_) {
      networks.push_back({{"nll", report.nll}, {"kl", report.kl}});
    }
    return networks;
  }

 private:
  std::int64_t every_;
  std::string lines_;
  std::map<std::int64_t, train::EpochReport> last_;
};

Json to_json(const std::vector<TabularTrial>& trials, std::int64_t rows) {
  Json list = Json::array();
  for (const TabularTrial& trial : trials) {
    Json json = Json::parse(workflows::to_json(trial.settings, rows));
    json["validation_log_likelihood"] = trial.log_likelihood;
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<TabularTrial> tune(const data::Table& table,
                               const TrainOptions& options,
                               const TableEncoder& encoder, ThreadPool& pool,
                               const ResumableRun& run) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto candidates = workflows::tuning_candidates(
      options.settings, encoder.is_classification());
  Progress progress;
  std::size_t done = 0;
  return workflows::compare_candidates(
      table, options.target, options.missing, rows, candidates, &pool,
      [&](const TabularTrial&) {
        ++done;
        progress.show(
            static_cast<double>(done) / static_cast<double>(candidates.size()),
            "tuning: " + std::to_string(done) + " of " +
                std::to_string(candidates.size()) + " candidates");
      },
      &run);
}

TabularModel fit(const TableEncoder& encoder, const EncodedRows& rows,
                 const TabularSettings& settings, ThreadPool& pool,
                 History& history, const ResumableRun& run) {
  const std::int64_t epochs = workflows::epochs_of(settings, rows.count);
  const double total = static_cast<double>(epochs * settings.restarts);
  Progress progress;
  std::int64_t done = 0;
  return workflows::fit_tabular(
      encoder, rows, settings,
      [&](std::int64_t restart, const train::EpochReport& report) {
        history.add(restart, report);
        ++done;
        char text[120];
        std::snprintf(text, sizeof text,
                      "network %lld: epoch %lld of %lld, nll %.4f, kl %.4f",
                      static_cast<long long>(restart + 1),
                      static_cast<long long>(report.epoch),
                      static_cast<long long>(epochs), report.nll, report.kl);
        progress.show(static_cast<double>(done) / total, text);
        return true;
      },
      &pool, &run);
}

data::Table read(const TrainOptions& options) {
  data::TableOptions table_options;
  for (const std::string& name : options.categorical) {
    table_options.types[name] = data::ColumnType::Categorical;
  }
  data::Table table =
      data::read_source(options.table, table_options, options.settings.seed);
  for (const std::string& name : options.categorical) table.column_index(name);
  return table;
}

/// A table made ready for training.
struct Problem {
  std::optional<data::Table> table;
  TableEncoder encoder;
  EncodedRows rows;
  Json data;  ///< its description in config.json and in the model
};

Problem load(const TrainOptions& options) {
  Problem problem;
  problem.table = read(options);
  problem.encoder =
      TableEncoder::fit(*problem.table, options.target, options.missing);
  for (const std::string& note : problem.encoder.notes()) say(note);
  problem.rows = problem.encoder.encode(*problem.table, true);
  problem.data = {{"source", options.table},
                  {"target", options.target},
                  {"rows", problem.rows.count},
                  {"inputs", problem.encoder.input_size()},
                  {"fingerprint", workflows::fingerprint(problem.rows)}};
  return problem;
}

/// Every setting, resolved.
Json resolved(const TrainOptions& options, const TabularSettings& settings,
              const Problem& problem) {
  Json config = Json::parse(workflows::to_json(settings, problem.rows.count));
  if (problem.encoder.is_classification()) {
    config["likelihood"] = likelihood::to_string(likelihood::Kind::Categorical);
  }
  config["missing"] = data::to_string(options.missing);
  config["tuned"] = options.tune;
  return config;
}

/// config.json: the settings, and all that is needed to resume the run.
Json run_config(Json settings, const TrainOptions& options,
                const Problem& problem) {
  settings["data"] = problem.data;
  settings["program"] = version();
  settings["machine"] = workflows::machine_line();
  settings["command"] = to_json(options);
  return settings;
}

void print(const std::string& run, const Json& config, const Json& metrics,
           bool as_json) {
  if (as_json) {
    const Json document = {
        {"run", run}, {"config", config}, {"metrics", metrics}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  files::JsonObject settings(config, run + ": config.json");
  files::JsonObject data = settings.object("data");
  files::JsonObject reached(metrics, run + ": metrics of the model");
  std::vector<files::JsonObject> networks = reached.objects("networks");
  RADIR_CHECK(!networks.empty(), IoError, reached.where(),
              ": \"networks\" is empty; the file is damaged");
  files::JsonObject& losses = networks.front();
  const std::string likelihood = settings.text("likelihood");
  std::ostringstream text;
  text << "run         " << run << "\n"
       << "rows        " << data.integer("rows") << "\n"
       << "inputs      " << data.integer("inputs") << "\n"
       << "target      " << data.text("target") << " (" << likelihood << ")\n"
       << "nll         " << Json(losses.number("nll")) << " nats per row\n"
       << "kl          " << Json(losses.number("kl")) << " nats per row\n";
  std::cout << text.str();
}

/// Trains from the last checkpoint, or from the start, and finishes the run.
void train_run(const TrainOptions& options, Problem problem,
               const io::RunFolder& folder, const RunOptions& run_options,
               const CommonOptions& common) {
  ThreadPool pool(common.threads);
  std::vector<TabularTrial> trials;
  TabularSettings settings = options.settings;
  std::optional<History> history;
  std::optional<TabularModel> model;
  train_in(folder, kCommand, run_options, [&](const ResumableRun& run) {
    if (options.tune) {
      trials = tune(*problem.table, options, problem.encoder, pool, run);
      settings = workflows::best_trial(trials).settings;
    }
    problem.table.reset();  // only its encoded form is needed from here on
    history.emplace(workflows::epochs_of(settings, problem.rows.count));
    model = fit(problem.encoder, problem.rows, settings, pool, *history, run);
  });

  Json config = resolved(options, settings, problem);
  if (options.tune) config["trials"] = to_json(trials, problem.rows.count);
  const Json metrics = {{"networks", history->final_losses()}};
  io::SavedModel saved;
  saved.spec = model->spec;
  saved.networks = model->networks;
  saved.seed = options.settings.seed;
  saved.preprocessing = problem.encoder.to_json();
  saved.training = config.dump();
  saved.metrics = metrics.dump();
  saved.data = problem.data.dump();
  config = run_config(std::move(config), options, problem);
  finish_run(folder, kCommand, config, history->lines(),
             [&] { io::write_model(folder.model_file(), saved); });
  print(folder.path(), config, metrics, common.json);
}

void begin(TrainOptions options, RunOptions run, const CommonOptions& common) {
  RADIR_CHECK(!options.table.empty() && !options.target.empty(), ArgumentError,
              "a table and its --target are required (or --resume RUN)");
  if (run.out.empty()) run.out = free_run_name(options.table);
  io::RunFolder::check_free(run.out);
  options.settings.seed = common.seed;
  Problem problem = load(options);
  // Invalid settings are rejected before the folder is created.
  train::Model(workflows::model_spec(options.settings, problem.encoder));
  const Json config = run_config(resolved(options, options.settings, problem),
                                 options, problem);
  const io::RunFolder folder = begin_run(run.out, config);
  train_run(options, std::move(problem), folder, run, common);
}

void resume(const RunOptions& run, const CommonOptions& common) {
  const io::RunFolder folder = io::RunFolder::open(run.resume);
  const Json config = read_run_config(folder, kCommand);
  if (folder.is_finished()) {
    say(run.resume + ": is already finished");
    folder.remove_checkpoints();
    const io::SavedModel model = io::read_model(folder.model_file());
    print(run.resume, config, Json::parse(model.metrics), common.json);
    return;
  }
  const TrainOptions options = options_from_json(
      files::JsonObject(config, folder.config_file()).object("command"));
  Problem problem = load(options);
  check_same_data(config, options.table, problem.data["fingerprint"]);
  problem.data = config.at("data");
  train_run(options, std::move(problem), folder, run, common);
}

}  // namespace

void add_train(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<TrainOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command =
      add_command(root, invocation,
                  {kCommand, "Fit a Bayesian network to a table",
                   "radir train houses.csv --target price --out houses-run"},
                  [options, run, &root](const CommonOptions& common) {
                    if (run->resume.empty())
                      return begin(*options, *run, common);
                    check_resume_options(*root.get_subcommand(kCommand));
                    resume(*run, common);
                  });
  command
      ->add_option("table", options->table,
                   "Text table (plain or gzip), folder in the UCI layout, or "
                   "builtin:robot-arm")
      ->type_name("TABLE");
  command
      ->add_option("--target", options->target,
                   "Column to predict; a text column means classification")
      ->type_name("COLUMN");
  add_run_options(*command, *run);
  TabularSettings& settings = options->settings;
  command->add_option("--hidden", settings.hidden, "Units of each hidden layer")
      ->delimiter(',')
      ->type_name("N,N")
      ->capture_default_str();
  command
      ->add_option(
          "--grouping", settings.grouping,
          "Groups of weights with a length and a direction: row, column "
          "or double (both, the default)")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, posterior::Grouping>{
                                      {"row", posterior::Grouping::Row},
                                      {"column", posterior::Grouping::Column},
                                      {"double", posterior::Grouping::Double}})
              .description(""))
      ->type_name("WHAT");
  command
      ->add_option("--likelihood", settings.noise,
                   "Noise model: gaussian (one noise level, the default) or "
                   "predicted-noise (one per row)")
      ->transform(
          CLI::CheckedTransformer(
              std::map<std::string, likelihood::Kind>{
                  {"gaussian", likelihood::Kind::Gaussian},
                  {"predicted-noise", likelihood::Kind::PredictedNoise}})
              .description(""))
      ->type_name("KIND");
  command
      ->add_option(
          "--direction-gap", settings.direction_gap,
          "Spread of the directions under the prior, 0 to 1; a smaller "
          "value fits the data more closely")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--epochs", settings.epochs,
                   "Passes over the rows; 0 for as many as 20,000 steps need")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--batch", settings.batch, "Rows per training step")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--learning-rate", settings.learning_rate,
                   "Learning rate of Adam, above 0")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--restarts", settings.restarts,
                   "Number of networks that predict as a mixture, 1 to 1000")
      ->type_name("K")
      ->capture_default_str();
  command->add_flag(
      "--tune", options->tune,
      "Choose prior, noise model and number of epochs on held-out rows");
  std::map<std::string, MissingValues> missing;
  for (const auto& [value, name] : kMissing) missing[name] = value;
  command
      ->add_option(
          "--missing", options->missing,
          "Missing values: refuse (error, the default), mean (fill in) "
          "or drop (the row)")
      ->transform(CLI::CheckedTransformer(missing).description(""))
      ->type_name("WHAT");
  command
      ->add_option("--categorical", options->categorical,
                   "Numeric columns to treat as categories")
      ->type_name("COLUMN");
}

}  // namespace radir::cli
