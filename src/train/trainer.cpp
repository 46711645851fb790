#include "radir/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/kernels/random.h"
#include "radir/train/evaluation.h"
#include "radir/train/method.h"
#include "train/check_data.h"
#include "train/step_constants.h"

namespace radir::train {
namespace {

/// Stream of the noise of augmentations.
constexpr std::uint32_t kAugmentationStream = kShuffleStream + 1;

/// Examples of one's own.
template <typename T>
struct Examples {
  std::vector<T> inputs;
  std::vector<T> targets;
  std::vector<std::int64_t> labels;

  void add_target(const Model& model, const DataView<T>& data,
                  std::int64_t row) {
    if (data.labels != nullptr) {
      labels.push_back(data.labels[row]);
    } else {
      const T* target = data.targets + row * model.target_size();
      targets.insert(targets.end(), target, target + model.target_size());
    }
  }
};

/// A copy of the chosen examples.
template <typename T>
struct Subset : Examples<T> {
  Subset(const Model& model, const DataView<T>& data,
         const std::vector<std::int64_t>& rows) {
    for (std::int64_t row : rows) {
      const T* input = data.inputs + row * model.input_size();
      this->inputs.insert(this->inputs.end(), input,
                          input + model.input_size());
      this->add_target(model, data, row);
    }
    view.inputs = this->inputs.data();
    view.targets = this->targets.empty() ? nullptr : this->targets.data();
    view.labels = this->labels.empty() ? nullptr : this->labels.data();
    view.count = static_cast<std::int64_t>(rows.size());
  }

  DataView<T> view;
};

template <typename T>
class Run {
 public:
  Run(const Model& model, const DataView<T>& data,
      const TrainerOptions& options, Execution execution,
      Resumption<T> resumption)
      : model_(model),
        data_(data),
        options_(options),
        execution_(execution),
        between_steps_(std::move(resumption.between_steps)),
        rows_(shuffled(data.count, options.seed, kValidationEpoch)),
        validation_rows_(split_validation()),
        validation_(model, data, validation_rows_),
        method_(
            find_method(options.method)
                .make<T>({model, count(), options.batch_size, options.optimizer,
                          execution, options.hmc, options.sharded})) {
    RADIR_CHECK(!method_->is_sampler() || options.validation_share == 0,
                ArgumentError, "training: the method ", options.method,
                " makes no use of a validation part; validation_share must be ",
                "0");
    if (method_->is_sampler()) {
      check_memory({options.hmc.kept, model.parameter_count(),
                    static_cast<std::int64_t>(sizeof(T))},
                   "the kept draws of a chain",
                   "keep fewer of them or use a smaller network");
    }
    if (resumption.from) {
      progress_ = std::move(*resumption.from);
      check_progress();
    } else {
      progress_.state = method_->initial_state(options.seed);
      if (!method_->is_sampler()) {
        progress_.parameters = progress_.state.parameters;
      }
    }
    for (const EpochReport& report : progress_.history) count_score(report);
  }

  TrainingResult<T> operator()(const EpochCallback<T>& callback) {
    const auto start = std::chrono::steady_clock::now();
    const double earlier =
        progress_.history.empty() ? 0 : progress_.history.back().seconds;
    while (!is_finished()) {
      std::optional<EpochReport> report = train_epoch();
      if (!report) break;  // stopped between two steps
      validate(*report);
      select(*report);
      report->seconds = earlier + std::chrono::duration<double>(
                                      std::chrono::steady_clock::now() - start)
                                      .count();
      progress_.history.push_back(*report);
      thin_history();
      if (callback && !callback(*report, progress_.state)) break;
    }
    if (options_.kept_parameters == KeptParameters::Last &&
        !method_->is_sampler()) {
      progress_.parameters = progress_.state.parameters;
      progress_.selected_epoch = whole_epochs();
    }
    return std::move(progress_);
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }
  std::int64_t batches() const {
    const std::int64_t size = method_->batch_size();
    return (count() + size - 1) / size;
  }
  std::int64_t whole_epochs() const {
    return progress_.history.empty() ? 0 : progress_.history.back().epoch;
  }
  bool is_finished() const {
    return whole_epochs() == options_.epochs ||
           (options_.patience > 0 &&
            validations_without_better_ >= options_.patience);
  }

