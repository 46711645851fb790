#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/grid_kernel.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/training_kernel.h"
#include "radir/kernels/training_plan.h"

// The requests of all threads of the host, trained side by side.

namespace radir::kernels {

/// Threads of a network where each has a multiprocessor, and of one among many.
/// A network's bits do not depend on them.
constexpr int kThreadsAlone = 256;
constexpr int kThreadsOfMany = 128;
/// Networks of a multiprocessor at a time.
constexpr std::int64_t kMostNetworks = 4;
/// Time that a launch should take: a stop is noticed, and new requests begin,
/// between two.
constexpr double kLaunchSeconds = 0.2;
constexpr std::int64_t kFirstLaunchSteps = 1000;
constexpr std::int64_t kFirstLaunchStepsOfLarge = 100;
/// Shared memory that the system takes for each block of a multiprocessor.
constexpr std::int64_t kReservedShared = 1024;

/// The arrays of a request on the device.
template <typename T>
class DeviceRequest {
 public:
  DeviceRequest(const TrainingRequest<T>& request, const Stream& stream)
      : plan_(request.plan),
        n_(request.networks),
        all_(n_ * plan_.parameters),
        numbers_(stream, plan_.steps(), request.numbers),
        inputs_(stream, std::int64_t{plan_.rows} * plan_.inputs,
                request.inputs),
        targets_(stream, std::int64_t{plan_.rows} * plan_.targets,
                 request.targets),
        seeds_(stream, n_, request.seeds),
        row_order_(stream, n_ * plan_.rows, request.row_order),
        parameters_(stream, all_, request.parameters),
        first_(stream, all_, request.first_moment),
        second_(stream, all_, request.second_moment),
        gradient_(stream, request.gradient ? all_ : 0),
        reports_(stream, n_ * plan_.reports(), request.reports),
        outcomes_(stream, n_, request.outcomes),
        workspace_(stream, n_ * Placement::make<T>(plan_, 0).workspace_bytes) {}

  Launch<T> launch(const Placement& placement) const {
    Launch<T> launch = {};
    launch.plan = plan_;
    launch.placement = placement;
    launch.numbers = numbers_.get();
    launch.inputs = inputs_.get();
    launch.targets = targets_.get();
    launch.seeds = seeds_.get();
    launch.row_order = row_order_.get();
    launch.parameters = parameters_.get();
    launch.first_moment = first_.get();
    launch.second_moment = second_.get();
    launch.gradient = gradient_.get();
    launch.reports = reports_.get();
    launch.outcomes = outcomes_.get();
    launch.workspace = workspace_.get();
    return launch;
  }

  void copy_to(TrainingRequest<T>& request) const {
    parameters_.copy_to(request.parameters);
    first_.copy_to(request.first_moment);
    second_.copy_to(request.second_moment);
    gradient_.copy_to(request.gradient);
    reports_.copy_to(request.reports);
    outcomes_.copy_to(request.outcomes);
  }

 private:
  TrainingPlan plan_;
  std::int64_t n_;
  std::int64_t all_;
  DeviceArray<StepNumbers> numbers_;
  DeviceArray<T> inputs_;
  DeviceArray<T> targets_;
  DeviceArray<std::uint64_t> seeds_;
  DeviceArray<std::int32_t> row_order_;
  DeviceArray<T> parameters_;
  DeviceArray<T> first_;
  DeviceArray<T> second_;
  DeviceArray<T> gradient_;
  DeviceArray<EpochLoss> reports_;
  DeviceArray<TrainingOutcome> outcomes_;
  DeviceArray<unsigned char> workspace_;
};

template <typename T>
using TrainingKernel = void(const Launch<T>*, const BlockWork*, std::int64_t*);

template <typename T>
TrainingKernel<T>* training_kernel(bool fast) {
  if constexpr (sizeof(T) == sizeof(float)) {  // double is for comparisons
    if (fast) return train_networks<T, true>;
  }
  return train_networks<T, false>;
}

/// Shared memory that the kernel itself takes for a block.
template <typename T>
std::int64_t kernel_shared() {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, training_kernel<T>(true)),
        "cudaFuncGetAttributes");
  return static_cast<std::int64_t>(attributes.sharedSizeBytes);
}

/// Shared memory for a network that has a multiprocessor of its own.
template <typename T>
std::int64_t most_shared() {
  return static_cast<std::int64_t>(device().sharedMemPerBlockOptin) -
         kernel_shared<T>();
}

/// A request under way.
template <typename T>
struct Job {
  Job(TrainingRequest<T>& of, const Stream& stream)
      : request(of),
        arrays(of, stream),
        fast(Placement::make<T>(of.plan, most_shared<T>()).is_fast()),
        steps(of.plan.is_large ? kFirstLaunchStepsOfLarge : kFirstLaunchSteps) {
  }

