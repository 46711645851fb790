#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernels/cuda/block_team.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/module.h"
#include "kernels/cuda/network_training.h"
#include "radir/kernels/training_plan.h"

namespace radir::kernels {
namespace {

constexpr int kMostThreads = 512;
/// Threads of a network alone, and of one among many.
constexpr int kThreadsAlone = 256;
constexpr int kThreadsOfMany = 128;
/// Time that a launch should take: a stop is noticed between two.
constexpr double kLaunchSeconds = 0.3;
constexpr std::int64_t kFirstLaunchSteps = 1000;
/// Shared memory that the system takes for each block of a multiprocessor, and
/// the kernel for its sums.
constexpr std::int64_t kReservedShared = 1024;
constexpr std::int64_t kStaticShared = 32 * sizeof(double);

/// An error with its status.
struct Failure : std::runtime_error {
  Failure(CudaStatus what_status, const std::string& text)
      : std::runtime_error(text), status(what_status) {}
  CudaStatus status;
};

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  const std::string text =
      std::string(what) + ": " + cudaGetErrorString(result);
  cudaGetLastError();
  switch (result) {
    case cudaErrorMemoryAllocation:
      throw Failure(CudaStatus::Memory,
                    "the CUDA device has too little free memory (" + text +
                        "); train fewer networks at once, or use --device cpu");
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorStubLibrary:
      throw Failure(CudaStatus::Unusable,
                    "no usable CUDA device (" + text +
                        "); check with nvidia-smi, or use --device cpu");
    default:
      throw Failure(CudaStatus::Failed,
                    "the CUDA device failed (" + text + ")");
  }
}

/// Runs `work`; an error becomes a status and a message.
template <typename Work>
CudaStatus guarded(char* message, std::size_t size, const Work& work) {
  try {
    work();
    return CudaStatus::Good;
  } catch (const Failure& failure) {
    std::snprintf(message, size, "%s", failure.what());
    return failure.status;
  } catch (const std::exception& error) {
    std::snprintf(message, size, "%s", error.what());
    return CudaStatus::Failed;
  }
}

/// The properties of device 0, which is the one that is used.
const cudaDeviceProp& device() {
  static std::once_flag once;
  static cudaDeviceProp properties;
  std::call_once(once, [] {
    // Requests of many threads run side by side, each in its stream.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    // Threads that wait leave their processors to those that predict.
    check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync),
          "cudaSetDeviceFlags");
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    cudaMemPool_t pool;
    check(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool");
    std::uint64_t keep = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
          "cudaMemPoolSetAttribute");
  });
  check(cudaSetDevice(0), "cudaSetDevice");  // of this thread
  return properties;
}

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
          "cudaStreamCreate");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "training"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Stream& stream) {
    check(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
  }
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_),
          "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// An array of the device.
template <typename V>
class DeviceArray {
 public:
  DeviceArray(const Stream& stream, std::int64_t count)
      : stream_(stream), bytes_(sizeof(V) * static_cast<std::size_t>(count)) {
    if (bytes_ == 0) return;
    check(cudaMallocAsync(&data_, bytes_, stream.get()), "cudaMallocAsync");
  }
  /// A copy of an array of the host.
  DeviceArray(const Stream& stream, std::int64_t count, const V* from)
      : DeviceArray(stream, count) {
    if (bytes_ == 0) return;
    check(cudaMemcpyAsync(data_, from, bytes_, cudaMemcpyHostToDevice,
                          stream.get()),
          "cudaMemcpyAsync");
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_.get());
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  V* get() const { return static_cast<V*>(data_); }
  void copy_to(V* host) const {
    if (bytes_ == 0) return;
    check(cudaMemcpyAsync(host, data_, bytes_, cudaMemcpyDeviceToHost,
                          stream_.get()),
          "cudaMemcpyAsync");
  }

