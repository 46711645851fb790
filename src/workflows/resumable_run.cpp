#include "radir/workflows/resumable_run.h"

#include <filesystem>
#include <utility>

#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/files/sha256.h"
#include "radir/io/checkpoint.h"
#include "radir/train/sharded_sum.h"
#include "radir/train/step.h"
#include "radir/workflows/shared_run.h"

namespace radir::workflows {
namespace {

using Clock = std::chrono::steady_clock;
using Progress = train::TrainerProgress<float>;

constexpr std::size_t kMostResultBytes = std::size_t{1} << 20;

/// Writes the checkpoints of one fit when they are due.
class CheckpointWriter {
 public:
  CheckpointWriter(std::string path, const std::string& configuration,
                   const CheckpointOptions& options, std::atomic<bool>& failing,
                   std::function<bool()> must_stop)
      : path_(std::move(path)),
        configuration_(configuration),
        options_(options),
        failing_(failing),
        must_stop_(std::move(must_stop)),
        due_(Clock::now() + options.every) {}

  /// Between two steps: false when the fit has to stop. A step takes a few
  /// microseconds, this a few nanoseconds.
  bool between_steps(const Progress& progress) {
    stopped_ = must_stop_();
    if (stopped_ || Clock::now() >= due_) write(progress);
    return !stopped_;
  }

  bool stopped() const { return stopped_; }

  /// Whether this is what was written or read last.
  bool has(const Progress& progress) const {
    return progress.state.step == written_step_;
  }

  void resumed_from(const Progress& progress) {
    written_step_ = progress.state.step;
  }

  /// A failure does not stop the training: the disk may have space later, and
  /// the last good checkpoint is still there. One network speaks for all.
  void write(const Progress& progress) {
    train::ShardedSum* const sharded = options_.sharded;
    if (has(progress)) return;
    // Whoever does not write need not ask the others in every step.
    if (sharded != nullptr && !(sharded->writes() && sharded->may_write())) {
      return;
    }
    try {
      io::write_checkpoint(path_, progress, configuration_);
      written_step_ = progress.state.step;
      failing_ = false;
    } catch (const IoError& error) {
      if (!failing_.exchange(true) && options_.warn) {
        options_.warn(std::string("the checkpoint was not written: ") +
                      error.what());
      }
    }
    due_ = Clock::now() + options_.every;
    leave_if_finished();
  }

 private:
  /// The others may have finished the run while this worker wrote, and have
  /// removed its checkpoints before.
  void leave_if_finished() const {
    try {
      if (options_.sharded != nullptr) options_.sharded->may_write();
      if (options_.shared != nullptr) options_.shared->check_not_finished();
    } catch (const FinishedElsewhere&) {
      std::error_code error;
      std::filesystem::remove(path_, error);
      throw;
    }
  }

