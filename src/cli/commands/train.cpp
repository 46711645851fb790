#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "cli/training_run.h"
#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/core/text_stream.h"
#include "radir/data/column_reading.h"
#include "radir/data/table_encoder.h"
#include "radir/report/table.h"
#include "radir/workflows/chain_report.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/train_table.h"
#include "radir/workflows/trials.h"

namespace radir::cli {
namespace {

using workflows::TableTraining;
using workflows::TrainTableOptions;
using workflows::TrainTableProgress;
using workflows::TrainTableResult;
using Json = nlohmann::ordered_json;

constexpr const char* kCommand = "train";

/// "network 1: epoch 20 of 500, nll 0.1234, kl 0.5678"
std::string text_of(const TrainTableProgress& progress) {
  char text[120];
  if (progress.stage == TrainTableProgress::Stage::Tuning) {
    std::snprintf(text, sizeof text, "tuning: %lld of %lld candidates",
                  static_cast<long long>(progress.done),
                  static_cast<long long>(progress.total));
  } else if (progress.stage == TrainTableProgress::Stage::HoldingOut) {
    std::snprintf(text, sizeof text, "held-out score: epoch %lld of %lld",
                  static_cast<long long>(progress.done),
                  static_cast<long long>(progress.total));
  } else {
    std::snprintf(text, sizeof text,
                  "network %lld: epoch %lld of %lld, nll %.4f, kl %.4f",
                  static_cast<long long>(progress.network),
                  static_cast<long long>(progress.epoch.epoch),
                  static_cast<long long>(progress.epochs), progress.epoch.nll,
                  progress.epoch.kl);
  }
  return text;
}

/// A progress line for each stage of the training.
class StageProgress {
 public:
  void show(const TrainTableProgress& progress) {
    if (!line_ || stage_ != progress.stage) line_.emplace();
    stage_ = progress.stage;
    line_->show(static_cast<double>(progress.done) /
                    static_cast<double>(progress.total),
                text_of(progress));
  }

