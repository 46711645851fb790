#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/experiments/tabular.h"
#include "radir/experiments/tabular_source.h"
#include "radir/io/atomic_file.h"

namespace radir::cli {
namespace {

namespace fs = std::filesystem;
using experiments::EncodedRows;
using experiments::MissingValues;
using experiments::TableEncoder;
using experiments::TabularModel;
using experiments::TabularSettings;
using experiments::TabularTrial;
using train::Likelihood;
using Json = nlohmann::ordered_json;

struct TrainOptions {
  std::string table;
  std::string target;
  std::string out;
  std::vector<std::string> categorical;
  MissingValues missing = MissingValues::Refuse;
  bool tune = false;
  TabularSettings settings;
};

/// A name for the run that is not taken: TABLE-run, TABLE-run-2, ...
std::string free_run_name(const std::string& table) {
  std::string stem = fs::path(table).filename().string();
  stem = stem.substr(0, stem.find_first_of(".:"));
  if (stem.empty()) stem = "table";
  const std::string name = stem + "-run";
  std::string candidate = name;
  for (int i = 2; fs::exists(candidate); ++i) {
    candidate = name + "-" + std::to_string(i);
  }
  return candidate;
}

void check_out(const std::string& out) {
  std::error_code error;
  RADIR_CHECK(!fs::exists(out, error) || fs::is_empty(out, error),
              ArgumentError, out, ": is there already; choose another --out");
}

/// One line per report, of some two hundred per network.
class History {
 public:
  explicit History(std::int64_t epochs)
      : every_(std::max<std::int64_t>(1, epochs / 200)) {}

