#pragma once

#include <string>

#include "radir/core/thread_pool.h"

namespace radir {

/// Where numbers are kept and computed with.
enum class Device { Cpu, Cuda };

const char* to_string(Device device);

/// "cpu", "cuda", or "auto": the CPU, which trains a single small network
/// faster than a GPU does. Whether there is a CUDA device is found out where it
/// is used. Throws ArgumentError for any other name.
Device parse_device(const std::string& name);

/// What a computation runs on. A pool of threads alone means the CPU.
struct Execution {
  // Implicit, so that callers who have no choice of device just pass a pool.
  Execution(ThreadPool* threads = nullptr) : pool(threads) {}
  Execution(Device where, ThreadPool* threads) : device(where), pool(threads) {}

  Device device = Device::Cpu;
  ThreadPool* pool = nullptr;  ///< null: all in the calling thread
};

}  // namespace radir
