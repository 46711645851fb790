#pragma once

#include <string>
#include <vector>

#include "radir/io/target_runs.h"
#include "radir/workflows/table_model.h"

namespace radir::workflows {

/// The model of one of several targets.
struct TargetModel {
  std::string target;  ///< empty: the model has a file or a run of its own
  TableModel model;
};

/// As io::target_runs(). Throws IoError, which says how to go on, where the
/// training of a target is not finished.
std::vector<io::TargetRun> finished_target_runs(const std::string& path);

/// The models in a folder with several targets; of any other path the only one.
/// Throws as finished_target_runs() and load_table_model() do.
std::vector<TargetModel> load_target_models(const std::string& path);

/// For functions that take several models at once.
std::vector<const TableModel*> models_of(
    const std::vector<TargetModel>& models);

}  // namespace radir::workflows
