#include "train/fit_many.h"

#include <algorithm>
#include <utility>

#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/cuda_training.h"
#include "train/check_data.h"
#include "train/step_constants.h"
#include "train/training_plan.h"

namespace radir::train {
namespace {

/// Which of Adam's slots a device keeps.
constexpr const char* kFirstMoment = "first_moment";
constexpr const char* kSecondMoment = "second_moment";

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The arrays of a request, for all networks one after the other.
template <typename T>
class Fits {
 public:
  Fits(const Model& model, const DataView<T>& data,
       const TrainerOptions& options, const std::vector<std::uint64_t>& seeds)
      : options_(options), seeds_(seeds) {
    request_.plan = training_plan(model, options, data.count);
    numbers_ = step_numbers(request_.plan, options);
    for (std::uint64_t seed : seeds) {
      append(initial_state<T>(model, seed, data.count, options.optimizer));
      for (std::int64_t row : shuffled(data.count, seed, kValidationEpoch)) {
        row_order_.push_back(static_cast<std::int32_t>(row));
      }
    }
    reports_.resize(seeds.size() * index(request_.plan.reports()));
    outcomes_.resize(seeds.size());
    request_.numbers = numbers_.data();
    request_.inputs = data.inputs;
    request_.targets = data.targets;
    if (model.likelihood().has_labels()) {
      labels_.assign(data.labels, data.labels + data.count);
      request_.targets = labels_.data();
    }
    request_.end = request_.plan.steps();
    request_.networks = static_cast<std::int64_t>(seeds.size());
    request_.seeds = seeds_.data();
    request_.row_order = row_order_.data();
    request_.parameters = parameters_.data();
    request_.first_moment = first_moment_.data();
    request_.second_moment = second_moment_.data();
    request_.reports = reports_.data();
    request_.outcomes = outcomes_.data();
  }

  kernels::TrainingRequest<T>& request() { return request_; }

  /// Throws NumericalError for the first network whose training failed.
  void check() const {
    for (std::size_t n = 0; n < outcomes_.size(); ++n) {
      const kernels::TrainingOutcome& outcome = outcomes_[n];
      RADIR_CHECK(outcome.failed_step == 0, NumericalError,
                  "training: the loss or its gradient is not finite at step ",
                  outcome.failed_step, " (seed ", seeds_[n], ", nll ",
                  outcome.nll, "). Try a smaller learning rate or a gradient ",
                  "norm limit");
      RADIR_CHECK(outcome.unaccepted == 0, NumericalError,
                  "training: ", outcome.unaccepted,
                  " directions could not be drawn (seed ", seeds_[n],
                  "): no proposal was accepted, which has a ",
                  "probability below 1e-12 a step unless a parameter is not ",
                  "finite. Try a smaller learning rate");
    }
  }

  TrainingResult<T> result(std::size_t n) const {
    const kernels::TrainingPlan& plan = request_.plan;
    const auto part = [&](const std::vector<T>& all) {
      const auto begin =
          all.begin() + static_cast<std::ptrdiff_t>(n) * plan.parameters;
      return std::vector<T>(begin, begin + plan.parameters);
    };
    TrainingResult<T> result;
    result.parameters = part(parameters_);
    result.state = state_from(part(parameters_), seeds_[n], options_.optimizer);
    result.state.optimizer.slots[kFirstMoment] = part(first_moment_);
    result.state.optimizer.slots[kSecondMoment] = part(second_moment_);
    result.state.step = request_.done;
    result.epoch_nll = outcomes_[n].epoch_nll;
    const std::int64_t whole = request_.done / plan.batches;
    for (std::int64_t i = 0; i < plan.reports(); ++i) {
      EpochReport report = report_of(n, i);
      if (report.epoch > whole) break;
      report.seconds = request_.device_seconds *
                       static_cast<double>(report.epoch) /
                       static_cast<double>(std::max<std::int64_t>(1, whole));
      result.history.push_back(report);
    }
    result.selected_epoch = whole;
    return result;
  }

