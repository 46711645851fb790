#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

namespace radir::files {

/// The result of a system call that is made again while a signal interrupts it.
template <typename Call>
auto repeat_interrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

/// Whether this open file is the one at `path`.
bool is_file_at(int descriptor, const std::string& path);

/// A regular file with no other name: what is written there changes nothing
/// else.
bool is_own_file(int descriptor);

/// Several processes can share a lock, but not while another has it alone.
enum class Lock { Alone, Shared };

/// Opens a file for writing, made if it is not there, and takes its lock;
/// returns its descriptor, or -1 when another process holds the lock. Throws
/// IoError that names `shown` when it cannot be opened. The holder may rename
/// or remove the file before it closes the descriptor.
int open_locked(const std::string& path, const std::string& shown,
                Lock lock = Lock::Alone);

/// Changes the lock of an open file; false when another process prevents it,
/// and then there may be none. Throws IoError that names `shown`.
bool change_lock(int descriptor, Lock lock, const std::string& shown);

/// The names in a folder; none, and errno, where it cannot be read.
std::optional<std::vector<std::string>> names_in_folder(
    const std::string& path);

/// Makes what was created, renamed or removed beside `path` survive a power
/// cut. Throws IoError when the folder cannot be synced.
void sync_folder_of(const std::string& path);

}  // namespace radir::files
