#include "radir/bench/bench_scale.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "radir/collective/job.h"
#include "radir/collective/shared_memory.h"
#include "radir/collective/store_server.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/kernels/random.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/train/compiled_step.h"
#include "radir/train/model.h"
#include "radir/train/sharded_sum.h"
#include "radir/train/step.h"
#include "radir/workflows/job_sharded_sum.h"

namespace radir::bench {
namespace {

constexpr std::int64_t kScaleRows = 10000;  // of the training set
constexpr double kRoundSeconds = 0.4;
const std::string kTrainingName = "bench";

double wall_seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Of this thread, or with CLOCK_PROCESS_CPUTIME_ID of all.
double processor_seconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Random examples of a network.
struct ScaleProblem {
  ScaleProblem(const std::string& network, std::int64_t size,
               std::uint64_t seed)
      : model(spec(network)) {
    inputs.resize(static_cast<std::size_t>(size * model.input_size()));
    targets.resize(static_cast<std::size_t>(size * model.target_size()));
    kernels::fill_normal({seed, 0, 0}, 0, size * model.input_size(),
                         inputs.data());
    kernels::fill_normal({seed, 1, 0}, 0, size * model.target_size(),
                         targets.data());
    for (std::int64_t i = 0; i < size; ++i) {
      labels.push_back(i % model.output_size());
    }
    batch.inputs = inputs.data();
    batch.targets = targets.data();
    batch.labels = labels.data();
    batch.count = size;
  }

  static train::ModelSpec spec(const std::string& network) {
    RADIR_CHECK(network == "uci" || network == "lenet5", ArgumentError,
                "bench scale: the networks are lenet5 and uci, but got \"",
                network, "\"");
    train::ModelSpec result;
    if (network == "uci") {
      result.network = network::multilayer_perceptron(13, {50}, 1);
    } else {
      result.network = network::lenet5();
      result.likelihood.kind = likelihood::Kind::Categorical;
    }
    return result;
  }

  train::Model model;
  std::vector<float> inputs;
  std::vector<float> targets;
  std::vector<std::int64_t> labels;
  train::Batch<float> batch;
};

/// A training whose steps are timed.
class ScaleTraining {
 public:
  ScaleTraining(const ScaleProblem& problem, std::uint64_t seed, int threads,
                train::ShardedSum* sharded)
      : problem_(problem),
        pool_(threads),
        state_(train::initial_state<float>(problem.model, seed, kScaleRows)),
        sharded_(sharded),
        step_(problem.model, problem.batch.count, &pool_, nullptr, sharded) {
    settings_.data_count = kScaleRows;
    settings_.kl_value = false;
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (sharded_ != nullptr) {
        sharded_->begin_step(kTrainingName, state_.step, [] {});
      }
      step_.step(state_, problem_.batch, settings_);
    }
  }

 private:
  const ScaleProblem& problem_;
  ThreadPool pool_;
  train::TrainingState<float> state_;
  train::StepSettings settings_;
  train::ShardedSum* sharded_;
  train::CompiledStep<float> step_;
};

/// All shards on this worker, and the processor time that they take.
class TimedSum : public train::ShardedSum {
 public:
  using ShardedSum::ShardedSum;

  void add_up(std::int64_t count, const train::ShardFunction& compute,
              float* sum) override {
    numbers = count;
    const double start = processor_seconds();
    compute(0, shards(), sum);
    seconds += processor_seconds() - start;
  }

  std::int64_t numbers = 0;
  double seconds = 0;
};

/// Workers of a job, each a thread with connections of its own to a store on
/// the loopback.
class Team {
 public:
  Team(int size, const BenchScaleOptions& options) : size_(size) {
    collective::StoreAddress address;
    address.token = collective::random_token();
    server_ = std::make_unique<collective::StoreServer>(address);
    address.port = server_->port();
    if (options.memory) memory_ = collective::SharedMemory::create(size);
    for (int rank = 0; rank < size; ++rank) {
      collective::JobSettings settings;
      settings.rank = rank;
      settings.size = size;
      settings.address = address;
      settings.has_store = true;
      if (memory_) settings.memory = memory_->place();
      jobs_.push_back(std::make_unique<collective::Job>(settings));
      sums_.push_back(std::make_unique<workflows::JobShardedSum>(
          *jobs_.back(), options.shards, nullptr, nullptr));
    }
  }