 private:
  void append(const TrainingState<T>& state) {
    const auto add = [](std::vector<T>& all, const std::vector<T>& one) {
      all.insert(all.end(), one.begin(), one.end());
    };
    add(parameters_, state.parameters);
    add(first_moment_, state.optimizer.slots.at(kFirstMoment));
    add(second_moment_, state.optimizer.slots.at(kSecondMoment));
  }

  EpochReport report_of(std::size_t n, std::int64_t i) const {
    const kernels::TrainingPlan& plan = request_.plan;
    const kernels::EpochLoss& loss =
        reports_[n * index(plan.reports()) + index(i)];
    EpochReport report;
    report.epoch = std::min(plan.epochs, (i + 1) * plan.report_every);
    report.step = report.epoch * plan.batches;
    report.nll = loss.nll;
    report.kl = loss.kl;
    const kernels::StepNumbers& last = numbers_[index(report.step - 1)];
    report.kl_weight = last.kl_weight;
    report.learning_rate = last.learning_rate;
    return report;
  }

  const TrainerOptions& options_;
  std::vector<std::uint64_t> seeds_;
  std::vector<kernels::StepNumbers> numbers_;
  std::vector<T> labels_;
  std::vector<std::int32_t> row_order_;
  std::vector<T> parameters_;
  std::vector<T> first_moment_;
  std::vector<T> second_moment_;
  std::vector<kernels::EpochLoss> reports_;
  std::vector<kernels::TrainingOutcome> outcomes_;
  kernels::TrainingRequest<T> request_;
};

}  // namespace

template <typename T>
std::vector<TrainingResult<T>> fit_many_by(
    const RequestRunner<T>& runner, const Model& model, const DataView<T>& data,
    const TrainerOptions& options, const std::vector<std::uint64_t>& seeds,
    const StepsCallback& callback) {
  if (seeds.empty()) return {};
  RADIR_CHECK(!data.augmentation, UnsupportedError,
              "training on cuda: changing the examples is not supported yet; ",
              "use --device cpu");
  Fits<T> fits(model, data, options, seeds);
  if (callback) {
    fits.request().proceed = [](void* context, std::int64_t steps) {
      return (*static_cast<const StepsCallback*>(context))(steps);
    };
    fits.request().context = const_cast<StepsCallback*>(&callback);
  }
  runner(fits.request());
  fits.check();
  std::vector<TrainingResult<T>> results;
  for (std::size_t n = 0; n < seeds.size(); ++n) {
    results.push_back(fits.result(n));
  }
  return results;
}

template <typename T>
std::vector<TrainingResult<T>> fit_many(const Model& model,
                                        const DataView<T>& data,
                                        const TrainerOptions& options,
                                        const std::vector<std::uint64_t>& seeds,
                                        Execution execution,
                                        const StepsCallback& callback) {
  check(options);
  check_data(model, data);
  if (execution.device == Device::Cuda) {
    return fit_many_by<T>(kernels::train_on_cuda<T>, model, data, options,
                          seeds, callback);
  }
  std::vector<TrainingResult<T>> results(seeds.size());
  const bool share = execution.pool != nullptr && seeds.size() > 1;
  run_tasks(share ? execution.pool : nullptr,
            static_cast<std::int64_t>(seeds.size()), [&](std::int64_t n) {
              TrainerOptions own = options;
              own.seed = seeds[index(n)];
              const auto on_epoch = [&](const EpochReport& report,
                                        const TrainingState<T>&) {
                return !callback || callback(report.step);
              };
              results[index(n)] = fit<T>(model, data, own, on_epoch,
                                         share ? nullptr : execution.pool);
            });
  return results;
}

#define RADIR_INSTANTIATE(T)                                     \
  template std::vector<TrainingResult<T>> fit_many_by(           \
      const RequestRunner<T>&, const Model&, const DataView<T>&, \
      const TrainerOptions&, const std::vector<std::uint64_t>&,  \
      const StepsCallback&);                                     \
  template std::vector<TrainingResult<T>> fit_many(              \
      const Model&, const DataView<T>&, const TrainerOptions&,   \
      const std::vector<std::uint64_t>&, Execution, const StepsCallback&);
RADIR_INSTANTIATE(float)
RADIR_INSTANTIATE(double)
#undef RADIR_INSTANTIATE

}  // namespace radir::train
