#pragma once

#include <cstdint>

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

/// Throws MemoryError when `bytes` are more than free_memory(); `what` begins
/// the message and `remedy` ends it. To be called before large allocations.
void check_memory(std::int64_t bytes, const char* what, const char* remedy);

}  // namespace radir
