#pragma once

#include <sstream>

namespace radir {

/// A stream for a text that throws when memory runs out; others cut the text
/// there and say nothing.
inline std::ostringstream text_stream() {
  std::ostringstream stream;
  stream.exceptions(std::ios::badbit);
  return stream;
}

}  // namespace radir
