#pragma once

#include <cstddef>
#include <cstdint>

#include "radir/kernels/philox.h"
#include "radir/kernels/training_plan.h"

// The functions of the module radir_cuda.so, which the library loads when a GPU
// is asked for. They return a CudaStatus; where it is not Good, `message` (of
// `size` bytes) says what happened.

namespace radir::kernels {

enum class CudaStatus : int {
  Good,
  Unusable,  ///< no driver, no device, or one that is too old
  Memory,    ///< too little of it
  Failed,
};

/// Tells a module of another version from this one.
constexpr std::int64_t kCudaInterface =
    1000 + static_cast<std::int64_t>(sizeof(TrainingRequest<float>));

struct CudaDeviceInfo {
  char name[256];
  std::int64_t memory_bytes;
  std::int32_t multiprocessors;
};

using CudaInterface = std::int64_t();
using CudaDevice = CudaStatus(CudaDeviceInfo* info, char* message,
                              std::size_t size);
/// The first `count` normals and exponentials of a stream.
using CudaRandom = CudaStatus(const RandomStream* stream, std::int32_t count,
                              float* normals, float* exponentials,
                              char* message, std::size_t size);
template <typename T>
using CudaTrain = CudaStatus(TrainingRequest<T>* request, char* message,
                             std::size_t size);

}  // namespace radir::kernels

extern "C" {
radir::kernels::CudaInterface radir_cuda_interface;
radir::kernels::CudaDevice radir_cuda_device;
radir::kernels::CudaRandom radir_cuda_random;
radir::kernels::CudaTrain<float> radir_cuda_train_float;
radir::kernels::CudaTrain<double> radir_cuda_train_double;
}
