#include "radir/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/train/evaluation.h"

namespace radir::train {
namespace {

/// Streams of the trainer's own random numbers, far from those of the weights.
constexpr std::uint32_t kShuffleStream = 0x40000000;
/// The epoch whose order picks the validation part.
constexpr std::int64_t kValidationEpoch = 0;

template <typename T>
void check_data(const Model& model, const DataView<T>& data) {
  RADIR_CHECK(data.count > 0, ArgumentError,
              "training: the data set has no examples");
  RADIR_CHECK(data.inputs != nullptr, ArgumentError,
              "training: the data set has no inputs");
  const auto check_finite = [&](const T* values, std::int64_t width,
                                const char* what) {
    for (std::int64_t i = 0; i < data.count * width; ++i) {
      RADIR_CHECK(std::isfinite(values[i]), DomainError, "training: ", what,
                  " ", i % width, " of example ", i / width, " is ", values[i],
                  "; remove or fill such examples first");
    }
  };
  check_finite(data.inputs, model.input_size(), "input");
  if (model.spec().likelihood.kind == Likelihood::Kind::Categorical) {
    RADIR_CHECK(data.labels != nullptr, ArgumentError,
                "training: a classifier needs labels");
    for (std::int64_t i = 0; i < data.count; ++i) {
      RADIR_CHECK(data.labels[i] >= 0 && data.labels[i] < model.output_size(),
                  DomainError, "training: the label of example ", i, " is ",
                  data.labels[i], ", but there are ", model.output_size(),
                  " classes, from 0");
    }
    return;
  }
  RADIR_CHECK(data.targets != nullptr, ArgumentError,
              "training: a regression needs targets");
  check_finite(data.targets, model.target_size(), "target");
}

/// A copy of the chosen examples.
template <typename T>
struct Subset {
  std::vector<T> inputs;
  std::vector<T> targets;
  std::vector<std::int64_t> labels;

  Subset(const Model& model, const DataView<T>& data,
         const std::vector<std::int64_t>& rows) {
    for (std::int64_t row : rows) {
      const T* input = data.inputs + row * model.input_size();
      inputs.insert(inputs.end(), input, input + model.input_size());
      if (data.labels != nullptr) {
        labels.push_back(data.labels[row]);
      } else {
        const T* target = data.targets + row * model.target_size();
        targets.insert(targets.end(), target, target + model.target_size());
      }
    }
    view.inputs = inputs.data();
    view.targets = targets.empty() ? nullptr : targets.data();
    view.labels = labels.empty() ? nullptr : labels.data();
    view.count = static_cast<std::int64_t>(rows.size());
  }

  DataView<T> view;
};

template <typename T>
class Run {
 public:
  Run(const Model& model, const DataView<T>& data,
      const TrainerOptions& options, ThreadPool* pool)
      : model_(model),
        data_(data),
        options_(options),
        pool_(pool),
        rows_(shuffled(data.count, options.seed, kValidationEpoch)),
        validation_rows_(split_validation()),
        validation_(model, data, validation_rows_),
        step_(model, std::min(options.batch_size, count()), pool) {
    result_.state = initial_state<T>(model, options.seed, count());
    result_.parameters = result_.state.parameters;
  }

  TrainingResult<T> operator()(const EpochCallback<T>& callback) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t epoch = 1; epoch <= options_.epochs; ++epoch) {
      EpochReport report = train_epoch(epoch);
      validate(report);
      select(report);
      report.seconds = std::chrono::duration<double>(
                           std::chrono::steady_clock::now() - start)
                           .count();
      result_.history.push_back(report);
      if (callback && !callback(report, result_.state)) break;
      if (options_.patience > 0 &&
          validations_without_better_ >= options_.patience) {
        break;
      }
    }
    if (options_.selection == Selection::Last) {
      result_.parameters = result_.state.parameters;
      result_.selected_epoch =
          static_cast<std::int64_t>(result_.history.size());
    }
    return std::move(result_);
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }

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

