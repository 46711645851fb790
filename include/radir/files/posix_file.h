#pragma once

#include <string>

namespace radir::files {

/// Opens a file for writing, made if it is not there, and takes its lock;
/// returns its descriptor, or -1 when another process holds the lock. Throws
/// IoError that names `shown` when it cannot be opened. The holder may rename
/// or remove the file before it closes the descriptor.
int open_locked(const std::string& path, const std::string& shown);

/// Makes what was created, renamed or removed beside `path` survive a power
/// cut. Throws IoError when the folder cannot be synced.
void sync_folder_of(const std::string& path);

}  // namespace radir::files
