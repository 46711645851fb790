#include "radir/files/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "radir/core/error.h"
#include "radir/files/system_error.h"

namespace radir::files {

bool is_file_at(int descriptor, const std::string& path) {
  struct stat open_file;
  struct stat named_file;
  return ::fstat(descriptor, &open_file) == 0 &&
         ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev &&
         open_file.st_ino == named_file.st_ino;
}

bool is_own_file(int descriptor) {
  struct stat status;
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_nlink <= 1;
}

// Between the opening and the lock another holder may have renamed or removed
// the file; then what we hold is no longer the one at `path`, so we try again.
int open_locked(const std::string& path, const std::string& shown, Lock lock) {
  for (;;) {
    const int descriptor = repeat_interrupted([&] {
      return ::open(path.c_str(),
                    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                    0666);
    });
    if (descriptor < 0) throw_file_error("write", shown, errno);
    if (!is_own_file(descriptor)) {
      ::close(descriptor);
      detail::throw_error<IoError>("cannot write ", shown, ": ", path,
                                   " is a device, a pipe or a second name of "
                                   "another file; remove it");
    }
    bool locked = false;
    try {
      locked = change_lock(descriptor, lock, path);
    } catch (const IoError&) {
      ::close(descriptor);
      throw;
    }
    if (locked && is_file_at(descriptor, path)) return descriptor;
    ::close(descriptor);
    if (!locked) return -1;
  }
}

bool change_lock(int descriptor, Lock lock, const std::string& shown) {
  const int kind = lock == Lock::Alone ? LOCK_EX : LOCK_SH;
  const int status =
      repeat_interrupted([&] { return ::flock(descriptor, kind | LOCK_NB); });
  if (status == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  throw_file_error("lock", shown, errno);
}

// Not by std::filesystem, whose iterator ends the program when memory runs out.
std::optional<std::vector<std::string>> names_in_folder(
    const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()),
                                                   ::closedir);
  if (!folder) return std::nullopt;
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return errno == 0 ? std::optional(names) : std::nullopt;
}

void sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const int descriptor = repeat_interrupted([&] {
    return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  if (descriptor < 0) throw_file_error("open the folder", folder, errno);
  const int status = repeat_interrupted([&] { return ::fsync(descriptor); });
  const int error = errno;
  ::close(descriptor);
  // Some network file systems cannot sync a folder and say so.
  if (status != 0 && error != EINVAL && error != ENOTSUP) {
    throw_file_error("sync the folder", folder, error);
  }
}

}  // namespace radir::files