 private:
  const Stream& stream_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

template <typename V>
__device__ void copy(const BlockTeam& team, int count, const V* from, V* to) {
  if (from == to) return;
  team.for_each(count, [&](int i) { to[i] = from[i]; });
}

/// One block trains one network.
template <typename T>
__global__ void __launch_bounds__(kMostThreads, 1)
    train_networks(const __grid_constant__ Launch<T> launch) {
  extern __shared__ __align__(16) unsigned char shared[];
  const BlockTeam team;
  const TrainingPlan& plan = launch.plan;
  const Placement& placement = launch.placement;
  const std::int64_t n = blockIdx.x;
  unsigned char* const workspace =
      launch.workspace + n * placement.workspace_bytes;
  const auto section = [&](Section which) -> void* {
    const int i = static_cast<int>(which);
    return (placement.shared[i] ? shared : workspace) + placement.offset[i];
  };
  // State that has no place in fast memory is changed where it is stored.
  const auto state = [&](Section which, T* stored) {
    return placement.shared[static_cast<int>(which)]
               ? static_cast<T*>(section(which))
               : stored;
  };
  const std::int64_t at = n * plan.parameters;
  NetworkView<T> network;
  network.numbers = launch.numbers;
  network.inputs = launch.inputs;
  network.targets = launch.targets;
  network.row_order = launch.row_order + n * plan.rows;
  network.seed = launch.seeds[n];
  network.memory.parameters =
      state(Section::Parameters, launch.parameters + at);
  network.memory.gradient = static_cast<T*>(section(Section::Gradient));
  network.memory.scratch = static_cast<T*>(section(Section::Scratch));
  network.memory.doubles = static_cast<double*>(section(Section::Doubles));
  network.first_moment = state(Section::FirstMoment, launch.first_moment + at);
  network.second_moment =
      state(Section::SecondMoment, launch.second_moment + at);
  network.order = {{section(Section::Current), placement.wide},
                   {section(Section::Next), placement.wide},
                   static_cast<std::int32_t*>(section(Section::Picks)),
                   plan.rows,
                   plan.batch,
                   network.seed,
                   plan.shuffle_stream};
  network.reports = launch.reports + n * plan.reports();
  network.outcome = launch.outcomes + n;

  const int count = plan.parameters;
  copy(team, count, launch.parameters + at, network.memory.parameters);
  copy(team, count, launch.first_moment + at, network.first_moment);
  copy(team, count, launch.second_moment + at, network.second_moment);
  team.sync();
  NetworkTraining<T, BlockTeam>(team, plan, network)
      .run(launch.begin, launch.end);
  team.sync();
  copy(team, count, network.memory.parameters, launch.parameters + at);
  copy(team, count, network.first_moment, launch.first_moment + at);
  copy(team, count, network.second_moment, launch.second_moment + at);
  if (launch.gradient != nullptr) {
    copy(team, count, network.memory.gradient, launch.gradient + at);
  }
}

__global__ void write_random(RandomStream stream, int count, float* normals,
                             float* exponentials) {
  BlockTeam().for_each(exact::block_count<float>(count), [&](int block) {
    exact::write_normals(stream, block, count, normals);
    exact::write_exponentials(stream, block, count, exponentials);
  });
}

void random_numbers(const RandomStream& random, int count, float* normals,
                    float* exponentials) {
  device();
  const Stream stream;
  const DeviceArray<float> first(stream, count), second(stream, count);
  write_random<<<1, kThreadsAlone, 0, stream.get()>>>(
      random, count, first.get(), second.get());
  check(cudaGetLastError(), "write_random");
  first.copy_to(normals);
  second.copy_to(exponentials);
  stream.wait();
}

/// Threads and shared memory of a block.
struct BlockShape {
  int threads;
  std::int64_t limit;        // of shared memory, of the device
  std::int64_t most_shared;  // that a network takes
};

/// As many networks on a multiprocessor as there are for it, if their scratch
/// then still fits into its fast memory.
template <typename T>
BlockShape block_shape(const TrainingRequest<T>& request) {
  const cudaDeviceProp& properties = device();
  const std::int64_t processors = properties.multiProcessorCount;
  BlockShape shape;
  const bool many = request.networks > processors;
  shape.threads = request.threads > 0 ? request.threads
                  : many              ? kThreadsOfMany
                                      : kThreadsAlone;
  if (shape.threads % 32 != 0 || shape.threads > kMostThreads) {
    throw Failure(
        CudaStatus::Failed,
        "the threads of a network must be a multiple of 32, at most " +
            std::to_string(kMostThreads));
  }
  const auto per_block =
      static_cast<std::int64_t>(properties.sharedMemPerBlockOptin) -
      kStaticShared;
  const auto in_all =
      static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  shape.limit = per_block;
  shape.most_shared = per_block;
  const std::int64_t wanted = std::min<std::int64_t>(
      (request.networks + processors - 1) / processors, 4);
  for (std::int64_t blocks = wanted; blocks > 1; --blocks) {
    const std::int64_t share =
        in_all / blocks - kReservedShared - kStaticShared;
    const Placement placement = Placement::make<T>(request.plan, share);
    if (placement.shared[static_cast<int>(Section::Gradient)]) {
      shape.most_shared = share;
      break;
    }
  }
  return shape;
}

/// The arrays of a request on the device.
template <typename T>
class DeviceRequest {
 public:
  DeviceRequest(const TrainingRequest<T>& request, const Stream& stream,
                std::int64_t most_shared)
      : plan_(request.plan),
        placement_(Placement::make<T>(plan_, most_shared)),
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
        workspace_(stream, n_ * placement_.workspace_bytes) {}

