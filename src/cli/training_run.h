#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "radir/core/error.h"
#include "radir/io/run_folder.h"
#include "radir/train/sharded_sum.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/training_run.h"

namespace radir::cli {

/// Options of every command that trains.
struct RunOptions {
  std::string out;         ///< the folder of a new run
  std::string resume;      ///< the folder of a run to resume
  std::string moved_data;  ///< where its data is now; "" where it was
  std::string moved_dir;   ///< the same of its data folder
  std::chrono::milliseconds checkpoint_every = std::chrono::seconds(30);
  workflows::RunPlace place;
  train::ShardedSum* sharded = nullptr;  ///< CheckpointOptions::sharded
};

/// Calls `work` in this process alone or, where the environment describes a job
/// (collective::job_settings), as one of its workers. A worker that finds that
/// the others have finished the run has nothing to do.
void as_worker(const RunOptions& run,
               const std::function<void(const RunOptions&)>& work);

/// Calls `work` where the run is finished: in one worker of a job.
void finish_in_one(const RunOptions& run, const std::function<void()>& work);

/// Adds --out, --resume, --checkpoint-every and --shards.
void add_run_options(CLI::App& command, RunOptions& options);

/// With --resume the settings come from the run. Throws ArgumentError when the
/// command line has any other option than --threads, --device, --json,
/// --checkpoint-every, --data and --data-dir (the data may have moved).
void check_resume_options(const CLI::App& command);

/// "50ms", "30s", "5m", "1h". Throws ArgumentError for any other text, which
/// names the option.
std::chrono::milliseconds parse_duration(
    const std::string& text, const std::string& option = "--checkpoint-every");

/// Thrown when a signal stopped the training. The exit code of the program is
/// 128 plus the number of the signal.
class StoppedBySignal : public Error {
 public:
  StoppedBySignal(const std::string& message, int signal)
      : Error(message), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

// The parts of a run that need no terminal.
using workflows::absolute_path;
using workflows::begin_run;
using workflows::check_free;
using workflows::check_same_data;
using workflows::finish_run;
using workflows::free_run_name;
using workflows::open_run;
using workflows::read_run_options;

/// As workflows::read_run_config; warns on standard error.
nlohmann::ordered_json read_run_config(const io::RunFolder& folder,
                                       const std::string& command);

/// Calls `work` with checkpoint options under which the training stops when a
/// signal arrives. Throws StoppedBySignal, with the message of
/// workflows::Interrupted, when it did.
void with_stop_signals(
    const RunOptions& options,
    const std::function<void(const workflows::CheckpointOptions&)>& work);

/// workflows::train_in with signals caught.
void train_in(const io::RunFolder& folder, const std::string& command,
              const RunOptions& options,
              const std::function<void(const workflows::ResumableRun&)>& work);

}  // namespace radir::cli
