#include "kernels/cuda/module.h"

#include <cuda_runtime.h>

#include <cstdio>

#include "kernels/cuda/block_random.h"
#include "kernels/cuda/block_team.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/device_trainer.h"

namespace radir::kernels {
namespace {

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
  return guarded(message, size,
                 [&] { DeviceTrainer<float>::instance().train(*request); });
}

CudaStatus radir_cuda_train_double(TrainingRequest<double>* request,
                                   char* message, std::size_t size) {
  return guarded(message, size,
                 [&] { DeviceTrainer<double>::instance().train(*request); });
}

}  // extern "C"
