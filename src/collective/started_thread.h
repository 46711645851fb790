#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "radir/core/error.h"

namespace radir::collective {

/// A thread that runs `work`. Throws IoError when the system starts no more.
template <typename Work>
std::thread started_thread(const char* what, Work&& work) {
  try {
    return std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    detail::throw_error<IoError>("cannot start a thread for ", what, ": ",
                                 error.code().message(),
                                 "; raise the limits (ulimit -u and -v)");
  }
}

}  // namespace radir::collective
