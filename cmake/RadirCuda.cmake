# Finds nvcc and makes RADIR_HAS_CUDA. RADIR_WITH_CUDA: AUTO takes it where it is,
# ON requires it, OFF leaves the GPU module out.

set(RADIR_WITH_CUDA AUTO CACHE STRING "Build the GPU module radir_cuda.so: AUTO, ON or OFF")
set_property(CACHE RADIR_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)

set(RADIR_HAS_CUDA OFF)
if(RADIR_WITH_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc CACHE FILEPATH "nvcc")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # each target has its own
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(RADIR_HAS_CUDA ON)
    message(STATUS "GPU module: radir_cuda.so, by ${CMAKE_CUDA_COMPILER}")
  elseif(RADIR_WITH_CUDA STREQUAL "AUTO")
    message(STATUS "GPU module: none, nvcc was not found (RADIR_WITH_CUDA=AUTO)")
  else()
    message(FATAL_ERROR "RADIR_WITH_CUDA=ON needs nvcc: install the CUDA toolkit, "
                        "put nvcc on the PATH or set CMAKE_CUDA_COMPILER")
  endif()
else()
  message(STATUS "GPU module: none (RADIR_WITH_CUDA=OFF)")
endif()