  /// Progress of another training is refused.
  void check_progress() const {
    const TrainingState<T>& state = progress_.state;
    const TrainingState<T> fresh = method_->initial_state(options_.seed);
    const std::size_t size = fresh.parameters.size();
    RADIR_CHECK(
        state.parameters.size() == size &&
            have_same_slots(state.optimizer, fresh.optimizer) &&
            (method_->is_sampler() || progress_.parameters.size() == size),
        ArgumentError, "resumed training: the model has ", size,
        " parameters, but the progress is that of another, with ",
        state.parameters.size());
    RADIR_CHECK(state.seed == options_.seed, ArgumentError,
                "resumed training: the progress was made with the seed ",
                state.seed, ", but the seed is ", options_.seed);
    const std::int64_t into_epoch = state.step - whole_epochs() * batches();
    RADIR_CHECK(whole_epochs() <= options_.epochs && into_epoch >= 0 &&
                    into_epoch < batches() &&
                    (into_epoch == 0 || whole_epochs() < options_.epochs) &&
                    progress_.selected_epoch >= 0 &&
                    progress_.selected_epoch <= whole_epochs(),
                ArgumentError, "resumed training: ", state.step, " steps in ",
                whole_epochs(), " whole epochs (", progress_.selected_epoch,
                " selected) are not how far a training of ", options_.epochs,
                " epochs of ", batches(),
                " steps can come; the progress is that of ", "another");
  }

  /// Moves the validation part out of rows_.
  std::vector<std::int64_t> split_validation() {
    const auto kept = static_cast<std::int64_t>(std::llround(
        options_.validation_share * static_cast<double>(data_.count)));
    RADIR_CHECK(
        options_.validation_share == 0 || (kept > 0 && kept < data_.count),
        ArgumentError, "training: a validation share of ",
        options_.validation_share, " leaves no examples on one side ", "of ",
        data_.count);
    std::vector<std::int64_t> aside(rows_.end() - kept, rows_.end());
    rows_.resize(rows_.size() - static_cast<std::size_t>(kept));
    return aside;
  }

  /// The rest of the running epoch; no report when it was stopped.
  std::optional<EpochReport> train_epoch() {
    const std::int64_t epoch = whole_epochs() + 1;
    const std::vector<std::int64_t> order =
        shuffled(count(), options_.seed, epoch);
    const std::int64_t size = method_->batch_size();
    const double total =
        static_cast<double>(batches()) * static_cast<double>(options_.epochs);
    indices_.resize(static_cast<std::size_t>(size));

    TrainingState<T>& state = progress_.state;
    StepSettings settings;
    settings.data_count = count();
    settings.samples = options_.samples;
    settings.max_gradient_norm = options_.max_gradient_norm;
    settings.scale_rate = options_.scale_rate;
    settings.penalty = options_.penalty.get();
    EpochReport report;
    report.epoch = epoch;
    for (std::int64_t batch = state.step - (epoch - 1) * batches();
         batch < batches(); ++batch) {
      if (between_steps_ && !between_steps_(progress_)) return std::nullopt;
      const double progress = static_cast<double>(state.step) / total;
      settings.kl_weight = options_.kl(progress);
      settings.optimizer = options_.optimizer;
      settings.optimizer.learning_rate *= options_.learning_rate(progress);
      Batch<T> examples{data_.inputs, data_.targets, data_.labels,
                        indices_.data(),
                        std::min(size, count() - batch * size)};
      for (std::int64_t i = 0; i < examples.count; ++i) {
        indices_[static_cast<std::size_t>(i)] = rows_[static_cast<std::size_t>(
            order[static_cast<std::size_t>(batch * size + i)])];
      }
      if (data_.augmentation) augment(examples);
      settings.kl_value = batch + 1 == batches();
      const StepLoss loss = method_->step(state, examples, settings);
      if (method_->is_sampler()) {
        method_->keep_draw(state, progress_.parameters);
      }
      const double share =
          static_cast<double>(examples.count) / static_cast<double>(count());
      progress_.epoch_nll += share * loss.nll;
      report.kl = loss.kl;
    }
    report.step = state.step;
    report.nll = std::exchange(progress_.epoch_nll, 0);
    report.kl_weight = settings.kl_weight;
    report.learning_rate = settings.optimizer.learning_rate;
    return report;
  }