 private:
  TrainTableProgress::Stage stage_ = TrainTableProgress::Stage::Tuning;
  std::optional<Progress> line_;
};

/// R-hat above this, the chains do not agree yet.
constexpr double kMostRHat = 1.05;

void print_chains(const workflows::ChainReport& report, std::ostream& text) {
  text << std::setprecision(3) << "chains      " << report.chains;
  if (report.acceptance) {
    text << ", acceptance " << *report.acceptance << ", " << report.divergences
         << " divergences\n";
  } else {
    text << ", without an acceptance test: the draws are biased by the length "
         << "of the steps and the size of the batches\n";
  }
  text << "R-hat       " << report.r_hat_mean << " on average, "
       << report.r_hat_95 << " for 95 % of the rows\n"
       << "draws       worth " << std::round(report.effective_draws)
       << " independent ones\n";
  if (report.r_hat_mean > kMostRHat) {
    text << "note        the chains do not agree yet (R-hat above " << kMostRHat
         << "); more " << (report.acceptance ? "--leapfrog-steps or " : "")
         << "--draws bring them together\n";
  }
}

/// Of a stacked mixture.
void print_weights(const std::vector<double>& weights, std::ostream& text) {
  if (weights.empty()) return;
  text << std::setprecision(2) << "weights     ";
  const char* separator = "";
  for (const double weight : weights) {
    text << separator << weight;
    separator = ", ";
  }
  text << " of the networks or chains, by held-out rows\n";
}

/// The honest answer: how well rows are predicted that were not fitted.
void print_held_out(const TrainTableResult& result, std::ostream& text) {
  if (result.held_out) {
    text << "held out    " << workflows::describe(*result.held_out) << "\n\n"
         << report::to_text(workflows::score_table(*result.held_out)) << "\n"
         << workflows::headline(*result.held_out) << "\n";
    if (result.correction.is_none()) {
      text << "The model itself is fitted to all rows.\n";
    } else {
      text << "These are the intervals before the correction. "
           << workflows::describe(result.correction) << "\n";
    }
  } else {
    text << "held out    nothing, so nothing says how good predictions are; "
         << "score new rows with: radir evaluate " << shell_word(result.run)
         << " TABLE\n";
  }
  if (!result.report.empty()) text << "report      " << result.report << "\n";
}

/// Settings that were compared without being asked for.
void print_compared(const Json& config, std::ostream& text) {
  if (config.value("tuned", true) || !config.contains("trials")) return;
  const char* separator = "compared    log-likelihood of rows set aside: ";
  for (const Json& trial : config["trials"]) {
    text << separator << trial.value("method", "") << " with "
         << trial.value("likelihood", "") << " noise "
         << (trial.value("target_scale", "") == "log" ? "of the logarithm "
                                                      : "")
         << (trial.contains("pieces") ? "and pieces " : "");
    if (trial.value("method", "") != "hmc" && trial.contains("epochs")) {
      text << "(" << trial["epochs"] << " epochs) ";
    }
    const Json score = trial.value("validation_log_likelihood", Json());
    if (score.is_number()) {
      text << score.get<double>();
    } else {
      text << "failed";
    }
    separator = ", ";
  }
  text << "\n";
}

/// What --tune chose, the runners-up, and what the choice costs.
void print_tuned(const Json& config, std::ostream& text) {
  constexpr std::size_t kMost = 5;
  if (config.value("tuned", false)) {
    text << "tuned       for "
         << config.value("tune_for", std::string("log-likelihood"))
         << "; the best of " << config.value("trials", Json()).size()
         << " trials (config.json has all):\n\n"
         << report::to_text(workflows::trials_table(config, kMost)) << "\n";
    if (config.contains("tune_plan")) {
      const Json& plan = config["tune_plan"];
      text << "budget      left " << plan.value("candidates", Json())
           << " candidates, each trained for 1/"
           << plan.value("divisor", Json())
           << " of its steps in the last round\n";
    }
  }
  const std::string note = workflows::error_note(config);
  if (!note.empty()) text << "note        " << note << "\n";
}

void print(const TrainTableResult& result, bool as_json) {
  if (as_json) {
    const Json document = {{"run", result.run},
                           {"config", result.config},
                           {"metrics", result.metrics},
                           {"report", result.report}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  std::ostringstream text = text_stream();
  text << "run         " << result.run << "\n"
       << "rows        " << result.rows << "\n"
       << "inputs      " << result.inputs << "\n"
       << "target      " << result.target << " (" << result.likelihood << ")\n"
       << "method      " << result.method << "\n"
       << std::setprecision(4);
  print_compared(result.config, text);
  print_tuned(result.config, text);
  text << "nll         " << result.nll << " nats per row of the training\n";
  if (result.chains) {
    print_chains(*result.chains, text);
  } else {
    text << "kl          " << result.kl << " nats per row\n";
  }
  print_weights(result.mixture_weights, text);
  print_held_out(result, text);
  std::cout << text.str();
}

/// How the columns were read, before the training starts.
void print_columns(const std::vector<data::ColumnReading>& columns) {
  constexpr std::size_t kMost = 50;
  report::Table table;
  table.columns = {{"column", "column"}, {"reading", "read as"}};
  for (std::size_t i = 0; i < std::min(kMost, columns.size()); ++i) {
    table.rows.push_back({columns[i].name, columns[i].text()});
  }
  std::cerr << to_text(table);
  if (columns.size() > kMost) {
    std::cerr << "and " << columns.size() - kMost
              << " more, see data.columns in config.json\n";
  }
  std::cerr << "\n";
}

void train(TrainTableOptions options, const RunOptions& run,
           const CommonOptions& common) {
  RADIR_CHECK(run.moved_data.empty() || !run.resume.empty(), ArgumentError,
              "--data says where the table of a resumed run is now; a new run ",
              "takes its table as an argument: radir train ",
              shell_word(run.moved_data), " ...");
  RADIR_CHECK(!run.resume.empty() ||
                  (!options.table.empty() && !options.target.empty()),
              ArgumentError,
              "a table and its --target are required (or --resume RUN)");
  workflows::check_device(common.device);
  options.settings.seed = common.seed;
  const bool summary = !common.json && run.resume.empty();
  const auto note = [summary](const std::string& text) {
    // The summary says why columns are ignored.
    if (!summary || text.rfind("ignored column ", 0) != 0) say(text);
  };
  TableTraining training =
      run.resume.empty()
          ? TableTraining::begin(std::move(options), run.out, note, run.place)
          : TableTraining::resume(run.resume, note, run.moved_data, run.place);
  if (summary) print_columns(training.columns());
  CommandThreads pool(common);
  TrainTableResult result;
  with_stop_signals(run, [&](const workflows::CheckpointOptions& checkpoints) {
    StageProgress line;
    workflows::TrainTableHooks hooks;
    hooks.checkpoints = checkpoints;
    hooks.on_progress = [&](const TrainTableProgress& progress) {
      line.show(progress);
    };
    result = training.run(hooks, Execution(common.device, &pool));
  });
  print(result, common.json);
}

/// What is read, and how.
void add_table_options(CLI::App& command, TrainTableOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "table",
          [&options](const std::vector<std::string>& tables) {
            options.table = tables.front();
            options.more_tables.assign(tables.begin() + 1, tables.end());
          },
          "Text table (plain or gzip; - for standard input; several are "
          "joined), folder in the UCI layout, or builtin:robot-arm")
      ->type_name("TABLE");
  command
      .add_option("--target", options.target,
                  "Column to predict: its name, its number from 1, or last; a "
                  "text column means classification")
      ->type_name("COLUMN");
  const auto add_columns = [&](const char* name,
                               std::vector<std::string>& columns,
                               const char* help) {
    command.add_option(name, columns, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("COLUMN,...");
  };
  add_columns("--exclude", options.exclude, "Columns that are no inputs");
  add_columns("--include", options.include,
              "The only columns that are inputs, whatever they hold");
  command
      .add_option("--id", options.id,
                  "Column that names the rows: no input, carried into the "
                  "predictions")
      ->type_name("COLUMN");
  command
      .add_option("--weights", options.weights,
                  "Column that says how often each row counts, in whole "
                  "numbers: no input")
      ->type_name("COLUMN");
  command
      .add_option("--class-weights", options.class_weights,
                  "How often the rows of a class count, in whole numbers: "
                  "balanced, or CLASS=N,...")
      ->type_name("TEXT");
  add_header_option(command, options.header);
  add_choice_option(
      command, "--missing", options.missing, data::missing_value_choices(),
      "Missing values: indicator (the mean, and an input that says so), refuse "
      "(error), mean (fill in) or drop (the row)");
  command
      .add_option("--categorical", options.categorical,
                  "Numeric columns to treat as categories")
      ->type_name("COLUMN");
}

}  // namespace

void add_train(CLI::App& root, Invocation& invocation) {
  const auto options = std::make_shared<TrainTableOptions>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command =
      add_command(root, invocation,
                  {kCommand, "Fit a Bayesian network to a table",
                   "radir train houses.csv --target price --out houses-run",
                   /*on_cuda=*/true},
                  [options, run, &root](const CommonOptions& common) {
                    if (!run->resume.empty()) {
                      check_resume_options(*root.get_subcommand(kCommand));
                    }
                    as_worker(*run, [&](const RunOptions& worker) {
                      train(*options, worker, common);
                    });
                  });
  add_table_options(*command, *options);
  add_run_options(*command, *run);
  command
      ->add_option("--data", run->moved_data,
                   "With --resume: where the table is now, if it was moved")
      ->type_name("TABLE");
  // Before the settings, so that these change what it sets.
  add_preset_option(*command, options->settings);
  add_settings_options(*command, options->settings);
  command->add_flag("--tune", options->tune,
                    "Choose network, prior and noise model on held-out rows");
  add_choice_option(*command, "--tune-for", options->tune_for,
                    workflows::tune_for_choices(),
                    "What --tune looks for: log-likelihood, of a number rmse "
                    "or crps, of classes error or brier");
  command
      ->add_option_function<std::string>(
          "--tune-budget",
          [options](const std::string& text) {
            options->tune_budget = std::chrono::duration<double>(
                                       parse_duration(text, "--tune-budget"))
                                       .count();
          },
          "Time in which --tune ends (30s, 5m): it tries fewer candidates, or "
          "trains them for fewer steps; the result then depends on the speed "
          "of the machine")
      ->type_name("TIME");
  command->add_flag_callback(
      "--no-holdout", [options] { options->holdout = false; },
      "Train on all rows at once, without a score on held-out rows");
  command->add_flag(
      "--conformal", options->conformal,
      "Set about a fifth of the rows aside, fit the others, and correct the "
      "quantiles "
      "by these rows: a central interval of probability c then holds a new row "
      "like them with probability c at least, and at most c + 2/(n + 1) for n "
      "rows, whatever the noise");
}

}  // namespace radir::cli