  int size() const { return size_; }
  train::ShardedSum* sum(int rank) {
    return sums_[static_cast<std::size_t>(rank)].get();
  }

  /// Wall time of `work(rank, sum)` in all workers at once.
  double run(const std::function<void(int, train::ShardedSum&)>& work) {
    const double start = wall_seconds();
    std::vector<std::future<void>> workers;
    for (int rank = 0; rank < size_; ++rank) {
      workers.push_back(std::async(std::launch::async,
                                   [&, rank] { work(rank, *sum(rank)); }));
    }
    for (std::future<void>& worker : workers) worker.get();
    return wall_seconds() - start;
  }

 private:
  int size_;
  std::unique_ptr<collective::StoreServer> server_;
  std::unique_ptr<collective::SharedMemory> memory_;
  std::vector<std::unique_ptr<collective::Job>> jobs_;
  std::vector<std::unique_ptr<workflows::JobShardedSum>> sums_;
};

/// What is timed for one network, in rounds.
class NetworkBench {
 public:
  NetworkBench(const std::string& network, const BenchScaleOptions& options)
      : problem_(network, options.batch, options.seed),
        timed_(options.shards),
        plain_(problem_, options.seed, 1, nullptr),
        two_threads_(problem_, options.seed, 2, nullptr),
        sharded_(problem_, options.seed, 1, &timed_) {
    result_.network = network;
    result_.batch = options.batch;
    for (const int workers : options.workers) {
      teams_.emplace_back(std::make_unique<Team>(workers, options));
      auto& trainings = shared_.emplace_back();
      for (int rank = 0; rank < workers; ++rank) {
        trainings.push_back(std::make_unique<ScaleTraining>(
            problem_, options.seed, 1, teams_.back()->sum(rank)));
      }
    }
    const double start = wall_seconds();
    plain_.run(1);
    plain_.run(3);
    steps_ = std::clamp(
        static_cast<int>(4 * kRoundSeconds / (wall_seconds() - start)), 2, 500);
    shared_times_.resize(teams_.size());
    shared_work_.resize(teams_.size());
  }