  /// Checkpoints hold the history, which must not grow without end. What
  /// selection and early stopping follow from stays.
  void thin_history() {
    std::vector<EpochReport>& history = progress_.history;
    if (static_cast<std::int64_t>(history.size()) < thin_at_) return;
    const std::int64_t every =
        std::max<std::int64_t>(1, options_.epochs / kHistoryPoints);
    const auto is_kept = [&](const EpochReport& report) {
      return report.epoch % every == 0 ||
             report.epoch == progress_.selected_epoch ||
             report.epoch == history.back().epoch ||
             (options_.patience > 0 && score(report) &&
              report.epoch > progress_.selected_epoch);
    };
    std::vector<EpochReport> kept;
    std::copy_if(history.begin(), history.end(), std::back_inserter(kept),
                 is_kept);
    history = std::move(kept);
    thin_at_ =
        std::max(kMostReports, 2 * static_cast<std::int64_t>(history.size()));
  }

  /// Replaces a batch by changed copies of its examples.
  void augment(Batch<T>& batch) {
    const std::int64_t width = model_.input_size();
    augmented_.inputs.resize(static_cast<std::size_t>(batch.count * width));
    augmented_.targets.clear();
    augmented_.labels.clear();
    std::vector<double> noise(static_cast<std::size_t>(batch.count));
    kernels::fill_uniform({options_.seed, kAugmentationStream,
                           static_cast<std::uint64_t>(progress_.state.step)},
                          0, batch.count, noise.data());
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const std::int64_t row = batch.indices[i];
      data_.augmentation(data_.inputs + row * width,
                         noise[static_cast<std::size_t>(i)],
                         augmented_.inputs.data() + i * width);
      augmented_.add_target(model_, data_, row);
    }
    batch = {augmented_.inputs.data(), augmented_.targets.data(),
             augmented_.labels.data(), nullptr, batch.count};
  }

  void validate(EpochReport& report) const {
    if (validation_.view.count == 0) return;
    if (report.epoch % options_.validation_every != 0 &&
        report.epoch != options_.epochs) {
      return;
    }
    report.validation_nll =
        predictive_nll(model_, progress_.state.parameters, validation_.view,
                       options_.validation_samples, options_.seed, execution_);
  }

  /// What epochs are compared by, the lower the better; none for an epoch that
  /// cannot be selected.
  std::optional<double> score(const EpochReport& report) const {
    switch (options_.kept_parameters) {
      case KeptParameters::LowestTrainingLoss:
        if (report.epoch <= options_.epochs - options_.selection_window) break;
        return report.nll;
      case KeptParameters::LowestValidationLoss:
        return report.validation_nll;
      case KeptParameters::Last:
        break;
    }
    return std::nullopt;
  }

  /// Whether the epoch is the best so far.
  bool count_score(const EpochReport& report) {
    const std::optional<double> found = score(report);
    if (!found) return false;
    ++validations_without_better_;
    if (!(*found < best_score_)) return false;
    best_score_ = *found;
    validations_without_better_ = 0;
    return true;
  }

  void select(EpochReport& report) {
    if (method_->is_sampler() || !count_score(report)) return;
    report.selected = true;
    progress_.parameters = progress_.state.parameters;
    progress_.selected_epoch = report.epoch;
  }