  Launch<T> launch() const {
    Launch<T> launch = {};
    launch.plan = plan_;
    launch.placement = placement_;
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
  Placement placement_;
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

/// Steps for the next launch, from the time of the last one.
std::int64_t next_steps(double seconds, std::int64_t steps) {
  const double step_seconds = seconds / static_cast<double>(steps);
  const double next = kLaunchSeconds / std::max(1e-9, step_seconds);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(next));
}

template <typename T>
void train(TrainingRequest<T>& request) {
  const BlockShape shape = block_shape(request);
  const Stream stream;
  const DeviceRequest<T> arrays(request, stream, shape.most_shared);
  Launch<T> launch = arrays.launch();
  check(cudaFuncSetAttribute(train_networks<T>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shape.limit)),
        "cudaFuncSetAttribute");
  Event start, stop;
  request.done = request.begin;
  request.device_seconds = 0;
  std::int64_t steps = kFirstLaunchSteps;
  while (request.done < request.end) {
    launch.begin = request.done;
    launch.end = std::min(request.end, request.done + steps);
    start.record(stream);
    train_networks<T><<<static_cast<unsigned>(request.networks),
                        static_cast<unsigned>(shape.threads),
                        static_cast<std::size_t>(launch.placement.shared_bytes),
                        stream.get()>>>(launch);
    check(cudaGetLastError(), "train_networks");
    stop.record(stream);
    stream.wait();
    const double seconds = stop.seconds_since(start);
    request.device_seconds += seconds;
    steps = next_steps(seconds, launch.end - launch.begin);
    request.done = launch.end;
    if (request.proceed != nullptr &&
        !request.proceed(request.context, request.done)) {
      break;
    }
  }
  arrays.copy_to(request);
  stream.wait();
}

}  // namespace
}  // namespace radir::kernels

using namespace radir::kernels;

extern "C" {

std::int64_t radir_cuda_interface() { return kCudaInterface; }

CudaStatus radir_cuda_device(CudaDeviceInfo* info, char* message,
                             std::size_t size) {
  return guarded(message, size, [&] {
    const cudaDeviceProp& properties = device();
    std::snprintf(info->name, sizeof info->name, "%.255s", properties.name);
    info->memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    info->multiprocessors = properties.multiProcessorCount;
  });
}

CudaStatus radir_cuda_random(const RandomStream* stream, std::int32_t count,
                             float* normals, float* exponentials, char* message,
                             std::size_t size) {
  return guarded(message, size, [&] {
    random_numbers(*stream, count, normals, exponentials);
  });
}

CudaStatus radir_cuda_train_float(TrainingRequest<float>* request,
                                  char* message, std::size_t size) {
  return guarded(message, size, [&] { train(*request); });
}

CudaStatus radir_cuda_train_double(TrainingRequest<double>* request,
                                   char* message, std::size_t size) {
  return guarded(message, size, [&] { train(*request); });
}

}  // extern "C"