  void round() {
    const double plain = time_alone(plain_, plain_times_);
    const double plain_wall = last_wall_;
    const double sharded = time_alone(sharded_, sharded_times_);
    ratios_.push_back(sharded / plain);
    const double compute = std::exchange(timed_.seconds, 0) / steps_;
    divided_.push_back(compute);
    repeated_.push_back(std::max(0.0, sharded - compute));
    std::vector<double> ignored;
    time_alone(two_threads_, ignored);
    gains_.push_back(plain_wall / last_wall_);
    for (std::size_t i = 0; i < teams_.size(); ++i) {
      const double start = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
      const double seconds = teams_[i]->run([&](int rank, train::ShardedSum&) {
        shared_[i][static_cast<std::size_t>(rank)]->run(steps_);
      });
      shared_times_[i].push_back(seconds / steps_);
      shared_work_[i].push_back(
          (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / steps_);
    }
  }

  BenchScaleNetwork result() {
    result_.plain_us = 1e6 * median_of(plain_times_);
    result_.sharded_us = 1e6 * median_of(sharded_times_);
    result_.ratio = median_of(ratios_);
    result_.two_threads_gain = median_of(gains_);
    result_.cost = {median_of(divided_), median_of(repeated_), timed_.numbers};
    for (std::size_t i = 0; i < teams_.size(); ++i) {
      result_.rows.push_back({teams_[i]->size(),
                              1e6 * median_of(shared_times_[i]),
                              1e6 * median_of(shared_work_[i]), 0});
    }
    return result_;
  }

 private:
  double time_alone(ScaleTraining& training, std::vector<double>& times) {
    const double wall = wall_seconds();
    const double start = processor_seconds();
    training.run(steps_);
    times.push_back((processor_seconds() - start) / steps_);
    last_wall_ = (wall_seconds() - wall) / steps_;
    return times.back();
  }

  ScaleProblem problem_;
  TimedSum timed_;
  ScaleTraining plain_;
  ScaleTraining two_threads_;
  ScaleTraining sharded_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<std::vector<std::unique_ptr<ScaleTraining>>> shared_;
  int steps_ = 1;
  double last_wall_ = 0;
  std::vector<double> plain_times_, sharded_times_, ratios_, gains_;
  std::vector<double> divided_, repeated_;
  std::vector<std::vector<double>> shared_times_, shared_work_;
  BenchScaleNetwork result_;
};

/// Sums of these sizes by each number of workers that has something to
/// exchange, and nothing else.
std::vector<Exchange> time_exchanges(const BenchScaleOptions& options,
                                     const std::vector<std::int64_t>& sizes) {
  constexpr int kSums = 10;
  std::vector<Exchange> result;
  for (const int workers : options.workers) {
    if (workers == 1) continue;
    Team team(workers, options);
    std::vector<std::int64_t> steps(static_cast<std::size_t>(workers));
    for (const std::int64_t numbers : sizes) {
      std::vector<std::vector<float>> sums(
          static_cast<std::size_t>(workers),
          std::vector<float>(static_cast<std::size_t>(numbers)));
      const auto nothing = [](std::int64_t, std::int64_t, float*) {};
      std::vector<double> times;
      for (int round = 0; round < options.rounds; ++round) {
        times.push_back(team.run([&](int rank, train::ShardedSum& sum) {
          const auto at = static_cast<std::size_t>(rank);
          for (int i = 0; i < kSums; ++i) {
            sum.begin_step(kTrainingName, steps[at]++, [] {});
            sum.add_up(numbers, nothing, sums[at].data());
          }
        }) / kSums);
      }
      result.push_back({workers, numbers, median_of(times)});
    }
  }
  return result;
}

}  // namespace

BenchScaleResult bench_scale(const BenchScaleOptions& options) {
  RADIR_CHECK(options.rounds > 0, ArgumentError,
              "bench scale: rounds must be positive, but is ", options.rounds);
  RADIR_CHECK(options.batch > 0, ArgumentError,
              "bench scale: the batch must be positive, but is ",
              options.batch);
  RADIR_CHECK(!options.networks.empty() && !options.workers.empty(),
              ArgumentError,
              "bench scale: there must be networks and numbers of workers");
  for (const int workers : options.workers) {
    RADIR_CHECK(workers > 0, ArgumentError,
                "bench scale: workers must be positive, but is ", workers);
  }
  BenchScaleResult result;
  result.cores = ThreadPool().size();
  std::vector<std::int64_t> sizes = {1, 100000};
  for (const std::string& network : options.networks) {
    NetworkBench bench(network, options);
    for (int round = 0; round < options.rounds; ++round) bench.round();
    result.networks.push_back(bench.result());
    sizes.push_back(result.networks.back().cost.numbers);
  }
  BenchScaleOptions between_machines = options;
  between_machines.memory = false;
  result.exchanges = time_exchanges(between_machines, sizes);
  if (result.exchanges.empty()) return result;
  result.exchange = fit_exchange(result.exchanges);
  result.exchange_here = options.memory
                             ? fit_exchange(time_exchanges(options, sizes))
                             : result.exchange;
  for (BenchScaleNetwork& network : result.networks) {
    for (BenchScaleRow& row : network.rows) {
      row.model_us = 1e6 * step_seconds_here(network.cost, result.exchange_here,
                                             row.workers, result.cores);
    }
  }
  return result;
}

}  // namespace radir::bench
