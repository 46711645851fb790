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
#include "radir/train/sharded_sum.h"
#include "radir/train/trainer.h"

namespace radir::workflows {

class SharedRun;

/// Thrown when training stops on request, after its checkpoint is written.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Thrown in a worker whose training is not where that of the others is: it
/// reads their checkpoint, or starts over where that is not enough.
class Rejoin : public Error {
 public:
  explicit Rejoin(const std::string& message, bool starts_over = false)
      : Error(message), starts_over_(starts_over) {}
  bool starts_over() const { return starts_over_; }

 private:
  bool starts_over_;
};

struct CheckpointOptions {
  std::chrono::milliseconds every = std::chrono::seconds(30);
  /// Called between steps, from any thread; true stops all training of the run.
  std::function<bool()> stop_requested;
  /// Called, from any thread, when a checkpoint could not be written, and not
  /// again until one was written. The training continues and tries again when
  /// the next checkpoint is due.
  std::function<void(const std::string&)> warn;
  /// Where several workers share the run; null: this process has all of it.
  SharedRun* shared = nullptr;
  /// TrainerOptions::sharded of every fit; null: none. All workers then do all
  /// parts together, one after another.
  train::ShardedSum* sharded = nullptr;
  /// What messages add to the command that resumes the run: where data that has
  /// moved is now, such as "--data new.csv".
  std::string resume_words = {};
};

/// Training in a run folder that can be killed at any moment and resumed. The
/// resulting bits are those of a run without interruption. Each network has its
/// own checkpoint, which is kept when the network is finished, so that nothing
/// is trained twice.
class ResumableRun {
 public:
  /// `folder` must outlive the object.
  ResumableRun(const io::RunFolder& folder, CheckpointOptions options);

  /// A part of this run, with its own checkpoints: one for each network.
  ResumableRun part(const std::string& name) const;
  /// Of this part, such as "yacht-split-0"; empty for the complete run.
  const std::string& name() const { return part_; }
  /// CheckpointOptions::shared
  SharedRun* shared() const { return options_.shared; }
  /// CheckpointOptions::sharded
  train::ShardedSum* sharded() const { return options_.sharded; }

  /// train::fit from the checkpoint of this part or, where there is none, from
  /// `start` (none: from random parameters). `configuration` (a JSON object)
  /// contains everything that determines the result; a checkpoint with another
  /// configuration is rejected. `on_epoch` is first called for the epochs
  /// before the checkpoint.
  ///
  /// Throws Interrupted when a stop was requested, IoError for a checkpoint
  /// that is damaged or of another configuration, and what train::fit throws.
  /// Of a shared run, Interrupted too when the lease of this part was lost, and
  /// FinishedElsewhere when the run was finished by the other workers. With
  /// CheckpointOptions::sharded, Rejoin when this worker has to start over.
  train::TrainingResult<float> fit(
      const std::string& configuration, const train::Model& model,
      const train::DataView<float>& data, const train::TrainerOptions& options,
      const std::function<bool(const train::EpochReport&)>& on_epoch = nullptr,
      ThreadPool* pool = nullptr,
      std::optional<train::TrainerProgress<float>> start = std::nullopt) const;

  /// For work other than training steps: throws Interrupted when a stop was
  /// requested, or the lease of this part was lost.
  void check_stop() const;

  /// The stored result of this part; empty if there is none or it cannot be
  /// read.
  std::optional<std::string> result() const;
  /// Stores the result of this part and deletes its checkpoints. Throws IoError
  /// when it cannot be written; the checkpoints are then kept.
  void keep_result(const std::string& text) const;

 private:
  train::TrainingResult<float> fit_once(
      const std::string& configuration, const train::Model& model,
      const train::DataView<float>& data, const train::TrainerOptions& options,
      const std::function<bool(const train::EpochReport&)>& on_epoch,
      ThreadPool* pool,
      std::optional<train::TrainerProgress<float>> start) const;
  std::string result_file() const;
  bool must_stop() const;

  const io::RunFolder* folder_;
  CheckpointOptions options_;
  std::shared_ptr<std::atomic<bool>> failing_;  // one for all parts
  std::string part_;
};

}  // namespace radir::workflows
