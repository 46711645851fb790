#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "radir/core/error.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/resumable_run.h"

namespace radir::cli {

/// What every command that trains takes.
struct RunOptions {
  std::string out;     ///< the folder of a new run
  std::string resume;  ///< the folder of one to go on with
  std::chrono::milliseconds checkpoint_every = std::chrono::seconds(30);
};

/// Adds --out, --resume and --checkpoint-every.
void add_run_options(CLI::App& command, RunOptions& options);

/// With --resume everything else comes from the run: throws ArgumentError when
/// the command line has another option but --threads, --device, --json,
/// --checkpoint-every and --data-dir (the data may have moved).
void check_resume_options(const CLI::App& command);

/// A name for a run on `source` that is not taken: houses-run, houses-run-2,
/// ...
std::string free_run_name(const std::string& source);

/// The name of a file or folder, if it is one, from the root on, so that a run
/// can be gone on with from another folder; any other text as it is.
std::string absolute_path(const std::string& path);

/// "50ms", "30s", "5m", "1h". Throws ArgumentError for another text.
std::chrono::milliseconds parse_duration(const std::string& text);

/// Thrown when a signal ended the training; the program's exit code is 128 plus
/// its number.
class StoppedBySignal : public Error {
 public:
  StoppedBySignal(const std::string& message, int signal)
      : Error(message), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// Makes the folder of a new run, with its config.json. Throws as
/// io::RunFolder::create does.
io::RunFolder begin_run(const std::string& path,
                        const nlohmann::ordered_json& config);

/// The entry "options" of the command in a run's config.json. Throws IoError
/// when there is none.
std::string run_options_text(const nlohmann::ordered_json& config);

/// config.json of a run that `command` ("train") may go on with: its entry
/// "command" names it and holds what it was asked for. Throws IoError when it
/// is damaged, ArgumentError when another command began the run; says so on
/// standard error when another version of the program did.
nlohmann::ordered_json read_run_config(const io::RunFolder& folder,
                                       const std::string& command);

/// The entry "options" of the command that began a run, which `from_json` makes
/// of its text. Throws IoError, which names the file, when that does or there
/// is no such entry.
template <typename FromJson>
auto read_run_options(const io::RunFolder& folder,
                      const nlohmann::ordered_json& config,
                      const FromJson& from_json) {
  try {
    return from_json(run_options_text(config));
  } catch (const IoError& error) {
    detail::throw_error<IoError>(folder.config_file(), ": ", error.what());
  }
}

/// Throws IoError, which names `source`, unless the run was begun on data of
/// this fingerprint.
void check_same_data(const nlohmann::ordered_json& config,
                     const std::string& source, const std::string& fingerprint);

/// Calls `work` with signals caught. A stop ends in StoppedBySignal, whose
/// message says how to go on. A failure before the first checkpoint that is not
/// one of files leaves no folder behind.
void train_in(const io::RunFolder& folder, const std::string& command,
              const RunOptions& options,
              const std::function<void(const workflows::ResumableRun&)>& work);

/// The end of a run: its folder (made again if somebody removed it) gets
/// config.json and metrics.jsonl and whatever `write_model` writes; the
/// checkpoints go when all that is safe. A failure is an IoError that says how
/// to finish later.
void finish_run(const io::RunFolder& folder, const std::string& command,
                const nlohmann::ordered_json& config,
                const std::string& metrics,
                const std::function<void()>& write_model);

}  // namespace radir::cli
