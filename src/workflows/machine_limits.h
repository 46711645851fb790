#pragma once

#include <cstdint>

namespace radir::workflows {

/// Processors that the control groups of this process grant it (their quota,
/// which may be a fraction); 0 when they set no limit.
double granted_processors();

/// Memory of the machine, or of the control group if that is less.
std::int64_t memory_bytes();
/// How much of it this process could still get.
std::int64_t available_memory_bytes();

}  // namespace radir::workflows