  void add(std::int64_t restart, const train::EpochReport& report) {
    last_[restart] = report;
    if (report.epoch % every_ == 0) lines_ += to_json(restart, report) + "\n";
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
  static std::string to_json(std::int64_t restart,
                             const train::EpochReport& report) {
    const Json json = {{"network", restart + 1},
                       {"epoch", report.epoch},
                       {"step", report.step},
                       {"nll", report.nll},
                       {"kl", report.kl},
                       {"kl_weight", report.kl_weight},
                       {"learning_rate", report.learning_rate},
                       {"seconds", report.seconds}};
    return json.dump();
  }

  std::int64_t every_;
  std::string lines_;
  std::map<std::int64_t, train::EpochReport> last_;
};

Json to_json(const std::vector<TabularTrial>& trials, std::int64_t rows) {
  Json list = Json::array();
  for (const TabularTrial& trial : trials) {
    Json json = Json::parse(experiments::to_json(trial.settings, rows));
    json["validation_log_likelihood"] = trial.log_likelihood;
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<TabularTrial> tune(const io::Table& table,
                               const TrainOptions& options,
                               const TableEncoder& encoder, ThreadPool& pool) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  const auto candidates = experiments::tuning_candidates(
      options.settings, encoder.is_classification());
  Progress progress;
  std::size_t done = 0;
  return experiments::compare_candidates(
      table, options.target, options.missing, rows, candidates, &pool,
      [&](const TabularTrial&) {
        ++done;
        progress.show(
            static_cast<double>(done) / static_cast<double>(candidates.size()),
            "tuning: " + std::to_string(done) + " of " +
                std::to_string(candidates.size()) + " candidates");
      });
}

TabularModel fit(const TableEncoder& encoder, const EncodedRows& rows,
                 const TabularSettings& settings, ThreadPool& pool,
                 History& history) {
  const std::int64_t epochs = experiments::epochs_of(settings, rows.count);
  const double total = static_cast<double>(epochs * settings.restarts);
  Progress progress;
  std::int64_t done = 0;
  return experiments::fit_tabular(
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
      &pool);
}

/// The folder appears with all its files or, but for a crash, not at all.
void write_run(const std::string& out, const Json& config,
               const History& history, const io::SavedModel& model) {
  std::error_code error;
  fs::create_directories(out, error);
  RADIR_CHECK(!error, IoError, "cannot make the folder ", out, ": ",
              error.message());
  const fs::path folder(out);
  io::write_file((folder / "config.json").string(), config.dump(2) + "\n");
  io::write_file((folder / "metrics.jsonl").string(), history.lines());
  io::write_model((folder / "model.safetensors").string(), model);
}

io::Table read(const TrainOptions& options, std::uint64_t seed) {
  io::TableOptions table_options;
  for (const std::string& name : options.categorical) {
    table_options.types[name] = io::ColumnType::Categorical;
  }
  io::Table table =
      experiments::read_source(options.table, table_options, seed);
  for (const std::string& name : options.categorical) table.column_index(name);
  return table;
}

void say(const std::string& sentence) {
  std::cerr << "radir: " << sentence << "\n";
}

void train_table(TrainOptions options, const CommonOptions& common) {
  if (options.out.empty()) options.out = free_run_name(options.table);
  check_out(options.out);
  options.settings.seed = common.seed;
  ThreadPool pool(common.threads);

  std::optional<io::Table> table = read(options, common.seed);
  const TableEncoder encoder =
      TableEncoder::fit(*table, options.target, options.missing);
  for (const std::string& note : encoder.notes()) say(note);
  const EncodedRows rows = encoder.encode(*table, true);
  std::vector<TabularTrial> trials;
  TabularSettings settings = options.settings;
  if (options.tune) {
    trials = tune(*table, options, encoder, pool);
    settings = experiments::best_trial(trials).settings;
  }
  table.reset();  // only its encoded form is needed from here on

  History history(experiments::epochs_of(settings, rows.count));
  const TabularModel model = fit(encoder, rows, settings, pool, history);

  Json config = Json::parse(experiments::to_json(settings, rows.count));
  if (encoder.is_classification()) {
    config["likelihood"] = train::to_string(Likelihood::Kind::Categorical);
  }
  config["missing"] = experiments::to_string(options.missing);
  config["tuned"] = options.tune;
  if (options.tune) config["trials"] = to_json(trials, rows.count);
  const Json data = {{"source", options.table},
                     {"target", options.target},
                     {"rows", rows.count},
                     {"inputs", encoder.input_size()},
                     {"fingerprint", experiments::fingerprint(rows)}};
  const Json metrics = {{"networks", history.final_losses()}};
  io::SavedModel saved;
  saved.spec = model.spec;
  saved.networks = model.networks;
  saved.seed = common.seed;
  saved.preprocessing = encoder.to_json();
  saved.training = config.dump();
  saved.metrics = metrics.dump();
  saved.data = data.dump();
  config["data"] = data;
  config["program"] = version();
  write_run(options.out, config, history, saved);

  if (common.json) {
    const Json document = {
        {"run", options.out}, {"config", config}, {"metrics", metrics}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  const Json& losses = metrics["networks"][0];
  std::cout << "run         " << options.out << "\n"
            << "rows        " << rows.count << "\n"
            << "inputs      " << encoder.input_size() << "\n"
            << "target      " << options.target << " ("
            << config["likelihood"].get<std::string>() << ")\n"
            << "nll         " << losses["nll"] << " nats per row\n"
            << "kl          " << losses["kl"] << " nats per row\n";
}

}  // namespace

void add_train(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<TrainOptions>();
  CLI::App* command =
      add_command(root, invocation,
                  {"train", "Fit a Bayesian network to a table",
                   "radir train houses.csv --target price --out houses-run"},
                  [options](const CommonOptions& common) {
                    train_table(*options, common);
                  });
  command
      ->add_option("table", options->table,
                   "A text table (plain or gzip), a folder in the UCI layout, "
                   "or builtin:robot-arm")
      ->type_name("TABLE")
      ->required();
  command
      ->add_option("--target", options->target,
                   "The column to predict; a column of texts means classes")
      ->type_name("COLUMN")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The run's folder (default: named after the table)")
      ->type_name("RUN");
  TabularSettings& settings = options->settings;
  command->add_option("--hidden", settings.hidden, "Units of each hidden layer")
      ->delimiter(',')
      ->type_name("N,N")
      ->capture_default_str();
  command
      ->add_option("--grouping", settings.grouping,
                   "What has a length and a direction: row, column, double")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, posterior::Grouping>{
                                      {"row", posterior::Grouping::Row},
                                      {"column", posterior::Grouping::Column},
                                      {"double", posterior::Grouping::Double}})
              .description(""))
      ->type_name("WHAT");
  command
      ->add_option("--likelihood", settings.noise,
                   "gaussian (one noise level) or predicted-noise (one per "
                   "row)")
      ->transform(
          CLI::CheckedTransformer(
              std::map<std::string, Likelihood::Kind>{
                  {"gaussian", Likelihood::Kind::Gaussian},
                  {"predicted-noise", Likelihood::Kind::PredictedNoise}})
              .description(""))
      ->type_name("KIND");
  command
      ->add_option("--direction-gap", settings.direction_gap,
                   "How far the prior lets directions stray, 0 to 1; smaller "
                   "fits closer")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--epochs", settings.epochs,
                   "Passes over the rows; 0 takes as many as make 20,000 steps")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--batch", settings.batch, "Rows per step")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--learning-rate", settings.learning_rate, "Adam's")
      ->type_name("X")
      ->capture_default_str();
  command
      ->add_option("--restarts", settings.restarts,
                   "Networks that predict as a mixture")
      ->type_name("K")
      ->capture_default_str();
  command->add_flag(
      "--tune", options->tune,
      "Choose prior, noise model and length on a validation part");
  command
      ->add_option("--missing", options->missing,
                   "Missing values: refuse, mean (fill in) or drop (the row)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, MissingValues>{
                                              {"refuse", MissingValues::Refuse},
                                              {"mean", MissingValues::Mean},
                                              {"drop", MissingValues::Drop}})
                      .description(""))
      ->type_name("WHAT");
  command
      ->add_option("--categorical", options->categorical,
                   "Columns of numbers that stand for categories")
      ->type_name("COLUMN");
}

}  // namespace radir::cli
