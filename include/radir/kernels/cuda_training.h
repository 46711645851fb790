#pragma once

#include <cstdint>
#include <string>

#include "radir/kernels/philox.h"
#include "radir/kernels/training_plan.h"

namespace radir::kernels {

struct CudaDeviceDescription {
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t multiprocessors = 0;
};

/// The CUDA device that is used, the first one. Throws UnsupportedError, which
/// says what to do, when the module radir_cuda.so, a driver or a device is
/// missing.
CudaDeviceDescription cuda_device();

/// The first normals and exponentials of a stream, made on the device: the bits
/// of fill_normal and fill_exponential. Throws as cuda_device does.
void fill_on_cuda(const RandomStream& stream, std::int32_t count,
                  float* normals, float* exponentials);

/// Trains the networks of a request on the CUDA device; returns when they are
/// done. Small ones train at once, each by a block of threads; large ones
/// (TrainingPlan::is_large) by all multiprocessors, shared among them. May be
/// called from several threads, whose requests run side by side. T is float or
/// double.
///
/// Throws as cuda_device does, MemoryError when the device has too little
/// memory, Error when it fails.
template <typename T>
void train_on_cuda(TrainingRequest<T>& request);

}  // namespace radir::kernels
