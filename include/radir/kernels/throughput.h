#pragma once

#include <cstdint>

namespace radir::kernels {

// What a processor is measured with (`radir doctor`), in float, on one thread,
// in the instruction set of all kernels.

/// Multiplies and adds in registers alone, which no program does faster, and
/// returns how many floating-point operations that were.
double run_multiply_adds(std::int64_t rounds);

/// c = a b with the product that dense layers and convolutions are made of; all
/// three are `size` x `size`, row by row. Throws ArgumentError unless `size` is
/// a positive multiple of 16.
void multiply_matrices(std::int64_t size, const float* a, const float* b,
                       float* c);

}  // namespace radir::kernels
