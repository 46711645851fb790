#pragma once

#include <cstdint>
#include <initializer_list>

#include "radir/core/error.h"

namespace radir {

/// More memory is needed than this machine, or a limit, leaves free.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// Bytes that this process can still allocate: what the machine has free, and
/// what the limits of the process (`ulimit -v`) and of its container leave.
std::int64_t free_memory();

/// The product of numbers that are not negative, or the largest integer where
/// the product is larger.
std::int64_t bounded_product(std::initializer_list<std::int64_t> factors);

/// Throws MemoryError when as many bytes as the product of `factors` are more
/// than free_memory(); `what` begins the message and `remedy` ends it. To be
/// called before large allocations.
void check_memory(std::initializer_list<std::int64_t> factors, const char* what,
                  const char* remedy);

}  // namespace radir