  std::string path_;
  const std::string& configuration_;
  const CheckpointOptions& options_;
  std::atomic<bool>& failing_;  // whether the run's last attempt failed
  std::function<bool()> must_stop_;
  Clock::time_point due_;
  std::int64_t written_step_ = 0;  // the start needs no checkpoint
  bool stopped_ = false;
};

/// The number of shards decides the bits, too.
std::string with_shards(std::string configuration, std::int64_t shards) {
  RADIR_ASSERT(configuration.size() > 2 && configuration.back() == '}');
  configuration.pop_back();
  return configuration + ",\"shards\":" + std::to_string(shards) + "}";
}

constexpr std::string_view kSumKey = "{\"sha256\":\"";

/// The text of a JSON object with its checksum as the first key.
std::string with_sum(const std::string& text) {
  if (text.empty() || text.front() != '{') return text;
  const std::string rest = text.substr(1);
  return std::string(kSumKey) + files::sha256(text) + "\"" +
         (rest.rfind('}', 0) == 0 ? "" : ",") + rest;
}

/// The text that with_sum was given; none where it has changed since. Texts of
/// version 0.1 have no checksum.
std::optional<std::string> without_sum(const std::string& text) {
  constexpr std::size_t kDigits = 64;
  if (text.rfind(kSumKey, 0) != 0) return text;
  const std::string sum = text.substr(kSumKey.size(), kDigits);
  const std::size_t after = kSumKey.size() + kDigits + 1;
  if (after >= text.size()) return std::nullopt;
  const std::string original =
      "{" + text.substr(after + (text[after] == ',' ? 1 : 0));
  return files::sha256(original) == sum ? std::optional(original)
                                        : std::nullopt;
}

}  // namespace

ResumableRun::ResumableRun(const io::RunFolder& folder,
                           CheckpointOptions options)
    : folder_(&folder),
      options_(std::move(options)),
      failing_(std::make_shared<std::atomic<bool>>(false)) {}

ResumableRun ResumableRun::part(const std::string& name) const {
  ResumableRun result = *this;
  result.part_ += (part_.empty() ? "" : "-") + name;
  return result;
}

train::TrainingResult<float> ResumableRun::fit(
    const std::string& given, const train::Model& model,
    const train::DataView<float>& data, const train::TrainerOptions& trainer,
    const std::function<bool(const train::EpochReport&)>& on_epoch,
    ThreadPool* pool, std::optional<Progress> start) const {
  train::ShardedSum* const sharded = options_.sharded;
  train::TrainerOptions options = trainer;
  options.sharded = sharded;
  const std::string configuration =
      sharded == nullptr ? given : with_shards(given, sharded->shards());
  // Of a training that is begun again, each epoch is reported once.
  std::int64_t last_epoch = 0;
  const auto report = [&](const train::EpochReport& epoch) {
    if (epoch.epoch <= last_epoch) return true;
    last_epoch = epoch.epoch;
    return !on_epoch || on_epoch(epoch);
  };
  if (sharded == nullptr) {
    return fit_once(configuration, model, data, options, report, pool,
                    std::move(start));
  }
  for (;;) {
    try {
      return fit_once(configuration, model, data, options, report, pool, start);
    } catch (const Rejoin& error) {
      if (error.starts_over()) throw;
    }
  }
}

train::TrainingResult<float> ResumableRun::fit_once(
    const std::string& configuration, const train::Model& model,
    const train::DataView<float>& data, const train::TrainerOptions& options,
    const std::function<bool(const train::EpochReport&)>& on_epoch,
    ThreadPool* pool, std::optional<Progress> start) const {
  const std::string path = folder_->checkpoint_file(part_);
  CheckpointWriter writer(path, configuration, options_, *failing_,
                          [this] { return must_stop(); });
  train::Resumption<float> resumption;
  resumption.from = std::move(start);
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    resumption.from = io::read_checkpoint<float>(path, configuration);
    writer.resumed_from(*resumption.from);
    for (const train::EpochReport& report : resumption.from->history) {
      if (!on_epoch(report)) return std::move(*resumption.from);
    }
  } else if (options_.shared != nullptr && !options_.shared->is_own(part_) &&
             options_.shared->is_done(part_)) {
    throw FinishedElsewhere("the other workers have finished the run");
  }
  resumption.between_steps = [&](const Progress& progress) {
    if (!writer.between_steps(progress)) return false;
    if (options.sharded != nullptr) {
      options.sharded->begin_step(part_, progress.state.step, [&] {
        writer.write(progress);
        RADIR_CHECK(writer.has(progress), IoError, path, ": was not written");
      });
    }
    return true;
  };
  const auto report = [&on_epoch](const train::EpochReport& epoch,
                                  const train::TrainingState<float>&) {
    return on_epoch(epoch);
  };
  Progress result = train::fit<float>(model, data, options, report, pool,
                                      std::move(resumption));
  if (writer.stopped()) {
    throw Interrupted("the training was stopped on request");
  }
  const auto save = [&] { writer.write(result); };
  if (options.sharded != nullptr) {
    options.sharded->end(part_, save);
  } else {
    save();
  }
  return result;
}

bool ResumableRun::must_stop() const {
  return (options_.stop_requested && options_.stop_requested()) ||
         (options_.shared != nullptr && options_.shared->has_lost(part_));
}

void ResumableRun::check_stop() const {
  if (must_stop()) {
    throw Interrupted("the run was stopped on request");
  }
}

std::string ResumableRun::result_file() const {
  return folder_->file(part_ + ".json");
}

std::optional<std::string> ResumableRun::result() const {
  try {
    return without_sum(files::read_all(*files::open_byte_source(result_file()),
                                       kMostResultBytes));
  } catch (const IoError&) {
    return std::nullopt;
  }
}

void ResumableRun::keep_result(const std::string& text) const {
  if (options_.sharded != nullptr && !options_.sharded->may_write()) return;
  folder_->restore();
  files::write_file(result_file(), with_sum(text));
  folder_->remove_checkpoints(part_);
}

}  // namespace radir::workflows
