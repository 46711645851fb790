#pragma once

/// Marks functions that also run on a CUDA device.
#if defined(__CUDACC__)
#define RADIR_HOST_DEVICE __host__ __device__
#else
#define RADIR_HOST_DEVICE
#endif

/// Marks functions of a device that are called, not copied into their callers.
#if defined(__CUDA_ARCH__)
#define RADIR_OUT_OF_LINE __noinline__
/// Stands before a loop of a device whose body is large.
#define RADIR_NOT_UNROLLED _Pragma("unroll 1")
#else
#define RADIR_OUT_OF_LINE
#define RADIR_NOT_UNROLLED
#endif

/// Namespace for inline code that is compiled once per instruction set (see
/// cmake/RadirTargets.cmake). Header functions live in `inline namespace
/// RADIR_ISA`, so that a copy compiled for AVX-512 never stands in for the
/// generic one at link time.
#ifndef RADIR_ISA
#define RADIR_ISA isa_generic
#endif