  EpochReport train_epoch(std::int64_t epoch) {
    const std::vector<std::int64_t> order =
        shuffled(count(), options_.seed, epoch);
    const std::int64_t size = options_.batch_size;
    const std::int64_t batches = (count() + size - 1) / size;
    const double total =
        static_cast<double>(batches) * static_cast<double>(options_.epochs);
    indices_.resize(static_cast<std::size_t>(std::min(size, count())));

    StepSettings settings;
    settings.data_count = count();
    settings.samples = options_.samples;
    settings.max_gradient_norm = options_.max_gradient_norm;
    EpochReport report;
    report.epoch = epoch;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const double progress = static_cast<double>(result_.state.step) / total;
      settings.kl_weight = options_.kl(progress);
      settings.adam = options_.adam;
      settings.adam.learning_rate *= options_.learning_rate(progress);
      Batch<T> examples{data_.inputs, data_.targets, data_.labels,
                        indices_.data(),
                        std::min(size, count() - batch * size)};
      for (std::int64_t i = 0; i < examples.count; ++i) {
        indices_[static_cast<std::size_t>(i)] = rows_[static_cast<std::size_t>(
            order[static_cast<std::size_t>(batch * size + i)])];
      }
      settings.kl_value = batch + 1 == batches;
      const StepLoss loss = step_.step(result_.state, examples, settings);
      const double share =
          static_cast<double>(examples.count) / static_cast<double>(count());
      report.nll += share * loss.nll;
      report.kl = loss.kl;
    }
    report.step = result_.state.step;
    report.kl_weight = settings.kl_weight;
    report.learning_rate = settings.adam.learning_rate;
    return report;
  }

  void validate(EpochReport& report) const {
    if (validation_.view.count == 0) return;
    if (report.epoch % options_.validation_every != 0 &&
        report.epoch != options_.epochs) {
      return;
    }
    report.validation_nll =
        predictive_nll(model_, result_.state.parameters, validation_.view,
                       options_.validation_samples, options_.seed, pool_);
  }

  void select(EpochReport& report) {
    double score = std::numeric_limits<double>::infinity();
    switch (options_.selection) {
      case Selection::Last:
        return;
      case Selection::LowestTrainingLoss:
        if (report.epoch <= options_.epochs - options_.selection_window) {
          return;
        }
        score = report.nll;
        break;
      case Selection::LowestValidationLoss:
        if (!report.validation_nll) return;
        score = *report.validation_nll;
        break;
    }
    ++validations_without_better_;
    if (!(score < best_score_)) return;
    best_score_ = score;
    validations_without_better_ = 0;
    report.selected = true;
    result_.parameters = result_.state.parameters;
    result_.selected_epoch = report.epoch;
  }

  const Model& model_;
  DataView<T> data_;
  TrainerOptions options_;
  ThreadPool* pool_;
  std::vector<std::int64_t> rows_;  // of the training part
  std::vector<std::int64_t> validation_rows_;
  Subset<T> validation_;
  CompiledStep<T> step_;
  TrainingResult<T> result_;
  std::vector<std::int64_t> indices_;
  double best_score_ = std::numeric_limits<double>::infinity();
  std::int64_t validations_without_better_ = 0;
};

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
  RADIR_CHECK(options.max_gradient_norm >= 0, ArgumentError,
              "trainer options: max_gradient_norm must be at least 0, but is ",
              options.max_gradient_norm);
  const bool validated = options.selection == Selection::LowestValidationLoss ||
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
                      const EpochCallback<T>& callback, ThreadPool* pool) {
  check(options);
  check_data(model, data);
  return Run<T>(model, data, options, pool)(callback);
}

template TrainingResult<float> fit<float>(const Model&, const DataView<float>&,
                                          const TrainerOptions&,
                                          const EpochCallback<float>&,
                                          ThreadPool*);
template TrainingResult<double> fit<double>(const Model&,
                                            const DataView<double>&,
                                            const TrainerOptions&,
                                            const EpochCallback<double>&,
                                            ThreadPool*);

}  // namespace radir::train