  /// Whether a launch can train both. A large network has its own.
  bool is_like(const Job& other) const {
    return !request.plan.is_large && !other.request.plan.is_large &&
           fast == other.fast && request.threads == other.request.threads;
  }

  TrainingRequest<T>& request;
  DeviceRequest<T> arrays;
  bool fast;           ///< of the kernel
  std::int64_t steps;  ///< of the next launch
  bool done = false;
  std::exception_ptr failure;
};

/// Trains all requests that there are by one launch after the other. A launch
/// gives each as many steps as take the same time, so that no multiprocessor
/// waits for another; what arrives meanwhile joins the next one. (A launch of
/// its own for each request would leave most of the device idle: few networks
/// each, and few launches run at a time.) The threads of the host take turns in
/// driving it.
template <typename T>
class DeviceTrainer {
 public:
  static DeviceTrainer& instance() {
    // Never destroyed: the driver may be gone at the end of the program.
    static auto* const trainer = new DeviceTrainer;
    return *trainer;
  }

  /// Returns when the request is done, or stopped.
  void train(TrainingRequest<T>& request) {
    check_threads(request.threads);
    device();
    const Stream stream;
    request.done = request.begin;
    request.device_seconds = 0;
    Job<T> job(request, stream);
    stream.wait();
    wait_for(job);
    if (job.failure) std::rethrow_exception(job.failure);
    job.arrays.copy_to(request);
    stream.wait();
  }

 private:
  using Jobs = std::vector<Job<T>*>;

  static void check_threads(int threads) {
    if (threads % 32 == 0 && threads <= kMostThreads) return;
    throw Failure(
        CudaStatus::Failed,
        "the threads of a network must be a multiple of 32, at most " +
            std::to_string(kMostThreads));
  }

  void wait_for(Job<T>& job) {
    std::unique_lock<std::mutex> lock(mutex_);
    job.done = job.request.done >= job.request.end;
    if (!job.done) jobs_.push_back(&job);
    while (!job.done) {
      if (driven_) {
        changed_.wait(lock);
        continue;
      }
      driven_ = true;
      const Jobs jobs = take_jobs();
      lock.unlock();
      advance(jobs);
      lock.lock();
      // The others come first in the next launch.
      for (Job<T>* one : jobs) {
        if (!one->done) jobs_.push_back(one);
      }
      driven_ = false;
      changed_.notify_all();
    }
  }

  /// Those that the next launch trains: they ask for the same number of
  /// threads, and the device runs all of their networks at once.
  Jobs take_jobs() {
    Jobs jobs, rest;
    std::int64_t networks = 0;
    const std::int64_t most = kMostNetworks * device().multiProcessorCount;
    for (Job<T>* job : jobs_) {
      const TrainingRequest<T>& request = job->request;
      const bool joins = jobs.empty() || (job->is_like(*jobs.front()) &&
                                          networks + request.networks <= most);
      (joins ? jobs : rest).push_back(job);
      if (joins) networks += request.networks;
    }
    jobs_ = std::move(rest);
    return jobs;
  }

  /// A launch; an error is that of all its jobs.
  void advance(const Jobs& jobs) const {
    try {
      if (jobs.front()->request.plan.is_large) {
        launch_large(*jobs.front());
      } else {
        launch(jobs);
      }
    } catch (...) {
      for (Job<T>* job : jobs) {
        job->failure = std::current_exception();
        job->done = true;
      }
    }
  }

  /// As many networks on a multiprocessor as there are for it, if their scratch
  /// then still fits into its fast memory.
  static std::int64_t shared_memory(const Jobs& jobs, std::int64_t networks) {
    const cudaDeviceProp& properties = device();
    const std::int64_t own = kernel_shared<T>();
    const std::int64_t processors = properties.multiProcessorCount;
    const auto in_all =
        static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
    for (std::int64_t blocks =
             std::min((networks + processors - 1) / processors, kMostNetworks);
         blocks > 1; --blocks) {
      const std::int64_t share = in_all / blocks - kReservedShared - own;
      const bool fits =
          std::all_of(jobs.begin(), jobs.end(), [&](const Job<T>* job) {
            const auto placement = Placement::make<T>(job->request.plan, share);
            return placement.is_fast() || !job->fast;
          });
      if (fits) return share;
    }
    return most_shared<T>();
  }

  /// What the next launch does for a job, with so much shared memory.
  static Launch<T> next_launch(const Job<T>& job, std::int64_t shared) {
    const TrainingRequest<T>& request = job.request;
    Launch<T> launch =
        job.arrays.launch(Placement::make<T>(request.plan, shared));
    launch.begin = request.done;
    launch.end = std::min(request.end, request.done + job.steps);
    // What is in no block's memory is still there.
    launch.order_is_kept =
        request.plan.is_large && request.done > request.begin;
    return launch;
  }

