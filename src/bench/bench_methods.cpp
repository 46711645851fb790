#include "radir/bench/bench_methods.h"

#include <algorithm>
#include <chrono>
#include <deque>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/network/spec.h"
#include "radir/posterior/family.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/step.h"

namespace radir::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kInputs = 13;
constexpr std::int64_t kHidden = 50;
constexpr std::int64_t kRows = 455;
constexpr int kStepsPerRound = 200;

/// A training whose steps are timed.
class Training {
 public:
  Training(const posterior::Family& family, const BenchMethodsOptions& options)
      : name_(family.name()),
        model_(spec(family)),
        state_(train::initial_state<float>(model_, options.seed, kRows)),
        step_(model_, options.batch) {
    settings_.data_count = kRows;
    settings_.kl_value = false;
  }

  const std::string& name() const { return name_; }

  /// Microseconds of one step.
  double time(const train::Batch<float>& batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kStepsPerRound; ++i) {
      step_.step(state_, batch, settings_);
    }
    const std::chrono::duration<double, std::micro> time = Clock::now() - start;
    return time.count() / kStepsPerRound;
  }

 private:
  static train::ModelSpec spec(const posterior::Family& family) {
    train::ModelSpec result;
    result.network = network::multilayer_perceptron(kInputs, {kHidden}, 1);
    result.weights = {family.default_options()};
    return result;
  }

  std::string name_;
  train::Model model_;
  train::TrainingState<float> state_;
  train::StepSettings settings_;
  train::CompiledStep<float> step_;
};

}  // namespace

std::vector<BenchMethodsRow> bench_methods(const BenchMethodsOptions& options) {
  RADIR_CHECK(options.rounds > 0 && options.batch > 0, ArgumentError,
              "bench step: rounds and batch must be positive");
  std::vector<float> inputs(static_cast<std::size_t>(options.batch * kInputs));
  std::vector<float> targets(static_cast<std::size_t>(options.batch));
  kernels::fill_normal({options.seed, 0, 0}, 0, options.batch * kInputs,
                       inputs.data());
  kernels::fill_normal({options.seed, 1, 0}, 0, options.batch, targets.data());
  train::Batch<float> batch;
  batch.inputs = inputs.data();
  batch.targets = targets.data();
  batch.count = options.batch;

  std::deque<Training> trainings;
  for (const posterior::Family* family : posterior::families()) {
    trainings.emplace_back(*family, options);
  }
  std::vector<std::vector<double>> times(trainings.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < trainings.size(); ++i) {
      times[i].push_back(trainings[i].time(batch));
    }
  }
  std::vector<BenchMethodsRow> rows;
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    const double median = times[i][times[i].size() / 2];
    // The first family is radial-directional.
    const double base = rows.empty() ? median : rows.front().median_us;
    rows.push_back(
        {trainings[i].name(), median, times[i].front(), median / base});
  }
  return rows;
}

report::Table bench_methods_table(const std::vector<BenchMethodsRow>& rows) {
  report::Table table;
  table.columns = {{"family", "family"},
                   {"median_us", "median (us)", 4},
                   {"min_us", "min (us)", 4},
                   {"ratio", "/ radial-directional", 3}};
  for (const BenchMethodsRow& row : rows) {
    table.rows.push_back({row.family, row.median_us, row.min_us, row.ratio});
  }
  return table;
}

}  // namespace radir::bench
