#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "radir/core/thread_pool.h"
#include "radir/train/compiled_step.h"
#include "radir/train/schedule.h"

namespace radir::train {

/// Examples in memory that somebody else owns.
template <typename T>
struct DataView {
  const T* inputs = nullptr;             ///< [count][input_size]
  const T* targets = nullptr;            ///< [count][target_size], or null
  const std::int64_t* labels = nullptr;  ///< [count], for classes
  std::int64_t count = 0;
};

/// Which parameters a training run ends with.
enum class Selection {
  Last,
  /// Of the last `selection_window` epochs, the one with the lowest training
  /// NLL (the article's choice).
  LowestTrainingLoss,
  /// The one with the lowest NLL on the validation part.
  LowestValidationLoss,
};

struct TrainerOptions {
  std::int64_t epochs = 100;
  std::int64_t batch_size = 32;
  int samples = 1;
  kernels::AdamOptions adam;
  LearningRateSchedule learning_rate;
  KlSchedule kl = KlSchedule::constant();
  double max_gradient_norm = 0;  ///< 0: no limit

  /// Share of the examples kept aside, drawn at random.
  double validation_share = 0;
  /// Weight samples behind a validation NLL.
  std::int64_t validation_samples = 20;
  /// Epochs between two validations.
  std::int64_t validation_every = 1;
  /// Stop after this many validations without a better one; 0: never.
  std::int64_t patience = 0;
  Selection selection = Selection::Last;
  std::int64_t selection_window = 10;

  std::uint64_t seed = 0;
};

/// Throws ArgumentError that names the first option that makes no sense.
void check(const TrainerOptions& options);

/// What is known at the end of an epoch.
struct EpochReport {
  std::int64_t epoch = 0;  ///< 1, 2, ...
  std::int64_t step = 0;
  double nll = 0;  ///< mean over the epoch, nats per example
  double kl = 0;   ///< at its last step, nats per example
  double kl_weight = 0;
  double learning_rate = 0;
  std::optional<double> validation_nll;
  bool selected = false;  ///< the best so far, by TrainerOptions::selection
  double seconds = 0;     ///< since the start of the run
};

/// Called after each epoch with the report and the state; returning false
/// stops the training there.
template <typename T>
using EpochCallback =
    std::function<bool(const EpochReport&, const TrainingState<T>&)>;

template <typename T>
struct TrainingResult {
  std::vector<T> parameters;  ///< the selected ones
  TrainingState<T> state;     ///< at the end
  std::vector<EpochReport> history;
  std::int64_t selected_epoch = 0;
};

/// Fits a model to data by minibatches of the compiled step. The result
/// depends on the seed alone, not on the number of threads.
///
/// Throws ArgumentError for options or data that do not fit, DomainError for
/// data that is not finite (naming the example), NumericalError as
/// CompiledStep::step does.
template <typename T>
TrainingResult<T> fit(const Model& model, const DataView<T>& data,
                      const TrainerOptions& options,
                      const EpochCallback<T>& callback = nullptr,
                      ThreadPool* pool = nullptr);

/// A random order of 0 ... count - 1 that depends on (seed, epoch) alone.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed,
                                   std::int64_t epoch);

}  // namespace radir::train
