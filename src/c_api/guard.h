#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "radir/c_api.h"

// What every function of the interface is wrapped in.

namespace radir::c_api {

/// The status of the exception that is being handled; its message is kept for
/// radir_last_error.
radir_status status_of_exception() noexcept;

/// Runs `action`; what it throws becomes a status.
template <typename Action>
radir_status guarded(const Action& action) noexcept {
  try {
    action();
    return RADIR_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// Throws ArgumentError, which names the parameter, for a null pointer.
void check_pointer(const void* pointer, const char* name);

/// A text that must be there and be UTF-8.
std::string required_text(const char* text, const char* name);

/// Copies bytes into the caller's buffer where they fit; `zero` of them follow.
void copy_out(std::string_view bytes, int zeros, char* buffer,
              std::int64_t capacity, std::int64_t* length);

/// A text for the caller, with its final zero.
inline void copy_text(std::string_view text, char* buffer,
                      std::int64_t capacity, std::int64_t* length) {
  copy_out(text, 1, buffer, capacity, length);
}

}  // namespace radir::c_api
