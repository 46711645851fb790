#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/data/column_reading.h"
#include "radir/io/target_runs.h"
#include "radir/report/table.h"
#include "radir/workflows/train_table.h"
#include "radir/workflows/training_run.h"

// Several targets of one table. Each has a run of its own, that of
// TableTraining for this target with the other targets excluded, in one folder
// (io::target_runs).

namespace radir::workflows {

/// The names of the columns that are meant. Each reference is a column, as
/// data::find_column takes it, or several with commas between them. Throws
/// ArgumentError for an unknown column, one that is named twice, and a table
/// that can be read only once, such as standard input.
std::vector<std::string> target_columns(
    const TrainTableOptions& options,
    const std::vector<std::string>& references);

/// What the caller of a training hears and decides.
struct TrainTargetsHooks {
  TrainTableHooks training;  ///< of each target
  /// Called before each target's training: its place among the targets, and
  /// how the columns were read (none where the target is finished).
  std::function<void(std::size_t, const std::vector<data::ColumnReading>&)>
      on_target;
};

/// A finished run.
struct TrainTargetsResult {
  std::string run;                        ///< its folder
  std::vector<TrainTableResult> targets;  ///< in the order of the targets
  std::string report;  ///< the page about all of them; empty: not written
};

/// The training of a model for each of several targets.
class TargetsTraining {
 public:
  /// Reads the table and creates the folder `out` (empty: a free name) with a
  /// run for each of the targets, two names of columns at least.
  /// TrainTableOptions::target is not used. Throws as TableTraining::begin
  /// does, and ArgumentError for a target that the options need for something
  /// else; no folder is left then.
  static TargetsTraining begin(
      TrainTableOptions options, const std::vector<std::string>& targets,
      std::string out,
      const std::function<void(const std::string&)>& note = nullptr,
      const RunPlace& place = {});
  /// Opens a run that `begin` started; see TableTraining::resume.
  static TargetsTraining resume(
      const std::string& run,
      const std::function<void(const std::string&)>& note = nullptr,
      const std::string& table = "", const RunPlace& place = {});

  const std::vector<io::TargetRun>& targets() const;

  ~TargetsTraining();
  TargetsTraining(TargetsTraining&&) noexcept;
  TargetsTraining& operator=(TargetsTraining&&) noexcept;

  /// Trains one target after another, those that are finished excepted, and
  /// writes a page about all of them. Throws as TableTraining::run does.
  TrainTargetsResult run(const TrainTargetsHooks& hooks = {},
                         const Execution& execution = {});

 private:
  class Impl;
  explicit TargetsTraining(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// A row for each target of such a run, finished or not: its method and the
/// scores of its held-out rows.
report::Table target_scores(const std::string& run);

}  // namespace radir::workflows
