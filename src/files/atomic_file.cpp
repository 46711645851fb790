#include "radir/files/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"

namespace radir::files {
namespace {

// The file a symbolic link leads to, whether that exists yet or not; any other
// path as it is.
std::string follow_link(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(path, error);
  if (error) throw_file_error("write", path, error.value());
  return target.string();
}

// Renaming over a device or a folder would destroy or fail, so only regular
// files are replaced.
void check_replaceable(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) throw_file_error("write", path, EISDIR);
  RADIR_CHECK(S_ISREG(status.st_mode), IoError, "cannot write ", path,
              ": it is a device or pipe, not a file; give the path of a file");
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(follow_link(path)), temporary_(path_ + ".tmp") {
  check_replaceable(path_);
  descriptor_ = open_locked(temporary_, path_);
  RADIR_CHECK(descriptor_ >= 0, IoError, "cannot write ", path_,
              ": another process is writing it (it holds ", temporary_,
              "); wait for it or choose another path");
  // A new file has the usual mode, another that of the file it replaces.
  struct stat status;
  const bool replaces = ::stat(path_.c_str(), &status) == 0;
  if (::ftruncate(descriptor_, 0) != 0 ||
      (replaces && ::fchmod(descriptor_, status.st_mode & 07777) != 0)) {
    const int error = errno;
    ::close(descriptor_);
    throw_file_error("write", path_, error);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  RADIR_CHECK(descriptor_ >= 0, ArgumentError, "AtomicFile::write: ", path_,
              " is already committed");
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  RADIR_CHECK(descriptor_ >= 0, ArgumentError, "AtomicFile::commit: ", path_,
              " is already committed");
  if (::fsync(descriptor_) != 0) throw_file_error("write", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_file_error("write", path_, errno);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder_of(path_);
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace radir::files
