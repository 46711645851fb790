#include "radir/workflows/train_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/files/json_object.h"
#include "radir/files/sha256.h"
#include "radir/io/model_file.h"
#include "radir/io/run_folder.h"
#include "radir/likelihood/options.h"
#include "radir/train/hmc.h"
#include "radir/train/model.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/doctor.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/metrics_lines.h"
#include "radir/workflows/run_findings.h"
#include "radir/workflows/run_report.h"
#include "radir/workflows/settings_choice.h"
#include "radir/workflows/stacking.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/training_run.h"
#include "radir/workflows/trials.h"
#include "workflows/table_problem.h"
#include "workflows/train_command.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;
using Note = std::function<void(const std::string&)>;

/// Every setting, resolved.
Json resolved(const TrainTableOptions& options, const TableSettings& settings,
              const TableProblem& problem) {
  Json config = Json::parse(to_json(settings, problem.rows.count));
  if (problem.encoder.is_classification()) {
    config["likelihood"] = likelihood::to_string(likelihood::Kind::Categorical);
  }
  config["missing"] = data::to_string(options.missing);
  config["tuned"] = options.tune;
  if (options.tune) {
    config["tune_for"] = choice_name(tune_for_choices(), options.tune_for);
  }
  if (options.conformal) config["conformal"] = true;
  return config;
}

/// config.json: the settings, and all that is needed to resume the run.
Json run_config(Json settings, const TrainTableOptions& options,
                const TableProblem& problem) {
  settings["data"] = problem.data;
  settings["program"] = version();
  settings["machine"] = machine_line();
  settings["isa"] = to_string(active_isa());
  settings["command"] = command_json(options);
  return settings;
}

/// None where nothing was sampled.
std::optional<ChainReport> chains_of(const Json& metrics,
                                     const std::string& where) {
  if (!metrics.contains("chains")) return std::nullopt;
  files::JsonObject json = files::JsonObject(metrics, where).object("chains");
  ChainReport report;
  report.chains = json.integer("chains");
  report.r_hat_mean = json.number("r_hat_mean");
  report.r_hat_95 = json.number("r_hat_95");
  report.effective_draws = json.number("effective_draws");
  if (json.has("acceptance")) report.acceptance = json.number("acceptance");
  report.divergences = json.integer("divergences");
  return report;
}

std::vector<double> weights_of(files::JsonObject& metrics) {
  std::vector<double> weights;
  for (const Json& value : metrics.array("mixture_weights")) {
    metrics.check_type(value.is_number(), "mixture_weights",
                       "a list of numbers");
    weights.push_back(value);
  }
  return weights;
}

TrainTableResult result_of(const std::string& run, const Json& config,
                           const Json& metrics) {
  TrainTableResult result;
  result.run = run;
  result.config = config;
  result.metrics = metrics;
  files::JsonObject settings(config, run + ": config.json");
  files::JsonObject data = settings.object("data");
  files::JsonObject reached(metrics, run + ": metrics of the model");
  std::vector<files::JsonObject> networks = reached.objects("networks");
  RADIR_CHECK(!networks.empty(), IoError, reached.where(),
              ": \"networks\" is empty; the file is damaged");
  result.rows = data.integer("rows");
  result.inputs = data.integer("inputs");
  result.target = data.text("target");
  result.likelihood = settings.text("likelihood");
  // Version 0.1 had one method.
  result.method = config.contains("method") ? settings.text("method") : "rdp";
  result.nll = networks.front().number("nll");
  result.kl = networks.front().number("kl");
  result.chains = chains_of(metrics, reached.where());
  if (reached.has("mixture_weights")) {
    result.mixture_weights = weights_of(reached);
  }
  return result;
}

}  // namespace

class TableTraining::Impl {
 public:
  Impl(io::RunFolder folder, TrainTableOptions options, TableProblem problem,
       SharedRun* shared)
      : folder_(std::move(folder)),
        options_(std::move(options)),
        problem_(std::move(problem)),
        shared_(shared) {}
  /// A run that is finished.
  Impl(io::RunFolder folder, Json config, SharedRun* shared)
      : folder_(std::move(folder)),
        finished_(std::move(config)),
        shared_(shared) {}

  const std::vector<data::ColumnReading>& columns() const {
    return problem_.encoder.columns();
  }

