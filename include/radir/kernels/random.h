#pragma once

#include <cstdint>

#include "radir/kernels/philox.h"

// Arrays of random numbers. Element i of a fill depends on (seed, stream, step,
// i) alone: filling [offset, offset + count) gives that slice of the complete
// sequence, so work may be cut at any place and among any number of threads.
// T is float or double; sequences of float and double are not related.
//
// Uniform, normal and exponential numbers are the same bits on every
// instruction set. Gamma and chi-square are computed in double with the C
// library's functions, and are the same wherever those are.
//
// All throw ArgumentError when offset or count is negative, offset + count
// exceeds 2^32, the step is not below 2^48, or `out` is null with count > 0.

namespace radir::kernels {

/// Uniform on (0, 1), never 0 or 1.
template <typename T>
void fill_uniform(const RandomStream& stream, std::int64_t offset,
                  std::int64_t count, T* out);

/// Standard normal, by Box-Muller.
template <typename T>
void fill_normal(const RandomStream& stream, std::int64_t offset,
                 std::int64_t count, T* out);

/// Exponential of rate 1.
template <typename T>
void fill_exponential(const RandomStream& stream, std::int64_t offset,
                      std::int64_t count, T* out);

/// Gamma of the given shape > 0 and scale 1. Values below the smallest normal
/// number of T, which small shapes do give, are raised to it, so that their
/// logarithm is finite. Throws DomainError unless 0 < shape < infinity.
template <typename T>
void fill_gamma(const RandomStream& stream, std::int64_t offset, double shape,
                std::int64_t count, T* out);

/// Chi-square with the given degrees of freedom > 0, integer or not: twice a
/// Gamma of half that shape. Throws DomainError unless 0 < degrees < infinity.
template <typename T>
void fill_chi_square(const RandomStream& stream, std::int64_t offset,
                     double degrees, std::int64_t count, T* out);

}  // namespace radir::kernels
