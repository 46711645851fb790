#include "radir/kernels/cuda_training.h"

#include "kernels/cuda/module.h"
#include "radir/core/error.h"
#include "radir/core/memory.h"
#include "radir/core/module.h"

namespace radir::kernels {
namespace {

template <typename Function>
Function* function_of_module(const char* name) {
  const Module module = {"radir_cuda.so", "an NVIDIA GPU",
                         "build with RADIR_WITH_CUDA=ON, or use --device cpu"};
  CudaInterface* const interface =
      module_function<CudaInterface>(module, "radir_cuda_interface");
  RADIR_CHECK(interface() == kCudaInterface, UnsupportedError,
              "radir_cuda.so belongs to another version of this program; ",
              "build it anew");
  return module_function<Function>(module, name);
}

/// Calls a function of the module; throws what its status says.
template <typename Function, typename... Arguments>
void call(Function* function, Arguments... arguments) {
  char message[512] = "";
  switch (function(arguments..., message, sizeof message)) {
    case CudaStatus::Good:
      return;
    case CudaStatus::Unusable:
      detail::throw_error<UnsupportedError>("device \"cuda\": ", message);
    case CudaStatus::Memory:
      detail::throw_error<MemoryError>("device \"cuda\": ", message);
    case CudaStatus::Failed:
      detail::throw_error<Error>("device \"cuda\": ", message);
  }
}

template <typename T>
constexpr const char* kTrain = sizeof(T) == sizeof(float)
                                   ? "radir_cuda_train_float"
                                   : "radir_cuda_train_double";

}  // namespace

CudaDeviceDescription cuda_device() {
  CudaDeviceInfo info = {};
  call(function_of_module<CudaDevice>("radir_cuda_device"), &info);
  return {info.name, info.memory_bytes, info.multiprocessors};
}

void fill_on_cuda(const RandomStream& stream, std::int32_t count,
                  float* normals, float* exponentials) {
  call(function_of_module<CudaRandom>("radir_cuda_random"), &stream, count,
       normals, exponentials);
}

template <typename T>
void train_on_cuda(TrainingRequest<T>& request) {
  call(function_of_module<CudaTrain<T>>(kTrain<T>), &request);
}

template void train_on_cuda(TrainingRequest<float>&);
template void train_on_cuda(TrainingRequest<double>&);

}  // namespace radir::kernels