  TrainTableResult run(const TrainTableHooks& hooks,
                       const Execution& execution) {
    if (finished_) return in_one([&] { return read_finished(hooks); });
    ChosenSettings chosen;
    TableSettings settings = options_.settings;
    std::optional<TrainingHistory> history;
    std::vector<train::ChainStatistics> chains;
    TableModel model;
    std::optional<HeldOut> held_out;
    train_in(
        folder_, kTrainCommand, hooks.checkpoints, [&](const ResumableRun& r) {
          chosen = choose(hooks, execution, r);
          settings = chosen.settings;
          problem_.encode_for(settings);
          problem_.table
              .reset();  // only its encoded form is needed from here on
          history.emplace(epochs_of(settings, problem_.rows.count));
          model = fit(settings, hooks, execution, r, *history, chains);
          if (problem_.aside) {
            model.correction =
                conformal_correction(model, *problem_.aside, execution.pool);
            held_out = hold_out(model, problem_.rows, *problem_.aside, settings,
                                execution.pool, &r);
          } else if (options_.holdout) {
            held_out = score(chosen, hooks, execution, r);
          }
        });
    return in_one([&] {
      Json metrics = {{"networks", history->final_losses()}};
      if (!chains.empty()) {
        metrics["chains"] =
            to_json(chain_report(model, problem_.rows, chains, execution.pool));
      }
      if (!model.weights.empty()) {
        metrics["mixture_weights"] = fit_weights(model, settings.fits());
      }
      if (held_out) metrics["held_out"] = summary_json(*held_out);
      curves_ = column_curves(model, problem_.rows,
                              drawn_columns(model, held_out), execution.pool);
      TrainTableResult result =
          finish(chosen, model, *history, metrics, held_out);
      result.held_out = std::move(held_out);
      result.correction = model.correction;
      result.report = written_report(hooks);
      return result;
    });
  }

 private:
  /// In one worker of a job.
  TrainTableResult in_one(const std::function<TrainTableResult()>& work) {
    if (shared_ == nullptr) return work();
    std::optional<TrainTableResult> result;
    shared_->finish([&] { result = work(); });
    if (!result) throw FinishedElsewhere("another worker finished the run");
    return std::move(*result);
  }

  TrainTableResult read_finished(const TrainTableHooks& hooks) {
    folder_.remove_checkpoints();
    const io::SavedModel model = io::read_model(folder_.model_file());
    TrainTableResult result =
        result_of(folder_.path(), *finished_, Json::parse(model.metrics));
    result.held_out = read_held_out(folder_);
    result.correction = table_model(folder_.model_file(), model).correction;
    // A page that is there may show a test table; runs of version 0.1 have
    // none.
    const std::string page = report_file(folder_);
    if (std::filesystem::exists(page)) {
      result.report = page;
    } else if (!read_curves(folder_).empty()) {
      result.report = written_report(hooks);
    }
    return result;
  }

  ChosenSettings choose(const TrainTableHooks& hooks,
                        const Execution& execution, const ResumableRun& run) {
    SearchRequest request = options_.tune      ? SettingsSearch::Tuning
                            : options_.compare ? SettingsSearch::Defaults
                                               : SettingsSearch::Given;
    request.goal = options_.tune_for;
    request.with_defaults = options_.compare;
    request.budget = options_.tune_budget;
    TrainTableProgress progress;
    progress.stage = TrainTableProgress::Stage::Tuning;
    // The rows that are held out later follow from the same order.
    return choose_settings(
        request, *problem_.table, problem_.encoder, problem_.rows.table_rows,
        options_.settings, execution,
        [&](std::int64_t done, std::int64_t total) {
          progress.done = done;
          progress.total = total;
          if (hooks.on_progress) hooks.on_progress(progress);
        },
        &run);
  }

  TableModel fit(const TableSettings& settings, const TrainTableHooks& hooks,
                 const Execution& execution, const ResumableRun& run,
                 TrainingHistory& history,
                 std::vector<train::ChainStatistics>& chains) {
    TrainTableProgress progress;
    progress.epochs = epochs_of(settings, problem_.rows.count);
    progress.total = progress.epochs * settings.fits();
    return fit_networks(
        problem_.encoder, problem_.rows, settings,
        [&](std::int64_t restart, const train::EpochReport& report) {
          history.add(restart, report);
          progress.done = history.epochs_done();
          progress.network = restart + 1;
          progress.epoch = report;
          if (hooks.on_progress) hooks.on_progress(progress);
          return true;
        },
        execution, &run, &chains);
  }

  /// None where there are too few rows, or the fit without them fails.
  std::optional<HeldOut> score(const ChosenSettings& chosen,
                               const TrainTableHooks& hooks,
                               const Execution& execution,
                               const ResumableRun& run) {
    const auto parts = holdout_parts(
        problem_.rows.table_rows, chosen.settings,
        !chosen.trials.empty() || options_.tune || options_.compare);
    if (parts.empty()) return std::nullopt;
    const TableSettings fitted = holdout_settings(chosen.settings);
    TrainTableProgress progress;
    progress.stage = TrainTableProgress::Stage::HoldingOut;
    for (const HoldoutPart& part : parts) {
      progress.total +=
          fitted.fits() *
          epochs_of(fitted, static_cast<std::int64_t>(part.fitted.size()));
    }
    const ResumableRun holdout = run.part(kHoldoutPart);
    try {
      return hold_out(problem_.encoder, problem_.rows, parts, chosen.settings,
                      execution, &holdout, [&] {
                        ++progress.done;
                        if (hooks.on_progress) hooks.on_progress(progress);
                      });
    } catch (const NumericalError& error) {
      if (hooks.checkpoints.warn) {
        hooks.checkpoints.warn(
            std::string("there is no held-out score; the fit failed: ") +
            error.what());
      }
      return std::nullopt;
    }
  }

