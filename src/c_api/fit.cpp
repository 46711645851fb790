#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "c_api/guard.h"
#include "c_api/model.h"
#include "c_api/progress.h"
#include "c_api/settings.h"
#include "c_api/table.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/data/column_reading.h"
#include "radir/data/row_order.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/files/atomic_file.h"
#include "radir/files/sha256.h"
#include "radir/io/model_file.h"
#include "radir/io/run_folder.h"
#include "radir/train/hmc.h"
#include "radir/train/trainer.h"
#include "radir/workflows/chain_report.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/metrics_lines.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/row_weights.h"
#include "radir/workflows/settings_choice.h"
#include "radir/workflows/stacking.h"
#include "radir/workflows/table_fit.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"
#include "radir/workflows/training_run.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::ordered_json;

class Fit {
 public:
  Fit(std::shared_ptr<const data::Table> table, std::string target,
      const FitSettings& settings, radir_progress_callback callback, void* user)
      : table_(std::move(table)),
        target_(std::move(target)),
        given_(settings),
        settings_(settings.table),
        pool_(static_cast<int>(settings.threads)),
        progress_("fit", callback, user) {}

  std::shared_ptr<ModelObject> operator()() {
    check_options();
    encode();
    workflows::check_goal(given_.tune_for, encoder_);
    if (!given_.run.empty()) open_run();
    if (folder_ && folder_->is_finished()) {
      const std::string file = folder_->model_file();
      return ModelObject::make(file, io::read_model(file));
    }
    choose();
    settings_ = workflows::resolved(settings_, encoder_, rows_.count);
    workflows::TableModel model;
    try {
      model = fit();
    } catch (...) {  // a chain without draws, say, because it was stopped
      progress_.check();
      throw;
    }
    progress_.check();
    if (given_.conformal) {
      model.correction = workflows::conformal_correction(model, aside_, &pool_);
    }
    io::SavedModel origin = saved_description(model);
    auto object =
        std::make_shared<ModelObject>(std::move(model), std::move(origin));
    if (folder_) {
      files::write_file(folder_->metrics_file(), history_->lines());
      io::write_model(folder_->model_file(), object->saved());
      folder_->remove_checkpoints();
    }
    return object;
  }

 private:
  void encode() {
    const bool has_weights =
        !given_.weights.empty() || !given_.class_weights.empty();
    RADIR_CHECK(!has_weights || !given_.conformal, ArgumentError,
                "conformal guarantees nothing for rows that count more than ",
                "others; leave it out, or the weights");
    if (given_.conformal) {
      workflows::ConformalRows rows = workflows::set_aside(
          *table_, target_, given_.missing, settings_.seed);
      encoder_ = std::move(rows.encoder);
      rows_ = std::move(rows.fitted);
      aside_ = std::move(rows.aside);
    } else {
      const auto rows =
          has_weights ? counted_rows() : data::content_order(*table_);
      encoder_ =
          data::TableEncoder::fit(*table_, target_, given_.missing, rows);
      rows_ = encoder_.encode(*table_, true, rows);
    }
    encode_for_settings();
  }

  /// Each as often as it counts.
  std::vector<std::int64_t> counted_rows() {
    std::vector<std::int64_t> weights;
    if (!given_.weights.empty()) {
      RADIR_CHECK(given_.weights != target_, ArgumentError, "the column \"",
                  target_, "\" is the target, so it cannot hold weights");
      data::Table table = *table_;  // the caller's stays as it is
      table.column_index(given_.weights);
      weights = workflows::take_row_weights(table, given_.weights);
      table_ = std::make_shared<const data::Table>(std::move(table));
    }
    if (!given_.class_weights.empty()) {
      weights = workflows::times_class_weights(
          *table_, target_, given_.class_weights, std::move(weights));
    }
    return workflows::repeated_rows(data::content_order(*table_, weights),
                                    weights);
  }

  void encode_for_settings() {
    workflows::encode_for(settings_, *table_, encoder_, rows_,
                          given_.conformal ? &aside_ : nullptr);
  }

  void check_options() {
    workflows::check(settings_);
    workflows::check_tuning(given_.tune, given_.tune_for, given_.tune_budget);
    if (given_.tune) settings_ = workflows::searchable(settings_);
  }

