#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/column_reading.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/train/trainer.h"
#include "radir/workflows/chain_report.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"
#include "radir/workflows/training_run.h"

namespace radir::workflows {

/// What `radir train` is asked for, complete enough to resume a run anywhere.
struct TrainTableOptions {
  std::string table;  ///< a part of data::TableSource
  /// Files whose rows follow those of `table`.
  std::vector<std::string> more_tables;
  std::optional<bool> header;  ///< as in data::TableSource
  // Columns, as data::find_column takes them.
  std::string target;  ///< the column to predict
  /// Numeric columns to treat as categories.
  std::vector<std::string> categorical;
  std::vector<std::string> exclude;  ///< no inputs
  /// No inputs: targets of the same table that have runs of their own.
  std::vector<std::string> other_targets;
  /// If there are any, the only inputs, whatever they hold.
  std::vector<std::string> include;
  std::string id;  ///< no input; carried into the predictions
  /// No input; how often each row counts (row_weights.h). Empty: once.
  std::string weights;
  /// "balanced" or "NAME=W,...": how often the rows of a class count.
  std::string class_weights;
  data::MissingValues missing = data::MissingValues::Indicator;
  /// Read the table as version 0.1 did (data::TableOptions::as_is).
  bool as_is = false;
  /// Choose prior, noise model and number of epochs on held-out rows.
  bool tune = false;
  TuneFor tune_for = TuneFor::LogLikelihood;
  std::optional<double> tune_budget;  ///< seconds of the search; none: no limit
  /// Set by TableTraining: choose_settings() compares the defaults, where it
  /// tunes with the candidates of the search.
  bool compare = false;
  /// After the fit to all rows, score the settings on rows that another fit
  /// does without (hold_out). The model is the same either way.
  bool holdout = true;
  /// Set about a fifth of the rows aside, fit the others alone, and correct the
  /// quantiles of the model by these rows (conformal.h). They are the held-out
  /// rows of the score too. For a numeric target.
  bool conformal = false;
  TableSettings settings;
};

/// How far the training is.
struct TrainTableProgress {
  enum class Stage { Tuning, Fitting, HoldingOut };
  Stage stage = Stage::Fitting;
  std::int64_t done = 0;   ///< candidates, or epochs of all fits
  std::int64_t total = 0;  ///< of these
  // While fitting: the network, from 1, its epochs and the last of them.
  std::int64_t network = 1;
  std::int64_t epochs = 0;
  train::EpochReport epoch;
};

/// What the caller of a training hears and decides.
struct TrainTableHooks {
  CheckpointOptions checkpoints;
  /// Called from any thread, one call at a time.
  std::function<void(const TrainTableProgress&)> on_progress;
};

/// A finished run.
struct TrainTableResult {
  std::string run;                 ///< its folder
  nlohmann::ordered_json config;   ///< its config.json
  nlohmann::ordered_json metrics;  ///< what the training reached
  // The same for people.
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::string target;
  std::string method;
  std::string likelihood;
  double nll = 0;  ///< of the first network, nats per row
  double kl = 0;
  std::optional<ChainReport> chains;  ///< of a method that samples
  /// Of the networks or chains, with the sum 1; empty: equal.
  std::vector<double> mixture_weights;
  /// None without TrainTableOptions::holdout, for very few rows, or where the
  /// fit without the rows failed.
  std::optional<HeldOut> held_out;
  /// None without TrainTableOptions::conformal.
  likelihood::QuantileCorrection correction;
  std::string report;  ///< the page about the run; empty: not written
};

/// The training of a table in a run folder: begin or resume it, then run it.
class TableTraining {
 public:
  /// Reads the table and creates the folder `out` (empty: a free name).
  /// `note` is told which rows and columns are ignored, and hints. Throws
  /// ArgumentError for invalid options or settings, a folder that exists and a
  /// table that is too short to set rows aside,
  /// IoError for a table that cannot be read or used; no folder is left then.
  static TableTraining begin(
      TrainTableOptions options, std::string out,
      const std::function<void(const std::string&)>& note = nullptr,
      const RunPlace& place = {});
  /// Opens a run that `begin` started; it may be finished. `table` is where its
  /// table is now, if that moved. Throws IoError when the run is damaged or its
  /// table has changed.
  static TableTraining resume(
      const std::string& run,
      const std::function<void(const std::string&)>& note = nullptr,
      const std::string& table = "", const RunPlace& place = {});

  /// How each column of the table was read; none of a run that was finished.
  const std::vector<data::ColumnReading>& columns() const;

  ~TableTraining();
  TableTraining(TableTraining&&) noexcept;
  TableTraining& operator=(TableTraining&&) noexcept;

  /// Trains from the last checkpoint, or from the start, and writes the model
  /// and a page about the run.
  /// Only reads the result of a run that is finished. Throws Interrupted after
  /// a stop was requested; its message says how to resume. Throws
  /// FinishedElsewhere in all workers of a job but one.
  TrainTableResult run(const TrainTableHooks& hooks = {},
                       const Execution& execution = {});

 private:
  class Impl;
  explicit TableTraining(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace radir::workflows
