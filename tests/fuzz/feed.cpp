#include <stdexcept>

#include "fuzz/targets.h"
#include "radir/core/error.h"

namespace radir::fuzz {

void feed(Target target, std::string_view bytes) {
  try {
    target(bytes);
  } catch (const IoError&) {
  } catch (const UnsupportedError&) {
  }
}

void require(bool holds, const char* property) {
  if (!holds) throw std::logic_error(property);
}

}  // namespace radir::fuzz
