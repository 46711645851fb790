#include "radir/workflows/target_models.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/core/shell_text.h"

namespace radir::workflows {

std::vector<io::TargetRun> finished_target_runs(const std::string& path) {
  std::vector<io::TargetRun> runs = io::target_runs(path);
  const auto usable = std::find_if(runs.begin(), runs.end(), io::is_finished);
  for (const io::TargetRun& run : runs) {
    RADIR_CHECK(
        io::is_finished(run), IoError, path, ": the training of its target \"",
        run.target, "\" is not finished; resume with: radir train ",
        "--resume ", shell_word(path),
        usable == runs.end()
            ? ""
            : ", or use a target that is, in " + shell_word(usable->path));
  }
  return runs;
}

std::vector<TargetModel> load_target_models(const std::string& path) {
  std::vector<TargetModel> models;
  for (const io::TargetRun& run : finished_target_runs(path)) {
    models.push_back({run.target, load_table_model(run.path)});
  }
  if (models.empty()) models.push_back({"", load_table_model(path)});
  return models;
}

std::vector<const TableModel*> models_of(
    const std::vector<TargetModel>& models) {
  std::vector<const TableModel*> pointers;
  for (const TargetModel& entry : models) pointers.push_back(&entry.model);
  return pointers;
}

}  // namespace radir::workflows
