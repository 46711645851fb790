#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "radir/collective/job.h"
#include "radir/collective/lease_keeper.h"
#include "radir/core/error.h"
#include "radir/io/run_folder.h"

namespace radir::workflows {

/// Thrown in a worker that has nothing left to do because the others have
/// finished the run.
class FinishedElsewhere : public Error {
 public:
  using Error::Error;
};

/// A run folder in which all workers of a job work on parts of one run. All
/// machines must see the folder under the same path. Which worker comes, goes
/// or dies has no effect on the result: a part that was begun is continued from
/// its checkpoints by whoever gets it next.
class SharedRun {
 public:
  /// `job` must outlive the object.
  explicit SharedRun(collective::Job& job) : job_(&job) {}

  /// Creates the folder of a new run with this config.json, or joins the one
  /// that another worker has created. Throws ArgumentError, which names what
  /// differs, when the others work on another run, and as
  /// io::RunFolder::create does; FinishedElsewhere.
  io::RunFolder begin(const std::string& path,
                      const nlohmann::ordered_json& config);
  /// The same for the folder of a run that is resumed.
  io::RunFolder open(const std::string& path);
  /// Compares what determines the result with the other workers: version,
  /// instruction set, number of workers, data and settings of config.json.
  void check_same(const nlohmann::ordered_json& config);

  /// Calls `work` in one of the workers when the run is complete, and returns
  /// when that is done. Returns whether it was here. No checkpoints are left,
  /// also of workers that wrote one meanwhile.
  bool finish(const std::function<void()>& work);

  // For run_parts() and ResumableRun; parts by their names.

  /// Takes a part for this worker; false while another has it.
  bool take(const std::string& part);
  void give_back(const std::string& part);
  /// Whether another worker may have this part, or what it belongs to, though
  /// it was taken here.
  bool has_lost(const std::string& part) const;
  /// Whether it belongs to a part that this worker has taken: it is then not
  /// shared any further.
  bool is_own(const std::string& part) const;
  bool is_done(const std::string& part);
  void mark_done(const std::string& part);
  /// Throws FinishedElsewhere when the run is finished.
  void check_not_finished();

 private:
  bool is_finished();
  collective::LeaseKeeper& leases() const { return job_->leases(); }
  /// Calls `create` in one worker; the others get what it returned.
  io::RunFolder folder_of_first(const std::function<io::RunFolder()>& create);

  collective::Job* job_;
};

}  // namespace radir::workflows
