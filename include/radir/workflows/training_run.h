#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "radir/core/error.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/resumable_run.h"
#include "radir/workflows/shared_run.h"

// The life of a run folder, the same for every command that trains: begin or
// resume, train with checkpoints, finish. `command` is the name of the command
// ("train"), which config.json records and messages repeat.

namespace radir::workflows {

/// A free name for a run on `source`: houses-run, houses-run-2, ...
std::string free_run_name(const std::string& source);

/// The absolute path of an existing file or folder, so that a run can be
/// resumed from another folder. Any other text is returned unchanged.
std::string absolute_path(const std::string& path);

/// Who works on a run.
struct RunPlace {
  SharedRun* shared = nullptr;  ///< the workers of a job; null: this process
  /// Of each batch (train::ShardedSum); 0: it is not cut. Part of config.json.
  std::int64_t shards = 0;
};

/// Creates the folder of a new run, with its config.json. Throws as
/// io::RunFolder::create and SharedRun::begin do.
io::RunFolder begin_run(const std::string& path,
                        const nlohmann::ordered_json& config,
                        const RunPlace& place = {});
/// Opens that of a run that is resumed. Throws as io::RunFolder::open and
/// SharedRun::open do.
io::RunFolder open_run(const std::string& path, const RunPlace& place = {});
/// Throws ArgumentError where the folder of a new run already exists.
void check_free(const std::string& path, const RunPlace& place = {});
/// The number of shards of a run that is resumed; 0: none.
std::int64_t shards_of(const std::string& path);

/// The entry "options" of the command in a run's config.json. Throws IoError
/// when there is none.
std::string run_options_text(const nlohmann::ordered_json& config);

/// The name of the command that started a run, such as "train". Throws IoError
/// when config.json has none that a message can repeat.
std::string started_command(const io::RunFolder& folder,
                            const nlohmann::ordered_json& config);

/// Throws ArgumentError when a run that is not finished was started with
/// another instruction set. A run of version 0.1 names none, and passes.
void check_same_isa(const io::RunFolder& folder,
                    const nlohmann::ordered_json& config);

/// config.json of a run that `command` is to resume. Its entry "command" has
/// the name of the command and its options. Throws IoError when the file is
/// damaged, ArgumentError when another command started the run. Calls `warn`
/// when another version of the program started it.
nlohmann::ordered_json read_run_config(
    const io::RunFolder& folder, const std::string& command,
    const std::function<void(const std::string&)>& warn);

/// The entry "options" of the command that started a run, parsed by
/// `from_json`. Throws IoError, which names the file, when there is no such
/// entry or `from_json` throws.
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

/// Throws IoError, which says how to go on, when the data of a run that is
/// resumed is no longer where it was.
void check_is_there(const std::string& source, const std::string& run);

/// Throws IoError, which names `source`, unless the run was started on data
/// with this fingerprint.
void check_same_data(const nlohmann::ordered_json& config,
                     const std::string& source, const std::string& fingerprint);

/// The same for another part of the entry "data" of the configuration, such as
/// the encoding of a table. A run of version 0.1 has none, and passes.
void check_same_part(const nlohmann::ordered_json& config,
                     const std::string& source, const char* key,
                     const std::string& now);

/// Calls `work`. Interrupted and IoError then say how to resume; any other
/// error before the first checkpoint deletes the folder.
void train_in(const io::RunFolder& folder, const std::string& command,
              CheckpointOptions checkpoints,
              const std::function<void(const ResumableRun&)>& work);

/// Finishes a run: writes config.json, metrics.jsonl and the files of
/// `write_model` into its folder (created again if it was deleted), then
/// deletes the checkpoints. Throws IoError, which says how to finish later.
void finish_run(const io::RunFolder& folder, const std::string& command,
                const nlohmann::ordered_json& config,
                const std::string& metrics,
                const std::function<void()>& write_model);

}  // namespace radir::workflows
