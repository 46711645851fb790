#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/io/run_folder.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

namespace radir::workflows {

/// Thrown out of a training that was asked to stop, after its checkpoint is
/// written.
class Interrupted : public Error {
 public:
  using Error::Error;
};

struct CheckpointOptions {
  std::chrono::milliseconds every = std::chrono::seconds(30);
  /// Asked between steps, from any thread; true stops all training of the run.
  std::function<bool()> stop_requested;
  /// Told, from any thread, of a checkpoint that could not be written; of the
  /// next one only after one that could. The training goes on and tries again
  /// when the next one is due.
  std::function<void(const std::string&)> warn;
};

/// Training in a run's folder that can be killed at any moment and gone on
/// with. Each network has a checkpoint of its own, which stays when it is
/// finished, so that nothing is trained twice; the bits that come out are those
/// of a run that was never stopped.
class ResumableRun {
 public:
  /// `folder` must outlive the object.
  ResumableRun(const io::RunFolder& folder, CheckpointOptions options);

  /// The same run under another name of its checkpoints: one for each network
  /// that is trained in it.
  ResumableRun part(const std::string& name) const;

  /// train::fit from the checkpoint of this part or, where there is none, from
  /// `start` (none: from random parameters). `configuration` (a JSON object)
  /// says all that decides the result; a checkpoint of another one is refused.
  /// `on_epoch` hears of epochs before the checkpoint too, first.
  ///
  /// Throws Interrupted when a stop was requested, IoError for a checkpoint
  /// that is damaged or of another configuration, and what train::fit throws.
  train::TrainingResult<float> fit(
      const std::string& configuration, const train::Model& model,
      const train::DataView<float>& data, const train::TrainerOptions& options,
      const std::function<bool(const train::EpochReport&)>& on_epoch = nullptr,
      ThreadPool* pool = nullptr,
      std::optional<train::TrainerProgress<float>> start = std::nullopt) const;

  /// For work that is no step: throws Interrupted when a stop was requested.
  void check_stop() const;

  /// The result of this part (of several networks, say) as it was kept; none
  /// where there is none or it cannot be read.
  std::optional<std::string> result() const;
  /// Keeps the result of this part, whose checkpoints then go. Throws IoError
  /// when it cannot be written; they then stay.
  void keep_result(const std::string& text) const;

 private:
  std::string result_file() const;

  const io::RunFolder* folder_;
  CheckpointOptions options_;
  std::shared_ptr<std::atomic<bool>> failing_;  // one for all parts
  std::string part_;
};

}  // namespace radir::workflows