  const Model& model_;
  DataView<T> data_;
  TrainerOptions options_;
  Execution execution_;
  ProgressCallback<T> between_steps_;
  std::vector<std::int64_t> rows_;  // of the training part
  std::vector<std::int64_t> validation_rows_;
  Subset<T> validation_;
  std::unique_ptr<Method<T>> method_;
  TrainerProgress<T> progress_;
  std::vector<std::int64_t> indices_;
  Examples<T> augmented_;
  std::int64_t thin_at_ = kMostReports;  // reports
  // Both follow from the history.
  double best_score_ = std::numeric_limits<double>::infinity();
  std::int64_t validations_without_better_ = 0;
};

/// Throws MemoryError when the arrays that every training has do not fit:
/// parameters, the best of them, their gradient, what the optimiser keeps, and
/// the drawn weights and their gradient.
template <typename T>
void check_fits_memory(const Model& model, const TrainerOptions& options) {
  constexpr std::int64_t kAlways = 3;
  constexpr std::int64_t kAdamSlots = 2;
  const std::int64_t slots = options.method == "elbo" ? kAdamSlots : 0;
  std::int64_t weights = 0;
  for (const WeightedLayer& layer : model.layers()) {
    weights += layer.shape.size() + layer.bias_size;
  }
  check_memory({model.parameter_count() * (kAlways + slots) + 2 * weights,
                static_cast<std::int64_t>(sizeof(T))},
               "the training of this network",
               "use a smaller network, such as --hidden 50");
}

}  // namespace

void check(const TrainerOptions& options) {
  const auto positive = [](std::int64_t value, const char* name) {
    RADIR_CHECK(value > 0, ArgumentError, "trainer options: ", name,
                " must be positive, but is ", value);
  };
  positive(options.epochs, "epochs");
  positive(options.batch_size, "batch_size");
  positive(options.samples, "samples");
  positive(options.validation_samples, "validation_samples");
  positive(options.validation_every, "validation_every");
  positive(options.selection_window, "selection_window");
  RADIR_CHECK(options.patience >= 0, ArgumentError,
              "trainer options: patience must be at least 0, but is ",
              options.patience);
  RADIR_CHECK(options.validation_share >= 0 && options.validation_share < 1,
              ArgumentError, "trainer options: validation_share must be in ",
              "[0, 1), but is ", options.validation_share);
  RADIR_CHECK(options.scale_rate >= 0, ArgumentError,
              "trainer options: scale_rate must be at least 0, but is ",
              options.scale_rate);
  RADIR_CHECK(options.sharded == nullptr || options.method == "elbo",
              UnsupportedError, "training: the method ", options.method,
              " cannot compute a batch in shards; leave --shards out, or ",
              "choose a method that takes gradient steps, such as rdp");
  check_settings("trainer options", options.optimizer);
  RADIR_CHECK(options.max_gradient_norm >= 0, ArgumentError,
              "trainer options: max_gradient_norm must be at least 0, but is ",
              options.max_gradient_norm);
  const bool validated =
      options.kept_parameters == KeptParameters::LowestValidationLoss ||
      options.patience > 0;
  RADIR_CHECK(!validated || options.validation_share > 0, ArgumentError,
              "trainer options: choosing or stopping by validation needs a ",
              "validation_share above 0");
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed,
                                   std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> uniform(order.size());
  kernels::fill_uniform(
      {seed, kShuffleStream, static_cast<std::uint64_t>(epoch)}, 0, count,
      uniform.data());
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto j =
        static_cast<std::size_t>(uniform[i - 1] * static_cast<double>(i));
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

template <typename T>
TrainingResult<T> fit(const Model& model, const DataView<T>& data,
                      const TrainerOptions& options,
                      const EpochCallback<T>& callback, Execution execution,
                      Resumption<T> resumption) {
  check(options);
  check_data(model, data);
  check_fits_memory<T>(model, options);
  return Run<T>(model, data, options, execution,
                std::move(resumption))(callback);
}

template TrainingResult<float> fit<float>(const Model&, const DataView<float>&,
                                          const TrainerOptions&,
                                          const EpochCallback<float>&,
                                          Execution, Resumption<float>);
template TrainingResult<double> fit<double>(const Model&,
                                            const DataView<double>&,
                                            const TrainerOptions&,
                                            const EpochCallback<double>&,
                                            Execution, Resumption<double>);

}  // namespace radir::train
