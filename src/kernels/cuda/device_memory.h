#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>

#include "kernels/cuda/module.h"

// The CUDA device, its errors and its memory.

namespace radir::kernels {

/// An error with its status.
struct Failure : std::runtime_error {
  Failure(CudaStatus what_status, const std::string& text)
      : std::runtime_error(text), status(what_status) {}
  CudaStatus status;
};

inline void check(cudaError_t result, const char* what) {
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
inline const cudaDeviceProp& device() {
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

}  // namespace radir::kernels
