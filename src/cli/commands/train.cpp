#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/settings_options.h"
#include "cli/training_run.h"
#include "cli/training_summary.h"
#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/data/table_encoder.h"
#include "radir/io/target_runs.h"
#include "radir/report/table.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/train_table.h"
#include "radir/workflows/train_targets.h"

namespace radir::cli {
namespace {

using workflows::TableTraining;
using workflows::TargetsTraining;
using workflows::TrainTableHooks;
using workflows::TrainTableOptions;
using workflows::TrainTableProgress;
using workflows::TrainTableResult;
using workflows::TrainTargetsResult;
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
  /// Clears the line; the following ones begin with this text.
  void begin(std::string text) {
    line_.reset();
    before_ = std::move(text);
  }

  void show(const TrainTableProgress& progress) {
    if (!line_ || stage_ != progress.stage) line_.emplace();
    stage_ = progress.stage;
    line_->show(static_cast<double>(progress.done) /
                    static_cast<double>(progress.total),
                before_ + text_of(progress));
  }

 private:
  TrainTableProgress::Stage stage_ = TrainTableProgress::Stage::Tuning;
  std::string before_;
  std::optional<Progress> line_;
};

void print(const TrainTableResult& result, bool as_json) {
  std::cout << (as_json ? to_json(result).dump(2) + "\n" : summary(result));
}

/// Those of each target, then all beside each other.
void print(const TrainTargetsResult& result, bool as_json) {
  if (as_json) {
    Json targets = Json::object();
    for (const TrainTableResult& target : result.targets) {
      targets[target.target] = to_json(target);
    }
    const Json document = {{"run", result.run},
                           {"targets", std::move(targets)},
                           {"report", result.report}};
    std::cout << document.dump(2) << "\n";
    return;
  }
  for (const TrainTableResult& target : result.targets) {
    std::cout << summary(target) << "\n";
  }
  std::cout << "run         " << result.run << ", with a model for each of "
            << result.targets.size() << " targets\n\n"
            << report::to_text(workflows::target_scores(result.run)) << "\n";
  if (!result.report.empty()) {
    std::cout << "report      " << result.report << "\n";
  }
}

/// Everything of a command line but its targets.
struct TrainCommand {
  const RunOptions& run;
  const CommonOptions& common;

  /// Whether a summary shows how columns were read.
  bool has_summary() const { return !common.json && run.resume.empty(); }

  std::function<void(const std::string&)> note() const {
    return [summary = has_summary()](const std::string& text) {
      // The summary says why columns are ignored.
      if (!summary || text.find("ignored column ") == std::string::npos) {
        say(text);
      }
    };
  }

  /// Calls `work` with hooks that show the progress in the line.
  void with_hooks(StageProgress& line,
                  const std::function<void(const TrainTableHooks&,
                                           const Execution&)>& work) const {
    CommandThreads pool(common);
    with_stop_signals(
        run, [&](const workflows::CheckpointOptions& checkpoints) {
          TrainTableHooks hooks;
          hooks.checkpoints = checkpoints;
          hooks.on_progress = [&line](const TrainTableProgress& progress) {
            line.show(progress);
          };
          work(hooks, Execution(common.device, &pool));
        });
  }
};

void train_one(TrainTableOptions options, const TrainCommand& command) {
  const RunOptions& run = command.run;
  TableTraining training =
      run.resume.empty() ? TableTraining::begin(std::move(options), run.out,
                                                command.note(), run.place)
                         : TableTraining::resume(run.resume, command.note(),
                                                 run.moved_data, run.place);
  if (command.has_summary()) print_columns(training.columns());
  StageProgress line;
  TrainTableResult result;
  command.with_hooks(
      line, [&](const TrainTableHooks& hooks, const Execution& execution) {
        result = training.run(hooks, execution);
      });
  line.begin("");
  print(result, command.common.json);
}

void train_several(TrainTableOptions options,
                   const std::vector<std::string>& targets,
                   const TrainCommand& command) {
  const RunOptions& run = command.run;
  TargetsTraining training =
      run.resume.empty()
          ? TargetsTraining::begin(std::move(options), targets, run.out,
                                   command.note(), run.place)
          : TargetsTraining::resume(run.resume, command.note(), run.moved_data,
                                    run.place);
  const std::vector<io::TargetRun>& runs = training.targets();
  StageProgress line;
  workflows::TrainTargetsHooks hooks;
  hooks.on_target = [&](std::size_t place, const auto& columns) {
    line.begin(runs[place].target + ": ");
    if (columns.empty()) return;  // it is finished
    say("target " + std::to_string(place + 1) + " of " +
        std::to_string(runs.size()) + ": " + runs[place].target);
    if (command.has_summary()) print_columns(columns);
  };
  TrainTargetsResult result;
  command.with_hooks(
      line, [&](const TrainTableHooks& each, const Execution& execution) {
        hooks.training = each;
        result = training.run(hooks, execution);
      });
  line.begin("");
  print(result, command.common.json);
}

void train(TrainTableOptions options, const std::vector<std::string>& targets,
           const RunOptions& run, const CommonOptions& common) {
  RADIR_CHECK(run.moved_data.empty() || !run.resume.empty(), ArgumentError,
              "--data says where the table of a resumed run is now; a new run ",
              "takes its table as an argument: radir train ",
              shell_word(run.moved_data), " ...");
  RADIR_CHECK(
      !run.resume.empty() || (!options.table.empty() && !targets.empty() &&
                              !targets.front().empty()),
      ArgumentError, "a table and its --target are required (or --resume RUN)");
  workflows::check_device(common.device);
  options.settings.seed = common.seed;
  const TrainCommand command{run, common};
  if (!run.resume.empty()) {
    return io::target_runs(run.resume).empty()
               ? train_one(std::move(options), command)
               : train_several(std::move(options), {}, command);
  }
  options.target = targets.front();
  const bool several =
      targets.size() > 1 || options.target.find(',') != std::string::npos;
  const auto columns = several ? workflows::target_columns(options, targets)
                               : std::vector<std::string>();
  if (columns.size() > 1) {
    return train_several(std::move(options), columns, command);
  }
  train_one(std::move(options), command);
}

/// What is read, and how.
void add_table_options(CLI::App& command, TrainTableOptions& options,
                       std::vector<std::string>& targets) {
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
      .add_option("--target", targets,
                  "Column to predict: its name, its number from 1, or last; a "
                  "text column means classification; several get a model each")
      ->allow_extra_args(false)
      ->type_name("COLUMN,...");
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
  const auto targets = std::make_shared<std::vector<std::string>>();
  const auto run = std::make_shared<RunOptions>();
  CLI::App* command =
      add_command(root, invocation,
                  {kCommand, "Fit a Bayesian network to a table",
                   "radir train houses.csv --target price --out houses-run",
                   /*on_cuda=*/true},
                  [options, targets, run, &root](const CommonOptions& common) {
                    if (!run->resume.empty()) {
                      check_resume_options(*root.get_subcommand(kCommand));
                    }
                    as_worker(*run, [&](const RunOptions& worker) {
                      train(*options, *targets, worker, common);
                    });
                  });
  add_table_options(*command, *options, *targets);
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
