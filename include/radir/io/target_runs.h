#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

// A folder with several targets of one table: a run for each of them, complete
// by its own path, and a config.json that lists them under "targets".

namespace radir::io {

/// The run of one target.
struct TargetRun {
  std::string target;  ///< the name of the column
  std::string path;    ///< of its run folder, inside the folder of all
};

/// Those of new runs in the folder `path`, in the order of the targets.
std::vector<TargetRun> new_target_runs(const std::string& path,
                                       const std::vector<std::string>& targets);

/// The entry "targets" of config.json.
nlohmann::ordered_json to_json(const std::vector<TargetRun>& runs);

/// The runs in a folder with several targets; none in any other folder or file.
/// Throws IoError when its config.json is damaged.
std::vector<TargetRun> target_runs(const std::string& path);

/// Whether the training of one target has left its model.
bool is_finished(const TargetRun& run);

/// Whether the folder has several targets and all of them are finished; false
/// where its config.json is damaged.
bool has_finished_targets(const std::string& path);

/// Throws ArgumentError for a folder with several targets, which says which
/// folders have a model. `example` is the command for one of them, without the
/// folder, such as {"radir export", "--onnx FILE"}.
void check_one_target(const std::string& path,
                      const std::pair<std::string, std::string>& example = {});

}  // namespace radir::io
