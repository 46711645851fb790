#pragma once

#include <cstddef>

namespace radir::testing {

/// Size in bytes of the largest block that `new` was asked for since the last
/// call. Tests use it to show that a false length in a file costs no memory.
std::size_t take_largest_allocation();

}  // namespace radir::testing
