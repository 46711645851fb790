#include "c_api/handles.h"

#include <atomic>

namespace radir::c_api {

std::uintptr_t next_handle() {
  static std::atomic<std::uintptr_t> last{0};
  // Multiples of 16 look like pointers to whoever prints them.
  return last += 16;
}

}  // namespace radir::c_api
