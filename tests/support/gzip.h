#pragma once

#include <string>
#include <string_view>

namespace radir::testing {

/// The bytes as one gzip member.
std::string gzip(std::string_view bytes);

}  // namespace radir::testing