  /// Begins a run, or resumes one of the same data and settings.
  void open_run() {
    Json config = {{"command",
                    {{"name", "fit"},
                     {"target", target_},
                     {"missing", data::to_string(given_.missing)},
                     {"tune", given_.tune},
                     {"settings", Json::parse(workflows::to_json(settings_))}}},
                   {"isa", to_string(active_isa())},
                   {"data",
                    {{"fingerprint", workflows::fingerprint(rows_)},
                     {"encoding", files::sha256(encoder_.to_json())}}}};
    if (given_.tune_for != workflows::TuneFor::LogLikelihood) {
      config["command"]["tune_for"] =
          choice_name(workflows::tune_for_choices(), given_.tune_for);
    }
    if (given_.tune_budget) {
      config["command"]["tune_budget"] = *given_.tune_budget;
    }
    if (!given_.weights.empty()) {
      config["command"]["weights"] = given_.weights;
    }
    if (!given_.class_weights.empty()) {
      config["command"]["class_weights"] = given_.class_weights;
    }
    if (given_.conformal) {
      config["command"]["conformal"] = true;
      config["data"]["fingerprint_aside"] = workflows::fingerprint(aside_);
    }
    if (!io::RunFolder::is_begun(given_.run)) {
      folder_.emplace(io::RunFolder::create(given_.run));
      folder_->write_config(config.dump());
    } else {
      folder_.emplace(io::RunFolder::open(given_.run));
      Json begun = Json::parse(folder_->config(), nullptr,
                               /*allow_exceptions=*/false);
      workflows::started_command(*folder_, begun);
      workflows::check_same_isa(*folder_, begun);
      begun["isa"] = config["isa"];  // a finished run is only read
      RADIR_CHECK(begun == config, ArgumentError, given_.run,
                  ": this run is on other data, or with other settings; fit ",
                  "in another folder");
    }
    workflows::CheckpointOptions checkpoints;
    checkpoints.stop_requested = [this] { return !progress_.ask(); };
    run_.emplace(*folder_, checkpoints);
  }

  void choose() {
    using workflows::SettingsSearch;
    workflows::SearchRequest request =
        given_.tune ? SettingsSearch::Tuning
                    : workflows::search_for(settings_, encoder_, rows_.count);
    request.goal = given_.tune_for;
    request.with_defaults = workflows::leaves_all_open(given_.table);
    request.budget = given_.tune_budget;
    radir_progress progress = {};
    progress.tuning = 1;
    settings_ =
        workflows::choose_settings(
            request, *table_, encoder_, rows_.table_rows,
            workflows::resolved(settings_, encoder_, rows_.count), &pool_,
            [&](std::int64_t done, std::int64_t total) {
              progress.done = done;
              progress.total = total;
              progress_.tell(progress);
              progress_.check();
            },
            run_ ? &*run_ : nullptr)
            .settings;
    encode_for_settings();
  }

  workflows::TableModel fit() {
    radir_progress progress = {};
    const auto epochs = workflows::epochs_of(settings_, rows_.count);
    progress.total = epochs * settings_.fits();
    history_.emplace(epochs);
    return workflows::fit_networks(
        encoder_, rows_, settings_,
        [&](std::int64_t restart, const train::EpochReport& report) {
          history_->add(restart, report);
          progress.done = history_->epochs_done();
          progress.network = restart + 1;
          progress.epoch = report.epoch;
          progress.nll = report.nll;
          progress.kl = report.kl;
          // A run stops between two steps, after a checkpoint.
          return progress_.tell(progress) || run_.has_value();
        },
        &pool_, run_ ? &*run_ : nullptr, &chains_);
  }

  /// What a file of the model says of its training.
  io::SavedModel saved_description(const workflows::TableModel& model) {
    io::SavedModel saved;
    saved.seed = settings_.seed;
    Json training = Json::parse(workflows::to_json(settings_, rows_.count));
    training["missing"] = data::to_string(given_.missing);
    training["tuned"] = given_.tune;
    if (given_.conformal) training["conformal"] = true;
    saved.training = training.dump();
    Json metrics = {{"networks", history_->final_losses()}};
    if (!chains_.empty()) {
      metrics["chains"] = workflows::to_json(
          workflows::chain_report(model, rows_, chains_, &pool_));
    }
    if (!model.weights.empty()) {
      metrics["mixture_weights"] =
          workflows::fit_weights(model, settings_.fits());
    }
    saved.metrics = metrics.dump();
    saved.data =
        Json{{"source", table_->source()},
             {"target", target_},
             {"rows", rows_.count},
             {"inputs", encoder_.input_size()},
             {"fingerprint", workflows::fingerprint(rows_)},
             {"notes", encoder_.notes()},
             {"columns", data::to_json(data::describe_columns(encoder_))}}
            .dump();
    return saved;
  }

  std::shared_ptr<const data::Table> table_;
  std::string target_;
  FitSettings given_;
  workflows::TableSettings settings_;
  ThreadPool pool_;
  Progress progress_;
  data::TableEncoder encoder_;
  data::EncodedRows rows_;
  data::EncodedRows aside_;  // corrects the quantiles
  std::optional<io::RunFolder> folder_;
  std::optional<workflows::ResumableRun> run_;
  std::optional<workflows::TrainingHistory> history_;
  std::vector<train::ChainStatistics> chains_;
};

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_model_fit(radir_table table, const char* target,
                             const char* settings,
                             radir_progress_callback callback, void* user,
                             radir_model* model) {
  return guarded([&] {
    check_pointer(model, "model");
    Fit fit(table_of(table), required_text(target, "target"),
            settings_of<FitSettings>(settings), callback, user);
    *model = add_model(fit());
  });
}

}  // extern "C"
}  // namespace radir::c_api
