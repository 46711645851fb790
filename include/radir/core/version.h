#pragma once

namespace radir {

/// The library's version, "major.minor.patch".
const char* version();

}  // namespace radir
