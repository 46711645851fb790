#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "radir/core/device.h"
#include "radir/train/hmc_options.h"
#include "radir/train/penalty.h"
#include "radir/train/schedule.h"
#include "radir/train/sharded_sum.h"
#include "radir/train/step.h"

namespace radir::train {

/// Changes an example each time a step is to see it, such as by shifting an
/// image: reads `input` and writes as many numbers to `output`, by its
/// arguments alone. `noise` is another random number, from 0 to 1, at each
/// call.
template <typename T>
using Augmentation =
    std::function<void(const T* input, double noise, T* output)>;

/// Examples in memory owned by the caller.
template <typename T>
struct DataView {
  const T* inputs = nullptr;             ///< [count][input_size]
  const T* targets = nullptr;            ///< [count][target_size], or null
  const std::int64_t* labels = nullptr;  ///< [count], for classes
  std::int64_t count = 0;
  Augmentation<T> augmentation = nullptr;  ///< none: examples as they are
};

/// Which parameters a training run ends with.
enum class KeptParameters {
  Last,
  /// Of the last `selection_window` epochs, the one with the lowest training
  /// NLL (the article's choice).
  LowestTrainingLoss,
  /// The one with the lowest NLL on the validation part.
  LowestValidationLoss,
};

struct TrainerOptions {
  /// What each step does: the name of a Method (radir/train/method.h). Options
  /// that a method has no use for have no effect on it.
  std::string method = "elbo";
  std::int64_t epochs = 100;
  std::int64_t batch_size = 32;
  int samples = 1;
  Optimizer optimizer;
  LearningRateSchedule learning_rate;
  double scale_rate = 1;  ///< StepSettings::scale_rate
  KlSchedule kl = KlSchedule::constant();
  double max_gradient_norm = 0;  ///< 0: no limit
  /// Of several layers together, with the weight of the KL; null: none.
  std::shared_ptr<const Penalty> penalty;

  /// Share of the examples kept aside, drawn at random.
  double validation_share = 0;
  /// Weight samples behind a validation NLL.
  std::int64_t validation_samples = 20;
  /// Epochs between two validations.
  std::int64_t validation_every = 1;
  /// Stop after this many validations without a better one; 0: never.
  std::int64_t patience = 0;
  KeptParameters kept_parameters = KeptParameters::Last;
  std::int64_t selection_window = 10;

  HmcOptions hmc;  ///< of the methods "hmc" and "sghmc"

  /// Computes each batch in shards, alone or with other workers; null: as one.
  /// The bits then depend on the number of shards too. Of the method "elbo"
  /// alone; must outlive the fit.
  ShardedSum* sharded = nullptr;

  std::uint64_t seed = 0;
};

/// Throws ArgumentError that names the first invalid option.
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
  /// Since the start of the run; of a run that was stopped, the time between
  /// its last complete epoch and the stop does not count.
  double seconds = 0;
};

/// Called after each epoch with the report and the state; returning false
/// stops the training there.
template <typename T>
using EpochCallback =
    std::function<bool(const EpochReport&, const TrainingState<T>&)>;

/// Reports that a history holds before it is thinned to those of every
/// (epochs / kHistoryPoints)-th epoch.
constexpr std::int64_t kMostReports = 1000;
constexpr std::int64_t kHistoryPoints = 200;

/// The progress of a fit: between two steps all it needs to continue to the
/// same bits (the order of the data is a function of seed and epoch), at its
/// end the result.
template <typename T>
struct TrainerProgress {
  /// The selected ones; of a method that samples, all draws one after another.
  std::vector<T> parameters;
  TrainingState<T> state;  ///< after the last step
  /// Of the complete epochs; beyond kMostReports some hundred of them, the
  /// selected one and the last included.
  std::vector<EpochReport> history;
  std::int64_t selected_epoch = 0;  ///< 0: none yet
  /// What the steps of an incomplete epoch add to its mean NLL.
  double epoch_nll = 0;
};

template <typename T>
using TrainingResult = TrainerProgress<T>;

/// Called between two steps; returning false stops the training there. It is
/// called before every step, so it should be quick unless it has work to do.
template <typename T>
using ProgressCallback = std::function<bool(const TrainerProgress<T>&)>;

/// Makes a fit stoppable and resumable.
template <typename T>
struct Resumption {
  std::optional<TrainerProgress<T>> from;  ///< none: from the start
  ProgressCallback<T> between_steps;
};

/// Fits a model to data by the steps of TrainerOptions::method. The result
/// depends on the seed alone, not on the number of threads, nor on whether it
/// was reached in one go or resumed with the same model, data and options. A
/// resumed fit reports the epochs that end in it and returns the history of
/// all; one that was at its end returns at once.
///
/// Throws ArgumentError for options, data or progress that do not fit,
/// DomainError for data that is not finite (naming the example),
/// UnsupportedError for a model that the method cannot train, NumericalError
/// as CompiledStep::step does.
template <typename T>
TrainingResult<T> fit(const Model& model, const DataView<T>& data,
                      const TrainerOptions& options,
                      const EpochCallback<T>& callback = nullptr,
                      Execution execution = {}, Resumption<T> resumption = {});

/// A random order of 0 ... count - 1 that depends on (seed, epoch) alone.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed,
                                   std::int64_t epoch);

}  // namespace radir::train