  /// All multiprocessors train the networks of one request, one or more each.
  void launch_large(Job<T>& job) const {
    const Stream stream;
    const Launch<T> launch = next_launch(job, 0);
    const int processors = device().multiProcessorCount;
    int networks = static_cast<int>(job.request.networks);
    int teams = std::min(networks, processors);
    const DeviceArray<Launch<T>> launch_there(stream, 1, &launch);
    const std::vector<GridTeamState> states(static_cast<std::size_t>(teams));
    const DeviceArray<GridTeamState> states_there(stream, teams, states.data());
    const Launch<T>* launch_pointer = launch_there.get();
    GridTeamState* states_pointer = states_there.get();
    void* arguments[] = {&launch_pointer, &states_pointer, &teams, &networks};
    check(cudaFuncSetAttribute(train_large_networks<T>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kStagedBytes<T>),
          "cudaFuncSetAttribute");
    Event start, stop;
    start.record(stream);
    check(cudaLaunchCooperativeKernel(
              train_large_networks<T>,
              dim3(static_cast<unsigned>(processors / teams * teams)),
              dim3(kGridThreads), arguments, kStagedBytes<T>, stream.get()),
          "train_large_networks");
    stop.record(stream);
    stream.wait();
    note(job, launch, stop.seconds_since(start), 1);
  }

  void launch(const Jobs& jobs) const {
    std::vector<BlockWork> blocks;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (std::int64_t n = 0; n < jobs[i]->request.networks; ++n) {
        blocks.push_back(
            {static_cast<std::int32_t>(i), static_cast<std::int32_t>(n)});
      }
    }
    const auto networks = static_cast<std::int64_t>(blocks.size());
    const std::int64_t share = shared_memory(jobs, networks);
    std::vector<Launch<T>> launches;
    std::int64_t shared = 0;
    for (const Job<T>* job : jobs) {
      launches.push_back(next_launch(*job, share));
      shared = std::max(shared, launches.back().placement.shared_bytes);
    }
    const int given = jobs.front()->request.threads;
    const int threads = given > 0 ? given
                        : networks > device().multiProcessorCount
                            ? kThreadsOfMany
                            : kThreadsAlone;
    std::vector<std::int64_t> cycles(blocks.size());
    const double seconds = run(training_kernel<T>(jobs.front()->fast), launches,
                               blocks, threads, shared, cycles);
    note(jobs, launches, blocks, cycles, seconds);
  }

  /// Returns the seconds that the launch took.
  static double run(TrainingKernel<T>* kernel,
                    const std::vector<Launch<T>>& launches,
                    const std::vector<BlockWork>& blocks, int threads,
                    std::int64_t shared, std::vector<std::int64_t>& cycles) {
    const Stream stream;
    const auto count = static_cast<std::int64_t>(blocks.size());
    const DeviceArray<Launch<T>> launches_there(
        stream, static_cast<std::int64_t>(launches.size()), launches.data());
    const DeviceArray<BlockWork> blocks_there(stream, count, blocks.data());
    const DeviceArray<std::int64_t> cycles_there(stream, count);
    check(cudaFuncSetAttribute(kernel,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)),
          "cudaFuncSetAttribute");
    Event start, stop;
    start.record(stream);
    kernel<<<static_cast<unsigned>(count), static_cast<unsigned>(threads),
             static_cast<std::size_t>(shared), stream.get()>>>(
        launches_there.get(), blocks_there.get(), cycles_there.get());
    check(cudaGetLastError(), "train_networks");
    stop.record(stream);
    cycles_there.copy_to(cycles.data());
    stream.wait();
    return stop.seconds_since(start);
  }

  /// How far the jobs have come, and how far the next launch should take each.
  static void note(const Jobs& jobs, const std::vector<Launch<T>>& launches,
                   const std::vector<BlockWork>& blocks,
                   const std::vector<std::int64_t>& cycles, double seconds) {
    std::vector<std::int64_t> longest(jobs.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::int64_t& of_job =
          longest[static_cast<std::size_t>(blocks[i].launch)];
      of_job = std::max(of_job, cycles[i]);
    }
    const auto all = static_cast<double>(std::max<std::int64_t>(
        1, *std::max_element(longest.begin(), longest.end())));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      note(*jobs[i], launches[i], seconds,
           static_cast<double>(longest[i]) / all);
    }
  }

  /// The same of one job that had a part of the launch's time.
  static void note(Job<T>& job, const Launch<T>& launch, double seconds,
                   double part) {
    TrainingRequest<T>& request = job.request;
    const auto steps = static_cast<double>(launch.end - launch.begin);
    const double own = std::max(1e-9, seconds * part);
    job.steps = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(kLaunchSeconds / own * steps));
    request.device_seconds += seconds;
    request.done = launch.end;
    const bool stopped = request.proceed != nullptr &&
                         !request.proceed(request.context, request.done);
    job.done = stopped || request.done >= request.end;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Jobs jobs_;
  bool driven_ = false;  // a thread is in advance()
};

}  // namespace radir::kernels
