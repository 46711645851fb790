#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

namespace radir {

/// Calls `read` with each file of this name, such as "memory.max", from the
/// control group (version 2) of this process up to the root; every one of them
/// is a limit.
void for_each_group_limit(const std::string& name,
                          const std::function<void(std::istream&)>& read);

/// The least of these limits, which are numbers or "max"; the largest integer
/// when there is none.
std::int64_t least_group_limit(const std::string& name);

}  // namespace radir
