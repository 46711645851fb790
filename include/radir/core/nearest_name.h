#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radir {

/// The candidate most like `name` (fewest letters inserted, removed, changed or
/// swapped with their neighbour; case does not count), or an empty string when
/// none is near enough to be meant. For "did you mean" in messages.
std::string nearest_name(std::string_view name,
                         const std::vector<std::string>& candidates);

/// `; did you mean "NAME"?` with the nearest candidate, or nothing.
std::string did_you_mean(std::string_view name,
                         const std::vector<std::string>& candidates);

/// `; those known are A, B` and did_you_mean(), to end a message about a name
/// that is none of them.
std::string known_names(std::string_view name,
                        const std::vector<std::string>& names);

}  // namespace radir