  /// The page of the finished run; a failure to write it loses nothing.
  std::string written_report(const TrainTableHooks& hooks) const {
    try {
      const std::string file = report_file(folder_);
      files::write_file(file, report_run(folder_.path()).page);
      return file;
    } catch (const IoError& error) {
      if (hooks.checkpoints.warn) {
        hooks.checkpoints.warn(std::string("the report was not written: ") +
                               error.what());
      }
      return "";
    }
  }

  TrainTableResult finish(const ChosenSettings& chosen, const TableModel& model,
                          const TrainingHistory& history, const Json& metrics,
                          const std::optional<HeldOut>& held_out) {
    Json config = resolved(options_, chosen.settings, problem_);
    if (chosen.plan) config["tune_plan"] = Json::parse(to_json(*chosen.plan));
    if (!chosen.trials.empty()) {
      config["trials"] = trials_json(chosen.trials, problem_.rows.count,
                                     problem_.encoder.is_classification());
    }
    io::SavedModel saved = saved_model(model);
    saved.seed = options_.settings.seed;
    saved.training = config.dump();
    saved.metrics = metrics.dump();
    saved.data = problem_.data.dump();
    config = run_config(std::move(config), options_, problem_);
    finish_run(folder_, kTrainCommand, config, history.lines(), [&] {
      if (held_out) write_held_out(folder_, *held_out);
      write_curves(folder_, curves_);
      io::write_model(folder_.model_file(), saved);
    });
    return result_of(folder_.path(), config, metrics);
  }

  io::RunFolder folder_;
  TrainTableOptions options_;
  TableProblem problem_;
  std::optional<Json> finished_;  // its config.json
  std::vector<ColumnCurve> curves_;
  SharedRun* shared_;
};

TableTraining::TableTraining(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
TableTraining::~TableTraining() = default;
TableTraining::TableTraining(TableTraining&&) noexcept = default;
TableTraining& TableTraining::operator=(TableTraining&&) noexcept = default;

TableTraining TableTraining::begin(TrainTableOptions options, std::string out,
                                   const Note& note, const RunPlace& place) {
  if (out.empty()) {
    out = free_run_name(options.table == "-" ? "table" : options.table);
  }
  check_free(out, place);
  check(options.settings);
  RADIR_CHECK(options.holdout || !options.conformal, ArgumentError,
              "--conformal needs held-out rows; leave out --no-holdout");
  RADIR_CHECK(!options.conformal ||
                  (options.weights.empty() && options.class_weights.empty()),
              ArgumentError,
              "--conformal guarantees nothing for rows that count more than ",
              "others; leave it out, or the weights");
  check_tuning(options.tune, options.tune_for, options.tune_budget);
  options.compare = options.tune && leaves_all_open(options.settings);
  if (options.tune) options.settings = searchable(options.settings);
  TableProblem problem = load_problem(options, note);
  check_goal(options.tune_for, problem.encoder);
  if (!options.tune) {
    options.compare =
        search_for(options.settings, problem.encoder, problem.rows.count) ==
        SettingsSearch::Defaults;
  }
  options.settings =
      resolved(options.settings, problem.encoder, problem.rows.count);
  // Invalid settings are rejected before the folder is created.
  const train::Model checked(model_spec(options.settings, problem.encoder));
  const Json config = run_config(resolved(options, options.settings, problem),
                                 options, problem);
  return TableTraining(
      std::make_unique<Impl>(begin_run(out, config, place), std::move(options),
                             std::move(problem), place.shared));
}

TableTraining TableTraining::resume(const std::string& run, const Note& note,
                                    const std::string& table,
                                    const RunPlace& place) {
  io::RunFolder folder = open_run(run, place);
  Json config = read_run_config(folder, kTrainCommand, note);
  if (folder.is_finished()) {
    if (note) note(run + ": is already finished");
    return TableTraining(std::make_unique<Impl>(
        std::move(folder), std::move(config), place.shared));
  }
  TrainTableOptions options = command_from_json(
      files::JsonObject(config, folder.config_file()).object("command"));
  if (!table.empty()) {
    RADIR_CHECK(options.more_tables.empty(), ArgumentError, run,
                ": has several tables; put them back, ", options.table, " ...");
    options.table = table_path(table);
  }
  check_is_there(options.table, run);
  TableProblem problem = load_problem(options, note);
  check_same_data(config, options.table, problem.data["fingerprint"]);
  check_same_part(config, options.table, "encoding", problem.data["encoding"]);
  if (problem.aside) {
    check_same_part(config, options.table, "fingerprint_aside",
                    problem.data["fingerprint_aside"]);
  }
  problem.data = config.at("data");
  if (place.shared != nullptr) place.shared->check_same(config);
  return TableTraining(std::make_unique<Impl>(
      std::move(folder), std::move(options), std::move(problem), place.shared));
}

const std::vector<data::ColumnReading>& TableTraining::columns() const {
  return impl_->columns();
}

TrainTableResult TableTraining::run(const TrainTableHooks& hooks,
                                    const Execution& execution) {
  return impl_->run(hooks, execution);
}

}  // namespace radir::workflows
